"""Verification (the setting `verify`): compares compiled code, run on copies of the arguments, with NumPy. Called from C++."""

from __future__ import annotations

import threading
import types
import warnings
from typing import Any

import numpy as np

from . import _accel
from ._describe import describe

__all__ = ["Check", "copies"]

_IMMUTABLE = (
    *(bool, int, float, complex, str, bytes, type(None), type(Ellipsis), slice, range, type),
    *(np.number, np.bool_, np.dtype, np.ufunc, types.BuiltinFunctionType, types.ModuleType),
)
_GENERATORS = (np.random.Generator, np.random.RandomState)  # not copied: compiled code restores their state
_FUNCTIONS = (types.FunctionType, _accel.CompiledFunction)
_HEAP_TYPE = 1 << 9  # Py_TPFLAGS_HEAPTYPE


class CannotCopy(Exception):  # noqa: N818
    """An argument is of a kind that cannot be copied."""


class Check:
    """One call: copies of its arguments, the result of compiled code for them, and the comparison.

    `values` are the positional arguments, then those of the keywords `names`.
    """

    def __init__(self, function: types.FunctionType, values: tuple[Any, ...], names: tuple[str, ...] | None) -> None:
        self.function = function
        self.values = values
        self.names = names or ()
        self.copies: tuple[Any, ...] = copies(values)
        self.before: tuple[Any, ...] = copies(values)
        self.found: Any = None

    def silence(self) -> None:
        """Raise every warning of this thread: NumPy's call shows those of the compiled call again."""
        filters: Any = warnings.filters
        self._filter = ("error", None, _ThisThread("ThisThread", (Warning,), {"thread": threading.get_ident()}), None, 0)
        filters.insert(0, self._filter)

    def speak(self) -> None:
        """Undo `silence`."""
        filters: Any = warnings.filters
        filters.remove(self._filter)

    def finish(self, expected: Any, error: BaseException | None) -> str:
        """Return the difference between compiled code and NumPy, with the file that reproduces it; "" when there is none."""
        difference = self._difference(expected, error)
        if not difference:
            return ""
        from ._reproduction import write

        code = self.function.__code__
        place = f"{self.function.__qualname__} ({code.co_filename}:{code.co_firstlineno})"
        return f"{place}: {difference}. {write(self, place, difference)}"

    def _difference(self, expected: Any, error: BaseException | None) -> str:
        if error is not None:
            return f"NumPy raised {type(error).__name__}: {error}, compiled code returned {_text(self.found)}"
        if describe(self.found) != describe(expected):
            return f"NumPy gave {_text(expected)}, compiled code {_text(self.found)}"
        if _shared(self.found, self.copies) != _shared(expected, self.values):
            return "the results share memory with different arguments"
        for number, (copy, value) in enumerate(zip(self.copies, self.values, strict=True)):
            if describe(copy) != describe(value):
                return f"NumPy left {_text(value)} of argument {number}, compiled code {_text(copy)}"
        return ""


class _ThisThread(type):
    """The metaclass of a warning category that contains every warning of one thread."""

    thread: int

    def __subclasscheck__(cls, kind: type) -> bool:
        return cls.thread == threading.get_ident() and type.__subclasscheck__(Warning, kind)


def _text(value: Any) -> str:
    try:
        text = repr(value)
    except ValueError:  # Python limits the digits of decimal texts
        text = f"an object of {type(value).__name__}"
    if isinstance(value, np.ndarray):
        text += f" (strides {value.strides})"
    return text if len(text) < 200 else text[:200] + "..."


def _shared(result: Any, arguments: tuple[Any, ...]) -> list[Any]:
    """For each argument, whether it is the result, and which arrays of the result share memory with it."""
    results = result if isinstance(result, tuple | list) else (result,)
    arrays = [part for part in results if isinstance(part, np.ndarray)]
    return [
        (value is result, [np.may_share_memory(part, value) for part in arrays if isinstance(value, np.ndarray)])
        for value in arguments
    ]


def copies(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return deep copies of values, with equal layouts and sharing of parts. Raises CannotCopy."""
    copied: tuple[Any, ...] = _Copier().of(values)
    return copied


class _Copier:
    """Copies values that may share parts or memory, once each."""

    def __init__(self) -> None:
        self.made: dict[int, tuple[Any, Any]] = {}  # id: the original, which stays alive, and its copy
        self.arrays: list[Any] = []

    def of(self, value: Any) -> Any:
        self._find_arrays(value, set())
        self._copy_arrays()
        return self._copy(value)

    def _find_arrays(self, value: Any, seen: set[int]) -> None:
        if isinstance(value, _IMMUTABLE) or id(value) in seen:
            return
        seen.add(id(value))
        if type(value) is np.ndarray and not value.dtype.hasobject:
            self.arrays.append(value)
        for part in _parts(value):
            self._find_arrays(part, seen)

    def _copy_arrays(self) -> None:
        """Copy arrays so that those whose memory overlaps have overlapping copies."""
        bounds = sorted((np.lib.array_utils.byte_bounds(array), k) for k, array in enumerate(self.arrays))
        group: list[Any] = []
        low = high = 0
        for (start, stop), k in bounds:
            if group and start >= high:
                self._copy_group(group, low, high)
                group = []
            low, high = (min(low, start), max(high, stop)) if group else (start, stop)
            group.append(self.arrays[k])
        if group:
            self._copy_group(group, low, high)

    def _copy_group(self, group: list[Any], low: int, high: int) -> None:
        memory = np.zeros(high - low + 64, np.uint8)
        start = (low - memory.__array_interface__["data"][0]) % 64  # the same alignment
        for array in group:
            offset = start + array.__array_interface__["data"][0] - low
            twin: Any = np.ndarray(array.shape, array.dtype, memory, offset, array.strides)
            twin[...] = array
            if not array.flags.num & 0x0400:  # NPY_ARRAY_WRITEABLE
                twin.flags.writeable = False
            self.made[id(array)] = (array, twin)

    def _copy(self, value: Any) -> Any:
        if isinstance(value, _IMMUTABLE) or type(value) in _GENERATORS or isinstance(value, _FUNCTIONS):
            return value
        if id(value) not in self.made:
            self._make(value)
        return self.made[id(value)][1]

    def _make(self, value: Any) -> None:
        kind = type(value)
        if isinstance(value, tuple):
            twin: Any = tuple.__new__(kind, [self._copy(part) for part in value])
            self.made[id(value)] = (value, twin)
            return
        twin = kind() if kind in (list, dict, set) else object.__new__(kind)
        self.made[id(value)] = (value, twin)
        if kind is list:
            twin.extend(self._copy(part) for part in value)
        elif kind is dict:
            twin.update((self._copy(key), self._copy(part)) for key, part in value.items())
        elif kind is set:
            twin.update(self._copy(part) for part in value)
        else:
            for name, part in _slots(value):
                name.__set__(twin, self._copy(part))
            for key, part in _members(value).items():
                _members(twin)[key] = self._copy(part)


def _parts(value: Any) -> list[Any]:
    """Return the parts of a value. Raises CannotCopy."""
    kind = type(value)
    if isinstance(value, _FUNCTIONS):
        if getattr(value, "__closure__", None) is None:
            return []
    elif kind in (list, set) or kind is tuple or _is_named_tuple(kind):
        return list(value)
    elif kind is dict:
        return [*value.keys(), *value.values()]
    elif kind in _GENERATORS or (kind is np.ndarray and not value.dtype.hasobject):
        return []
    elif _is_plain_class(kind):
        return [part for _, part in _slots(value)] + list(_members(value).values())
    raise CannotCopy(kind.__name__)


def _is_named_tuple(kind: type) -> bool:
    return kind.__bases__ == (tuple,) and hasattr(kind, "_fields")


def _is_plain_class(kind: type) -> bool:
    """Whether instances consist of their attributes alone."""
    return all(base is object or base.__flags__ & _HEAP_TYPE for base in kind.__mro__) and not any(
        "__new__" in vars(base) for base in kind.__mro__[:-1]
    )


def _slots(value: Any) -> list[tuple[Any, Any]]:
    found = []
    for kind in type(value).__mro__:
        for descriptor in vars(kind).values():
            if isinstance(descriptor, types.MemberDescriptorType):
                try:
                    found.append((descriptor, descriptor.__get__(value)))
                except AttributeError:  # not set
                    continue
    return found


def _members(value: Any) -> dict[str, Any]:
    if type(value).__dictoffset__ == 0:
        return {}
    members: dict[str, Any] = object.__getattribute__(value, "__dict__")
    return members
