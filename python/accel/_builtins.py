"""Builtins that read an iterable, as Python code: capture walks it where the items are known at run time only.

Each does what the builtin does, or raises: then the call is left to the interpreter and the builtin itself.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable
from typing import Any

import numpy as np

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
    return np.array(items, dtype)


def largest(iterable: Iterable[Any], /) -> Any:
    best = None
    for item in iterable:
        if item is None:
            raise TypeError
        if best is None or item > best:
            best = item
    if best is None:
        raise ValueError
    return best


def smallest(iterable: Iterable[Any], /) -> Any:
    best = None
    for item in iterable:
        if item is None:
            raise TypeError
        if best is None or item < best:
            best = item
    if best is None:
        raise ValueError
    return best


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
