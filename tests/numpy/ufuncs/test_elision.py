"""Operators of large arrays, which NumPy computes in the memory of a temporary: the order of memory and the rounding of
products.
"""

import numpy as np
import pytest
from support.compiled import assert_all_compiled
from support.outcome import assert_same

import accel


def shifted(a):
    return a + 1


def kept(a, b):
    c = b + 1
    return a * c, c


def kept_in_a_list(a, b):
    c = [b + 1]
    return a * c[0], c


def chosen(a, b):
    return a * (b + 1 if a.size > 7 else b)


FUNCTIONS = [
    lambda a, b: a * (b + 1),
    lambda a, b: (b + 1) * a,
    lambda a, b: a * b.conj(),
    lambda a, b: a * np.exp(b),
    lambda a, b: (1 + 2j) * (b + 1),
    lambda a, b: a.T * 2 + b,
    lambda a, b: b + a.T * 2,
    lambda a, b: b - a.T * 2,
    lambda a, b: a.T * 2 - b,
    lambda a, b: b / (a.T * 2) + (a.T + 1) * b,
    lambda a, b: (a.T * 2 + b).sum(axis=0),
    lambda a, b: a[:1] * (b + 1),
    lambda a, b: a * (b[:1] + 1),
    lambda a, b: np.multiply(a, b + 1),
    lambda a, b: a * shifted(b),
    lambda a, b: a * (b + 1)[:],
    lambda a, b: a * (a @ b),
    lambda a, b: a * np.cumsum(b, axis=0),
    lambda a, b: a.T * np.concatenate((b[:5], b[5:])),
    kept,
    kept_in_a_list,
    chosen,
]


@pytest.mark.parametrize(
    ("number", "dtype"), [(k, dtype) for k in range(len(FUNCTIONS)) for dtype in (("f4", "c16"), ("f8", "c8"))[k % 2]]
)
def test_around_the_size(number, dtype):
    """A real dtype and the complex one of another width, in turns."""
    function, call = FUNCTIONS[number], accel.compile(FUNCTIONS[number])
    rng = np.random.default_rng(number)
    for n in (10, 127, 128, 181, 182, 256, 300):
        a, b = (rng.standard_normal((2, n, n)) + 1j * rng.standard_normal((2, n, n))).astype("c16")
        if dtype[0] == "f":
            a, b = a.real, b.real
        assert_same(function, call, a.astype(dtype), b.astype(dtype), times=1)
    assert_all_compiled(call)


@pytest.mark.parametrize("other", ["f4", "i4", "i8", "?", "c8", "c16"])
def test_other_types_that_may_be_cast(other):
    rng = np.random.default_rng(1)
    a, b = rng.standard_normal((2, 300, 300)), rng.standard_normal((300, 300)).astype(other)
    for function in (lambda a, b: b.T + a * 2, lambda a, b: a * 2 + b.T, lambda a, b: b.T * (a + 1j)):
        call = accel.compile(function)
        assert_same(function, call, a[0], b, times=2)
        assert_all_compiled(call)
