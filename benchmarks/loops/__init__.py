"""The programs of tests/programs as a Numba user writes them: loops over elements, `prange` where they are independent.

Each module has SOURCES, by the program's name. A program without a source goes to Numba as it is.
"""

import importlib
import pkgutil

try:
    from numba import prange
except ImportError:
    prange = range


def sources():
    found = {}
    for module in pkgutil.iter_modules(__path__):
        found.update(importlib.import_module(f"{__name__}.{module.name}").SOURCES)
    return found
