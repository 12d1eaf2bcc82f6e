"""Floats that become integers, and floats again: nothing of what happens in between is left out."""

import numpy as np
import pytest
from support.compiled import facts
from support.covering import pairs
from support.outcome import assert_same

import accel

VALUES = [2.7, -2.7, -0.3, 0.0, -0.0, 1e30, -1e30, 3e9, -3e9, 300.0, 2.0**63, np.inf, -np.inf, np.nan]


def half_of_whole(a, dtype):
    return a.astype(dtype) * 0.5


def there_and_back(a, dtype):
    return a.astype(dtype).astype(a.dtype)


def fraction(a, dtype):
    return a - a.astype(dtype)


def total_of_whole(a, dtype):
    total = 0.0
    for v in a:
        total += dtype(v)
    return total


def number_and_back(a, dtype):
    return np.float64(dtype(a[0])), dtype(a[0]) + a[0]


FUNCTIONS = [half_of_whole, there_and_back, fraction, total_of_whole, number_and_back]


@pytest.mark.parametrize(
    ("function", "dtype", "source"),
    pairs(FUNCTIONS, [np.int64, np.int32, np.int8, np.uint16, np.uint64], [np.float64, np.float32, np.float16]),
)
def test_integers_between_floats(function, dtype, source):
    call = accel.compile(function)
    assert_same(function, call, np.arange(0, 30, 0.7).astype(source), dtype)
    with np.errstate(over="ignore"):
        cases = [np.array([value] * count, dtype=source) for value in VALUES for count in (1, 37)]
    for a in cases:
        assert_same(function, call, a, dtype, times=1)
        assert_same(function, call, np.concatenate([np.arange(40).astype(source), a]), dtype, times=1)
    assert facts(call)["compiled"] > 0


def half_of_int(x):
    return int(x) * 0.5, float(int(x)), x - int(x)


def test_ints_of_python():
    call = accel.compile(half_of_int)
    for x in (2.7, -0.3, 0.3, -0.0, 1e15, -2.5, 1e30):
        assert_same(half_of_int, call, x)
        assert_same(half_of_int, call, np.float64(x))
    assert facts(call)["compiled"] > 0
