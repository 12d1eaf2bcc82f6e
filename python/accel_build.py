"""The build backend: scikit-build-core's, after a check that says in one line what a build from source lacks here."""

from __future__ import annotations

import os
import platform
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path
from typing import Any

from packaging.specifiers import SpecifierSet
from scikit_build_core import build as backend

Settings = dict[str, Any] | None

# The hooks that need no check. Without those of metadata a builder would build a wheel to read its metadata.
build_sdist = backend.build_sdist
get_requires_for_build_sdist = backend.get_requires_for_build_sdist
prepare_metadata_for_build_wheel = backend.prepare_metadata_for_build_wheel
prepare_metadata_for_build_editable = backend.prepare_metadata_for_build_editable

PROJECT = tomllib.loads(Path("pyproject.toml").read_text())["project"]
COMPILERS = ("c++", "g++", "clang++")  # those that CMake looks for, in its order
# Programs that compile only where something is there, with their options, and what to say where it is not.
NEEDED = (
    ("", "#include <vector>\n", "{compiler} does not work ({error}): sudo apt install --reinstall g++, or set CXX to another"),
    (
        "-std=c++20",
        "#if __cplusplus < 202002L\n#error no C++20\n#endif\n",
        "{compiler} is too old for C++20: sudo apt install g++ (11 or later), or set CXX to a newer compiler",
    ),
    ("", "#include <Python.h>\n", "the C headers of Python {python} are not there: sudo apt install g++ python{python}-dev"),
    ("-fopenmp", "#include <omp.h>\n", "{compiler} has no OpenMP: sudo apt install g++ (for clang++: libomp-dev)"),
)


def get_requires_for_build_wheel(config_settings: Settings = None) -> list[str]:
    """Return what a build needs from PyPI; NumPy is here since an unsupported Python would have to compile it first."""
    refuse_what_cannot_be_built(config_settings)
    return [*backend.get_requires_for_build_wheel(config_settings), *PROJECT["dependencies"]]


def get_requires_for_build_editable(config_settings: Settings = None) -> list[str]:
    """Return what an editable build needs from PyPI."""
    refuse_what_cannot_be_built(config_settings)
    return [*backend.get_requires_for_build_editable(config_settings), *PROJECT["dependencies"]]


def build_wheel(wheel_directory: str, config_settings: Settings = None, metadata_directory: str | None = None) -> str:
    """Build a wheel; ninja counts the files."""
    prepare(config_settings)
    return backend.build_wheel(wheel_directory, config_settings, metadata_directory)


def build_editable(wheel_directory: str, config_settings: Settings = None, metadata_directory: str | None = None) -> str:
    """Build an editable wheel."""
    prepare(config_settings)
    return backend.build_editable(wheel_directory, config_settings, metadata_directory)


def prepare(config_settings: Settings) -> None:
    """Check what the build needs, and let ninja say how far it is."""
    refuse_what_cannot_be_built(config_settings)
    os.environ.setdefault("NINJA_STATUS", "[%f of %t files, %e s] ")


def refuse_what_cannot_be_built(config_settings: Settings) -> None:
    """Exit with one line when this Python is not supported or there is no compiler that can build accel."""
    problem = problem_of_python() or ("" if is_configured(config_settings) else problem_of_compiler())
    if problem:
        sys.exit(f"accel-numpy cannot be built: {problem}")


def problem_of_python() -> str:
    """Return why this Python is not supported, or nothing."""
    version = platform.python_version()
    if not SpecifierSet(PROJECT["requires-python"]).contains(version, prereleases=True):
        return f"it needs CPython {PROJECT['requires-python']}, and this is {version}: use another Python"
    if sys.implementation.name != "cpython":
        return f"it needs CPython, and this is {platform.python_implementation()}: use another Python"
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        return f"it needs the GIL, and this is the free-threaded build of Python {version}: use the other build"
    return ""


def is_configured(config_settings: Settings) -> bool:
    """Return whether the user gave CMake a compiler, about which CMake then speaks."""
    words = [os.environ.get("CMAKE_ARGS", ""), os.environ.get("SKBUILD_CMAKE_DEFINE", ""), repr(config_settings)]
    return "CMAKE_TOOLCHAIN_FILE" in os.environ or any("CMAKE_CXX_COMPILER" in w or "CMAKE_TOOLCHAIN" in w for w in words)


def problem_of_compiler() -> str:
    """Return what a compiler lacks, or nothing."""
    wanted = shlex.split(os.environ.get("CXX", ""))
    found = [path for name in wanted[:1] or COMPILERS if (path := shutil.which(name))]
    if not found:
        absent = f"the compiler of CXX, {wanted[0]}, is not there" if wanted else "no C++ compiler is there"
        return f"{absent}: sudo apt install g++ python3-dev"
    compiler = [found[0], *wanted[1:]]
    all_options, programs, _ = zip(*NEEDED, strict=True)
    if not error_of(compiler, " ".join(all_options), "".join(programs)):
        return ""
    for options, program, problem in NEEDED:
        if error := error_of(compiler, options, program):
            python = "{}.{}".format(*sys.version_info)
            return problem.format(compiler=shlex.join(compiler), error=error.splitlines()[0], python=python)
    return ""


def error_of(compiler: list[str], options: str, program: str) -> str:
    """Return what a compiler says about a program that it does not compile, or nothing."""
    folders = sorted({sysconfig.get_path("include"), sysconfig.get_path("platinclude")})
    command = [*compiler, *options.split(), *(f"-I{folder}" for folder in folders), "-E", "-x", "c++", "-"]
    try:
        done = subprocess.run(command, input=program, capture_output=True, text=True, check=False)
    except OSError as error:
        return str(error)
    return (done.stderr.strip() or f"exit status {done.returncode}") if done.returncode else ""
