"""What a benchmark case is: a plain NumPy function, its inputs, and what the peers need to run it."""

from __future__ import annotations

import copy
import dataclasses
import functools
import importlib
import pickle
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
    parallel: bool | None = None  # whether Numba compiles for all threads; None: when it is large
    rows: bool = True  # takes any number of rows of its arguments
    caller: Callable[..., Any] | None = None  # a program that is not compiled: it gets `function` and the inputs, and calls it

    def run(self, function):
        """What is timed, by a contestant that made `function` of the case's."""
        return functools.partial(self.caller, function) if self.caller else function

    def moved_bytes(self, inputs, results) -> int:
        """Bytes that any implementation must move: inputs once, results once."""
        return sum(a.nbytes for a in (*inputs, *results) if isinstance(a, np.ndarray))


def as_tuple(result):
    """The leaves of a result: of tuples, lists and dicts."""
    if isinstance(result, dict):
        return as_tuple(tuple(result.values()))
    if isinstance(result, (tuple, list)):
        return tuple(leaf for part in result for leaf in as_tuple(part))
    return () if result is None else (result,)


class Inputs:
    """The arguments of every call of a case. Those that the function changes are copied before each call.

    `function` finds out which these are: it is called once.
    """

    def __init__(self, arguments, function=None):
        self.originals = tuple(arguments)
        self.changed: list[int] = []
        if function is not None:
            tried = copy.deepcopy(self.originals)
            function(*tried)
            self.changed = [i for i, (a, b) in enumerate(zip(self.originals, tried, strict=True)) if not same(a, b)]

    def fresh(self):
        """Arguments for one call."""
        if not self.changed:
            return self.originals
        return tuple(copy.deepcopy(a) if i in self.changed else a for i, a in enumerate(self.originals))

    def effects(self, result, arguments):
        """What a call did: the leaves of its result, and of the arguments it changed."""
        return as_tuple(result) + as_tuple(
            [vars(a) if hasattr(a, "__dict__") else a for a in map(arguments.__getitem__, self.changed)]
        )


def same(a, b):
    if isinstance(a, np.ndarray):
        return a.tobytes() == b.tobytes()
    return callable(a) or pickle.dumps(a) == pickle.dumps(b)


def all_cases() -> dict[str, Case]:
    """Every `CASES` list of the modules in benchmarks.cases, by name."""
    from benchmarks import cases

    found = {}
    for module in pkgutil.iter_modules(cases.__path__):
        for case in importlib.import_module(f"benchmarks.cases.{module.name}").CASES:
            if case.name in found:
                raise ValueError(f"two cases are called {case.name}")
            found[case.name] = case
    return found
