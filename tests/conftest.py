"""A test session runs strict (accel's own errors are raised) and with a disk cache of its own."""

import os
import shutil
import tempfile

_OWNER = "ACCEL_TEST_SESSION"

# Set before accel is imported. Workers inherit the variables of the process that starts them.
if _OWNER not in os.environ:
    os.environ[_OWNER] = str(os.getpid())
    os.environ["ACCEL_STRICT"] = "1"
    os.environ["ACCEL_CACHE_DIR"] = tempfile.mkdtemp(prefix="accel-test-cache-")


def pytest_sessionfinish(session):
    if os.environ.get(_OWNER) == str(os.getpid()):
        shutil.rmtree(os.environ["ACCEL_CACHE_DIR"], ignore_errors=True)
