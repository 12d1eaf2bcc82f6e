"""A test session runs strict (accel's own errors are raised) and with a disk cache of its own, on one of three sets of tests.

The fast set, which runs by default, has each test function and each value of each parameter at least once, with kernels that
the compiler hardly optimises; --thorough has all combinations and the long tests, with kernels as users get them. Between them,
--each-value has each value of each parameter with each function.
"""

import importlib.metadata
import os
import shutil
import tempfile
import zlib

import pytest

_OWNER = "ACCEL_TEST_SESSION"
PLAIN = (int, float, complex, str, bytes, type, type(None))  # types whose values are compared, not identified

# Set before accel is imported. Workers inherit the variables of the process that starts them.
if _OWNER not in os.environ:
    os.environ[_OWNER] = str(os.getpid())
    os.environ["ACCEL_STRICT"] = "1"
    os.environ["ACCEL_CACHE_DIR"] = tempfile.mkdtemp(prefix="accel-test-cache-")


def pytest_addoption(parser):
    parser.addoption("--thorough", action="store_true", help="run all combinations of parameters and the long tests")
    text = "run each value of each parameter with each function, and the long tests"
    parser.addoption("--each-value", action="store_true", help=text)
    parser.addoption("--only-thorough", action="store_true", help="run what the fast set leaves out (of --each-value)")
    optimised = bool(os.environ.get("ACCEL_TEST_OPTIMISED"))
    text = "run the fast set with kernels as users get them (or ACCEL_TEST_OPTIMISED=1)"
    parser.addoption("--optimised", action="store_true", default=optimised, help=text)


def pytest_configure(config):
    config.addinivalue_line("markers", "thorough: a long test, which the fast set leaves out")
    config.addinivalue_line("markers", "needs_nvrtc: a test with the NVRTC that is installed as a package of Python")
    flags = os.environ.get("ACCEL_TEST_KERNEL_FLAGS", "").split()  # "-march=x86-64-v2": kernels for other CPUs
    if not any(map(config.getoption, ("--thorough", "--only-thorough", "--each-value", "--optimised"))):
        flags.insert(0, "-Og")  # a third of the compiler's time
    if flags:
        import accel

        accel.config.extra_flags = " ".join(flags)
    if device := os.environ.get("ACCEL_TEST_DEVICE"):  # the tests of the CPU on a device
        import accel

        accel.set_default_device(device)


def pytest_runtest_setup(item):
    if item.get_closest_marker("needs_nvrtc") and not has_nvrtc():
        pytest.skip("NVRTC is not installed (pip install 'accel-numpy[cuda]')")


def has_nvrtc():
    try:
        return bool(importlib.metadata.version("nvidia-cuda-nvrtc"))
    except importlib.metadata.PackageNotFoundError:
        return False


def pytest_collection_modifyitems(config, items):
    if any("::" in argument for argument in config.args):
        return
    chosen = fast = fast_set(items)
    if config.getoption("--each-value"):
        chosen = each_value_set(items, fast)
    elif config.getoption("--thorough") or config.getoption("--only-thorough"):
        chosen = set(items)
    if config.getoption("--only-thorough"):
        chosen = chosen - fast
    left_out = [item for item in items if item not in chosen]
    items[:] = [item for item in items if item in chosen]
    config.hook.pytest_deselected(items=left_out)


def fast_set(items):
    """Tests that together have each function and each value of each parameter, and none marked as thorough.

    Numbers, texts and types count as the same value in all modules of a folder; other values are those of one module.
    """
    return covering([item for item in items if not is_long(item)], values_of)


def each_value_set(items, fast):
    """The fast set, the long tests, and cases with which each function meets each value of its parameters."""
    first = fast | {item for item in items if is_long(item)}
    return first | covering(items, values_by_function, first)


def covering(items, features, first=()):
    """Of the items those with a feature that none of `first` and no other that is chosen has."""
    covered, chosen = set().union(*map(features, first)), set()
    for item in sorted(items, key=lambda item: zlib.crc32(item.nodeid.encode())):
        if not features(item) <= covered:
            covered |= features(item)
            chosen.add(item)
    return chosen


def is_long(item):
    return item.get_closest_marker("thorough") is not None


def values_of(item):
    """The function and the values of an item's parameters, each with what it has to be tested in once."""
    function = item.nodeid.partition("[")[0]
    module = function.partition("::")[0]
    return {function} | {(scope_of(value, module), name, key_of(value)) for name, value in parameters(item)}


def values_by_function(item):
    function = item.nodeid.partition("[")[0]
    return {function} | {(function, name, key_of(value)) for name, value in parameters(item)}


def parameters(item):
    return item.callspec.params.items() if hasattr(item, "callspec") else ()


def key_of(value):
    """Equal for the same value in several sets of parameters."""
    return (type(value), value) if isinstance(value, PLAIN) else id(value)


def scope_of(value, module):
    """What a value has to be tested in once."""
    return os.path.dirname(module) if isinstance(value, PLAIN) else module


def pytest_sessionfinish(session):
    if os.environ.get(_OWNER) == str(os.getpid()):
        shutil.rmtree(os.environ["ACCEL_CACHE_DIR"], ignore_errors=True)
