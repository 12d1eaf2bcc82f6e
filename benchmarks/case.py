"""What a benchmark case is: a plain NumPy function, its inputs, and what the peers need to run it."""

from __future__ import annotations

import dataclasses
import importlib
import pkgutil
from collections.abc import Callable
from typing import Any

import numpy as np


@dataclasses.dataclass
class Ceiling:
    """Hand-written C++: `run(*inputs, *results)` fills arrays of the result's shapes and dtypes."""

    run: Callable[..., None]
    note: str = ""


@dataclasses.dataclass
class Case:
    """One line of the benchmark table."""

    name: str
    function: Callable[..., Any]
    make_inputs: Callable[[np.random.Generator], tuple]
    small_inputs: Callable[[np.random.Generator], tuple]
    ceilings: dict[str, Ceiling] = dataclasses.field(default_factory=dict)
    numba: Callable[..., Any] | None = None  # the function as a Numba user writes it; None: `function` itself under njit
    jax: Callable[..., Any] | None = None  # None: `function` with numpy replaced by jax.numpy in its globals
    about: str = ""
    large: bool = True  # worth a pass over all threads and a fresh-result variant

    def moved_bytes(self, inputs, results) -> int:
        """Bytes that any implementation must move: inputs once, results once."""
        return sum(a.nbytes for a in (*inputs, *results) if isinstance(a, np.ndarray))


def as_tuple(result):
    return result if isinstance(result, tuple) else (result,)


def all_cases() -> dict[str, Case]:
    """Every `CASES` list of the modules in benchmarks.cases, by name."""
    from benchmarks import cases

    found = {}
    for module in pkgutil.iter_modules(cases.__path__):
        for case in importlib.import_module(f"benchmarks.cases.{module.name}").CASES:
            found[case.name] = case
    return found
