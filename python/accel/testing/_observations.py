"""Observations of one run of a test, and differences between runs."""

from __future__ import annotations

import functools
import hashlib
import os
import random
import re
import sys
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import zip_longest
from types import ModuleType
from typing import Any

import numpy as np

from .._describe import describe

__all__ = ["Observation", "differences", "recorded", "seed", "state_of", "text_of"]

_MANY = 300  # records of one run that are compared
_ADDRESS = re.compile(r"0x[0-9a-fA-F]+")
_LONG = 300  # characters of a record that are shown
_MISSING = "nothing"


@dataclass
class Observation:
    """One run of one test. Observations are texts; the end of a long one is replaced by a digest.

    Attributes
    ----------
    outcomes : dict
        By phase: passed, failed or skipped; for an exception its type, text and lines in the test's file.
    asserted : list
        Arguments of the assert functions.
    warned : list
        Category, text, file and line of each warning.
    printed : list
        Captured output and log.
    state : dict
        State after the run: attributes of the instance and arguments; globals of the module and settings of NumPy and the
        process that the run has changed, with their previous values.
    """

    outcomes: dict[str, str] = field(default_factory=dict)
    asserted: list[str] = field(default_factory=list)
    warned: list[str] = field(default_factory=list)
    printed: list[str] = field(default_factory=list)
    state: dict[str, str] = field(default_factory=dict)

    def note_exception(self, phase: str, error: BaseException, file: str | None) -> None:
        """Note the exception that ended a phase."""
        frames = [(f.name, f.lineno) for f in traceback.extract_tb(error.__traceback__) if f.filename == file]
        self.outcomes[phase + " raised"] = _text((type(error).__name__, without_addresses(str(error)), frames))

    def note_warnings(self, caught: list[warnings.WarningMessage]) -> None:
        """Note the warnings of the run."""
        rows = [(w.category.__name__, without_addresses(str(w.message)), w.filename, w.lineno) for w in caught]
        self.warned = [_text(row) for row in rows[:_MANY]]

    def note_output(self, sections: list[tuple[str, str]]) -> None:
        """Note the captured output and log."""
        self.printed = [_text((name, without_addresses(text))) for name, text in sections]

    def note_changes(self, before: dict[str, str], after: dict[str, str]) -> None:
        """Note the differences between two states of module and process."""
        for name in [*before, *(name for name in after if name not in before)]:
            one, other = before.get(name, _MISSING), after.get(name, _MISSING)
            if one != other:
                self.state[name] = f"{one}, then {other}"


def state_of(module: ModuleType) -> dict[str, str]:
    """Return the globals of a module and the settings of NumPy and the process, as texts."""
    found = {name: _text(describe(get())) for name, get in _PROCESS.items()}
    for name, value in list(vars(module).items()):
        if not name.startswith(("__", "@py")) and not callable(value) and not isinstance(value, ModuleType):
            found["global " + name] = text_of(value)
    return found


_PROCESS: dict[str, Callable[[], object]] = {
    "numpy.geterr()": np.geterr,
    "numpy.get_printoptions()": np.get_printoptions,
    "numpy.random.get_state()": lambda: np.random.get_state(legacy=False),  # noqa: NPY002
    "random.getstate()": lambda: hash(random.getstate()),
    "os.getcwd()": os.getcwd,
    "os.environ": lambda: dict(os.environ),
    "sys.getrecursionlimit()": sys.getrecursionlimit,
    "warnings.filters": lambda: list(warnings.filters),
}


def seed() -> None:
    """Set the global generators to the state at the start of every run."""
    random.seed(20)
    np.random.seed(20)  # noqa: NPY002


def without_addresses(text: str) -> str:
    """Return the text without the addresses of objects."""
    return _ADDRESS.sub("0x...", text)


_current: list[Observation] = []  # the runs in progress, the innermost last


class observing:  # noqa: N801
    """Makes an observation the one that assert functions report to."""

    def __init__(self, observation: Observation) -> None:
        self.observation = observation

    def __enter__(self) -> Observation:
        _current.append(self.observation)
        return self.observation

    def __exit__(self, *exception: object) -> None:
        _current.pop()


def current() -> Observation | None:
    """Return the observation of the innermost run in progress."""
    return _current[-1] if _current else None


def recorded(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that records its arguments and calls `function`."""
    name = function.__name__

    @functools.wraps(function)
    def record(*arguments: Any, **keywords: Any) -> Any:
        __tracebackhide__ = True
        if _current and len(_current[-1].asserted) < _MANY:
            _current[-1].asserted.append(_text((name, *map(describe, arguments), describe(keywords))))
        return function(*arguments, **keywords)

    return record


def differences(plain: Observation, again: Observation, found: Observation) -> list[str]:
    """Return how `found` differs from two plain runs, one line each. Parts in which the plain runs differ are not compared."""
    lines = []
    for part in ("outcomes", "asserted", "warned", "printed", "state"):
        first, second, third = (getattr(run, part) for run in (plain, again, found))
        if isinstance(first, dict):
            keys = list(dict.fromkeys([*first, *second, *third]))
            rows = [(key, *(run.get(key, _MISSING) for run in (first, second, third))) for key in keys]
        elif len(first) != len(second):
            continue
        else:
            rows = [(k, *row) for k, row in enumerate(zip_longest(first, second, third, fillvalue=_MISSING))]
        changed = [(key, one, other) for key, one, two, other in rows if one == two and one != other]
        lines += [f"{part} {key}: plain {one}, compiled {other}" for key, one, other in changed[:3]]
    return lines


def text_of(value: object) -> str:
    """Return a text that identifies the value."""
    return _text(describe(value))


def _text(description: Any) -> str:
    text = repr(description)
    if len(text) < _LONG:
        return text
    return f"{text[:_LONG]}... ({hashlib.blake2b(text.encode(errors='replace'), digest_size=12).hexdigest()})"
