"""Indices of loops that reach back before the first element: neighbours on a ring, read and written."""

import numpy as np
import pytest
from support.compiled import compile_count, facts
from support.differential import sample
from support.outcome import assert_same

import accel


def neighbours(x):
    out = np.zeros(len(x))
    for i in range(len(x)):
        out[i] = x[i - 1] + x[i]
    return out


def ring(x):
    n = len(x)
    out = np.zeros_like(x)
    for i in range(n):
        out[i] = x[i - 1] - 2 * x[i] + x[(i + 1) % n]
    return out


def two_back(x):
    total = 0.0
    for i in range(1, len(x)):
        total += x[i - 2] * x[i]
    return total


def from_the_end(x):
    return [x[-i - 1] * x[-i] for i in range(len(x))]


def ising(x):
    s = x.reshape(-1, 2)
    energy = 0.0
    for i in range(s.shape[0]):
        for j in range(s.shape[1]):
            energy -= s[i, j] * (s[i - 1, j] + s[i, j - 1])
    return energy


def rows(x):
    a = x.reshape(-1, 2)
    out = np.zeros_like(a)
    for i in range(len(a)):
        out[i] = a[i - 1] + a[i]
    return out


def stores(x):
    for i in range(len(x)):
        x[i - 1] += i
    return x


def columns(x):
    a = x.reshape(2, -1)
    for j in range(a.shape[1]):
        a[:, j - 1] *= j + 1
    return a


WHOLE = [neighbours, ring, two_back, from_the_end, ising, rows, stores, columns]


@pytest.mark.parametrize("function", WHOLE)
def test_no_exit(function):
    call = accel.compile(function)
    for n in (8, 2, 50, 4):
        assert_same(function, call, sample(n))
    assert compile_count(call) <= 2
    assert facts(call)["interpreted"] == facts(call)["side_exits"] == 0


@pytest.mark.parametrize("function", WHOLE)
def test_nothing_there(function):
    """Nothing is left to be compiled of some."""
    assert_same(function, accel.compile(function, fullgraph=True), np.empty(0))


@pytest.mark.parametrize("back", [2, 4, 5, 6, 9])
def test_too_far(back):
    """IndexError where NumPy raises it, with all earlier effects in place."""

    def function(x, back):
        for i in range(len(x)):
            x[len(x) - i - back] += i + 1
        return x

    call = accel.compile(function)
    for n in (5, 8, 3):
        assert_same(function, call, sample(n), back)
    assert facts(call)["compiled"] > 0


def stores_from_data(x, k):
    for i in k:
        x[i] -= i
    return x


def sums_from_data(x, k):
    total = 0.0
    for j in range(len(k)):
        total += x[k[j]] * x[k[j] - 1]
    return total


def rows_from_data(x, k):
    a = x.reshape(-1, 2)
    for j in range(len(k)):
        a[k[j]] += a[0, int(k[j]) % 2]
        a[k[0], 1] *= 2
    return a


def slices_from_data(x, k):
    total = 0.0
    for j in range(len(k) - 1):
        total += x[k[j] : k[j + 1]].sum() + x[: k[j]].sum()
    return total


def linked(x, k):
    at, steps = 0, 0
    while x[at] < 50 and steps < 20:
        at = k[at]
        x[at] += 7
        steps += 1
    return at, x


FROM_DATA = [stores_from_data, sums_from_data, rows_from_data, slices_from_data, linked]


@pytest.mark.parametrize("function", FROM_DATA)
@pytest.mark.parametrize("first", [[1, 2, 3, 2, 0, 1, 2, 3], [-1, 2, -3, 1, -2, 0, 3, -1]])
def test_signs_that_data_decides(function, first):
    """One call may leave for another sign than the first call had; from then on compiled code counts from both ends."""
    call = accel.compile(function)
    for k in (first, [0, 1, 2, 3, 3, 2, 1, 0], [-1, -2, -3, -4, 3, 2, 1, 0], [3, -3, 2, -2, 1, -1, 0, -4], [1] * 8):
        assert_same(function, call, np.arange(8.0), np.array(k))
    assert facts(call)["interpreted"] == 0
    assert facts(call)["side_exits"] <= 1
    assert_same(function, call, np.arange(8.0), np.array([0, 3, -9, 2, 1, 0, 1, 2]))
    assert_same(function, call, np.arange(8.0), np.array([0, 8, 1, 2, 1, 0, 1, 2]))
