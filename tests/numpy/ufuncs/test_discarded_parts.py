"""Casts that discard the imaginary part warn, wherever NumPy casts."""

import numpy as np
import pytest
from support.outcome import assert_same

import accel


def under_a_mask(a, c, i):
    c[a.real < 2] = a[a.real < 2]


def under_a_mask_computed(a, c, i):
    c[a.real < 2] = a[a.real < 2] * 0.5


def gathered(a, c, i):
    c[i] = a[i]


def an_element(a, c, i):
    c[0, 0] = a[0, 0]


def whole(a, c, i):
    c[...] = a


def flat(a, c, i):
    c.flat = a


def out(a, c, i):
    np.add(a, a, out=c, casting="unsafe")


def loop_of_another_dtype(a, c, i):
    return np.add(a, c, dtype=float, casting="unsafe")


def rows_of_a_list(a, c, i):
    c[i] = [a[0], a[1]]


def joined(a, c, i):
    return np.concatenate([a, c], dtype=float, casting="unsafe")


def summed(a, c, i):
    return np.sum(a, dtype=float)


def converted(a, c, i):
    return a.astype("f4"), np.asarray(a, float), a[0, 0].astype(float)


FUNCTIONS = [under_a_mask, under_a_mask_computed, gathered, an_element, whole, flat, out, loop_of_another_dtype]
FUNCTIONS += [rows_of_a_list, joined, summed, converted]


@pytest.mark.parametrize("backend", ["native", "numpy"])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_warns(function, backend):
    z = np.full((4, 3), 1 + 2j)
    assert_same(function, accel.compile(function, backend=backend), z, np.ones((4, 3)), np.array([0, 2]), times=2)
