"""Builtins that read an iterable, or count, as Python code: capture walks it where items or numbers are known at run time only.

Each does what the builtin does, or raises: then the call is left to the interpreter and the builtin itself.
"""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

_MISSING = object()
_COMPENSATES = sys.version_info >= (3, 12)


def all_of(iterable: Iterable[Any], /) -> bool:
    for item in iterable:  # noqa: SIM110
        if not item:
            return False
    return True


def any_of(iterable: Iterable[Any], /) -> bool:
    for item in iterable:  # noqa: SIM110
        if item:
            return True
    return False


def list_of(iterable: Iterable[Any], /) -> list[Any]:
    items = []
    for item in iterable:
        items.append(item)
    return items


def tuple_of(iterable: Iterable[Any], /) -> tuple[Any, ...]:
    items = []
    for item in iterable:
        items.append(item)
    return tuple(items)


def array_of(iterable: Iterable[Any], /, dtype: Any, count: int = -1) -> Any:
    items = []
    for item in iterable:
        items.append(item)
    if count not in (-1, len(items)):
        raise ValueError
    made = np.array(items, dtype)
    if made.ndim != 1:
        raise ValueError
    return made


def largest(iterable: Iterable[Any], /, *, key: Callable[[Any], Any] | None = None, default: Any = _MISSING) -> Any:
    best = most = None
    for item in iterable:
        value = item if key is None else key(item)
        if item is None or value is None:
            raise TypeError
        if most is None or value > most:
            best, most = item, value
    if most is None and default is _MISSING:
        raise ValueError
    return default if most is None else best


def smallest(iterable: Iterable[Any], /, *, key: Callable[[Any], Any] | None = None, default: Any = _MISSING) -> Any:
    best = least = None
    for item in iterable:
        value = item if key is None else key(item)
        if item is None or value is None:
            raise TypeError
        if least is None or value < least:
            best, least = item, value
    if least is None and default is _MISSING:
        raise ValueError
    return default if least is None else best


def product_of(iterable: Iterable[Any], /) -> Any:
    product = 1
    for item in iterable:
        product = product * item
    return product


def sum_of(iterable: Iterable[Any], /, start: Any = 0) -> Any:
    """Ints first, then floats without the errors of rounding, then whatever comes: as CPython does it."""
    total = start
    if isinstance(total, (str, bytes, bytearray, complex)) and type(total) is not np.complex128:
        raise TypeError
    iterator = iter(iterable)
    if type(total) is int:
        for item in iterator:
            total = total + item
            if type(item) is not int and type(item) is not bool:
                break
        else:
            return total
    if type(total) is float and _COMPENSATES:
        lost = 0.0
        for item in iterator:
            if type(item) is float:
                before = total
                total = before + item
                if abs(before) >= abs(item):
                    lost += (before - total) + item
                else:
                    lost += (item - total) + before
            elif type(item) is int or type(item) is bool:
                total = total + item
            else:
                if lost and math.isfinite(lost):
                    total = total + lost
                total = total + item
                break
        else:
            return total + lost if lost and math.isfinite(lost) else total
    for item in iterator:
        if type(total) is complex:
            raise TypeError
        total = total + item
    return total


def _are_close(x: Any, y: Any, is_infinite: bool, rel_tol: float, abs_tol: float) -> bool:
    if rel_tol < 0 or abs_tol < 0:
        raise ValueError
    if x == y:
        return True
    if is_infinite:
        return False
    difference = abs(x - y)
    return bool(difference <= rel_tol * abs(y) or difference <= rel_tol * abs(x) or difference <= abs_tol)


def is_close(a: float, b: float, *, rel_tol: float = 1e-09, abs_tol: float = 0.0) -> bool:
    x, y = float(a), float(b)
    return _are_close(x, y, math.isinf(x) or math.isinf(y), rel_tol, abs_tol)


def is_close_complex(a: complex, b: complex, *, rel_tol: float = 1e-09, abs_tol: float = 0.0) -> bool:
    x, y = complex(a), complex(b)
    is_infinite = math.isinf(x.real) or math.isinf(x.imag) or math.isinf(y.real) or math.isinf(y.imag)
    return _are_close(x, y, is_infinite, rel_tol, abs_tol)


def distance_of(p: Sequence[float], q: Sequence[float], /) -> float:
    return math.hypot(*[float(a) - float(b) for a, b in zip(p, q, strict=True)])


def _natural(number: int) -> int:
    value = operator.index(number)
    if value < 0:
        raise ValueError
    return value


def factorial_of(x: int, /) -> int:
    product = 1
    for k in range(2, _natural(x) + 1):
        product = product * k
    return product


def permutations_of(n: int, k: int, /) -> int:
    count = 1
    total, chosen = _natural(n), _natural(k)
    if chosen > total:
        return 0
    for i in range(chosen):
        count = count * (total - i)
    return count


def combinations_of(n: int, k: int, /) -> int:
    count = 1
    total, chosen = _natural(n), _natural(k)
    if chosen > total:
        return 0
    for i in range(min(chosen, total - chosen)):
        count = count * (total - i) // (i + 1)
    return count


def common_multiple_of(a: int, b: int, /) -> int:
    divisor = math.gcd(a, b)
    return abs(a // divisor * b) if divisor else 0


def stack_of(arrays: list[Any], axis: int = 0) -> Any:
    rows = np.array(arrays)
    return rows if axis == 0 else np.array(np.moveaxis(rows, 0, axis), order="C")


def vstack_of(tup: list[Any]) -> Any:
    rows = np.array(tup)
    if rows.ndim == 1:
        raise ValueError
    return rows if rows.ndim == 2 else np.concatenate(tup)


def hstack_of(tup: list[Any]) -> Any:
    rows = np.array(tup)
    if rows.ndim > 2:
        raise ValueError
    return rows if rows.ndim == 1 else np.concatenate(tup)


def column_stack_of(tup: list[Any]) -> Any:
    rows = np.array(tup)
    if rows.ndim != 2:
        raise ValueError
    return np.array(rows.T, order="C")
