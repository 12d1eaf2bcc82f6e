"""Events of numbers that something else takes the place of before anybody has looked at them."""

import numpy as np
import pytest
from support.compiled import facts
from support.outcome import assert_same

import accel


def masked_away(x, y):
    t = x / y
    t[y == 0] = 0.0
    return t


def masked_away_and_summed(x, y):
    t = x * y
    t[x > 1] = 0
    return t.sum()


def masked_by_others(x, y):
    t = x / y
    t[y == 0] = x[y == 0] * 2
    t[y == 1] /= 0.5
    return t


def copied_over(x, y):
    t = x / y
    np.copyto(t, 0, where=y == 0)
    return t


def chosen_and_masked(x, y):
    u = np.where(y > 0, x / y, 1)
    u[y > 1] = 3
    return u


def masked_for_nobody(x, y):
    t = x * y
    t[x > 1] = 0


def added_for_nobody(x, y):
    t = x * y
    np.add(x, y, out=t, where=x > 1)


def stored_for_nobody(x, y):
    t = x * y
    t[0] = 0


def stored_again(x, y):
    t = np.empty(len(x))
    for i in range(len(x)):
        t[i] = x[i] / y[i]
        if y[i] == 0:
            t[i] = 0.0
    return t


def stored_again_beside_others(x, y):
    t = np.zeros((len(x), 2))
    for i in range(len(x)):
        t[i, 0] += x[i] / y[i]
        if y[i] == 0:
            t[i, 0] = -1
            t[i, 1] = x[i] * 2
    return t


def stored_at_one_place(x, y):
    t = np.zeros(2)
    for i in range(len(x)):
        t[0] = x[i] / y[i]
    return t


def stored_until_moved_on(x, y):
    t = np.zeros(len(x))
    j = 0
    for i in range(len(x)):
        t[j] = x[i] / y[i]
        if y[i] > 1:
            j += 1
    return t


def few_stored_again(x, y):
    t = x[:3] / y[:3]
    t[:] = 1
    return t


def few_stored_in_parts(x, y):
    t = x[:3] / y[:3]
    t[y[:3] == 0] = 1
    t[1:] = x[:2]
    return t


def argument_stored_twice(x, y):
    x[:] = x / y
    x[:] = 1.0


def element_of_argument_stored_twice(x, y):
    for i in range(len(x)):
        x[i] = x[i] / y[i]
        x[i] = 1.0


def skipped(x, y):
    total = 0.0
    for i in range(len(x)):
        r = x[i] / y[i]
        if y[i] == 0:
            continue
        total += r
    return total


FUNCTIONS = [each for each in list(globals().values()) if getattr(each, "__module__", "") == __name__]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_dropped_numbers(function):
    call = accel.compile(function)
    for threads, n in ((1, 5), (2, 100)):
        with accel.config(threads=threads, parallel_threshold=0):
            assert_same(function, call, np.ones(n), np.ones(n) * 2)
            assert_same(function, call, np.ones(n), np.arange(n) % 3.0)
            assert_same(function, call, np.full(n, 1e200), np.full(n, 1e200))
            assert_same(function, call, np.ones(n, np.float32), np.arange(n, dtype=np.float32) % 3)
    assert facts(call)["compiled"] > 0
