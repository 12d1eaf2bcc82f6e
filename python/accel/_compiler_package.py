"""The C++ compiler that a Python package brings, for machines without one."""

from __future__ import annotations

import importlib.util
import os


def find_command() -> list[str]:
    """Return the command of the compiler in the package ziglang: full path and leading arguments; empty when it is not there.

    It is clang with the headers it needs. Called when neither g++ nor clang++ is found: importing accel does not look for it.
    """
    found = importlib.util.find_spec("ziglang")
    for folder in (found and found.submodule_search_locations) or ():
        program = os.path.join(os.path.abspath(folder), "zig")
        if os.path.exists(program):
            return [program, "c++"]
    return []
