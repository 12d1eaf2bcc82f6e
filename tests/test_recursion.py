"""Functions that call themselves: inlined where the depth is a constant, else called, so that nothing grows with the depth."""

import numpy as np
import pytest
from support.compiled import facts
from support.differential import check
from support.outcome import assert_same

import accel


def quicksort(a):
    if a.size <= 1:
        return a
    pivot = a[a.size // 2]
    return np.concatenate([quicksort(a[a < pivot]), a[a == pivot], quicksort(a[a > pivot])])


def halves(x):
    if len(x) < 2:
        return x * 1.0
    return halves(x[::2]) + halves(x[1::2])


def fourier(x):
    n = len(x)
    if n <= 1:
        return x.astype(complex)
    even, odd = fourier(x[::2]), fourier(x[1::2])
    w = np.exp(-2j * np.pi * np.arange(n // 2) / n) * odd
    return np.concatenate([even + w, even - w])


def area(x, i=0, j=0):
    g = x.reshape(8, 8)
    if i < 0 or j < 0 or i >= 8 or j >= 8 or g[i, j] < 0:
        return 0
    g[i, j] = -1
    return 1 + area(x, i + 1, j) + area(x, i - 1, j) + area(x, i, j + 1) + area(x, i, j - 1)


FUNCTIONS = [quicksort, halves, fourier, area]


@pytest.mark.timeout(120)
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_depths_that_sizes_or_data_decide(function):
    call = accel.compile(function)
    for seed in range(12):
        assert_same(function, call, np.random.default_rng(seed).random(64))
    assert facts(call)["compiled"] > 0
    assert facts(call)["compiles"] <= 8


@pytest.mark.timeout(120)
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_marked_functions(function, monkeypatch):
    expected = [function(np.random.default_rng(seed).random(64)) for seed in range(12)]
    call = accel.compile(function)
    monkeypatch.setitem(globals(), function.__name__, call)
    for seed, result in enumerate(expected):
        assert np.array_equal(call(np.random.default_rng(seed).random(64)), result)
    assert facts(call)["compiles"] <= 8


def powers(x, n):
    return x if n == 1 else x * powers(x, n - 1)


def test_a_constant_depth_is_inlined():
    check(lambda x: powers(x, 5), np.arange(4.0))
