"""What importing accel says about the installation."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import accel

PACKAGE = Path(accel.__file__).parent


@pytest.fixture
def installed(tmp_path):
    """A folder with the package in it, as an installation has."""
    (tmp_path / "accel").mkdir()
    for part in PACKAGE.iterdir():
        (tmp_path / "accel" / part.name).symlink_to(part.resolve())
    (tmp_path / "accel_numpy-0.1.0.dist-info").mkdir()
    return tmp_path


def import_from(folder, *arguments):
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    command = [sys.executable, *arguments, "-c", "import accel; print(accel.__file__)"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False, cwd=folder)
    assert done.returncode == 0 and done.stdout.strip() == str(folder / "accel" / "__init__.py"), done.stderr
    return done.stderr


def test_alone(installed):
    (installed / "accelerate-1.0.dist-info").mkdir()
    assert import_from(installed) == ""


@pytest.mark.parametrize("kind", ["dist-info", "egg-info"])
def test_another_distribution_named_accel(installed, kind):
    """Its package is called accel, too: which files of the two are there depends on what was installed last."""
    (installed / f"accel-0.3.0.{kind}").mkdir()
    (warned,) = [line for line in import_from(installed).splitlines() if "Warning" in line]
    assert warned.startswith("<string>:1: AccelWarning: accel-numpy and another distribution, accel-0.3.0, have")
    assert "pip uninstall accel accel-numpy" in warned


def test_looking_for_it_imports_nothing(installed):
    (installed / "accel-0.3.0.dist-info").mkdir()
    found = import_from(installed, "-X", "importtime")
    assert "AccelWarning" in found and "importlib.metadata" not in found
