"""Stores to arrays that have the elements of another one, and memory of their own."""

import numpy as np
import pytest
from support.compiled import assert_all_compiled
from support.outcome import assert_same

import accel

COPIES = {
    "plus": lambda b: +b,
    "positive": lambda b: np.positive(b),
    "conjugate": lambda b: np.conjugate(b),
    "astype": lambda b: b.astype(b.dtype),
    "copy": lambda b: b.copy(),
    "array": lambda b: np.array(b),
    "power": lambda b: b**1,
    "no axes": lambda b: b.sum(axis=()),
    "plus of a view": lambda b: +b[::1],
    "real": lambda b: +b.real,
    "plus of plus": lambda b: +(+b),
}


def element(copy):
    def f(b):
        v = copy(b)
        v[0] = 7
        return v

    return f


def part(copy):
    def f(b):
        v = copy(b)
        v[1:] = v[:-1]
        return v, b + 1

    return f


def masked(copy):
    def f(b):
        v = copy(b)
        v[v > 1] = 0
        return v

    return f


def chosen(copy):
    def f(b):
        v = copy(b)
        v[np.array([0, 2])] = 5
        return v

    return f


def updated(copy):
    def f(b):
        v = copy(b)
        np.add.at(v, np.array([0, 2, 0]), 5)
        return v * 2

    return f


def in_a_loop(copy):
    def f(b):
        v = copy(b)
        for k in range(len(b)):
            v[k] = v[k] + k
        return v

    return f


def in_a_branch(copy):
    def f(b):
        v = copy(b)
        if b[0] > 0:
            v[1] = 3
        return v - b

    return f


def exchanged(copy):
    def f(b):
        v, w = copy(b), copy(b)
        for k in range(3):
            v[0] = k
            v, w = w, v
        return v, w

    return f


def original_changes(copy):
    def f(b):
        v = copy(b)
        b[0] = 9
        return v * 2

    return f


@pytest.mark.parametrize("name", COPIES)
@pytest.mark.parametrize("dtype", ["int64", "complex128"])
@pytest.mark.parametrize(
    "store",
    [element, part, masked, chosen, updated, in_a_loop, in_a_branch, exchanged, original_changes],
    ids=lambda store: store.__name__,
)
def test_the_original_stays(store, name, dtype):
    if dtype == "complex128" and store in (in_a_branch, masked):
        pytest.skip("complex numbers have no order that accel compiles")
    function = store(COPIES[name])
    compiled = accel.compile(function)
    for _ in range(3):
        b = np.array([1, 2, 3, 0, 5], dtype)
        assert_same(function, compiled, b)
    assert_all_compiled(compiled)
