"""Functions that are left within numpy.errstate: the interpreter goes on under its settings, and resets them."""

import numpy as np
import pytest
from support.compiled import facts
from support.differential import check, check_at_exits
from support.outcome import assert_same

import accel


def positive_ratio(a, b):
    x, y = a[a > 0], b[b > 0]
    with np.errstate(divide="ignore", invalid="ignore"):
        return x / y


def counted(a, indices):
    count = 0
    with np.errstate(all="ignore"):
        for i in indices:
            if a[i] / (a[i] - 1) > 2:
                count += 1
        ratio = a / (a - 1)
    return count, ratio, a / (a - 1)


def nested(a, i):
    with np.errstate(divide="ignore"):
        x = 1 / a
        with np.errstate(invalid="ignore", over="ignore"):
            y = (a[i] - a[i]) / (a[i] - a[i]) + 1e200 * x[i] * 1e200
        z = 1 / a[i]
    return x, y, z, np.sqrt(a - 2)


def one_after_the_other(a, i):
    with np.errstate(divide="ignore") as entered:
        x = 1 / a[i]
    with np.errstate(divide="ignore"):
        y = 2 / a[i]
    return entered, x, y, 3 / a[i]


@np.errstate(divide="ignore")
def inverse(a, i):
    return 1 / a[i]


def decorated(a, i):
    return inverse(a, i), 1 / a[i]


def caught(a, i):
    try:
        with np.errstate(divide="ignore"):
            return 1 / a[i]
    except IndexError as error:
        return str(error), 1 / a[0]


def prints(a, i):
    """Calls at their place, under settings that change nothing and under others."""
    with np.errstate():
        print(a[i])
        x = a[i] * 2
    with np.errstate(divide="ignore"):
        print(1 / a[i])
    return x


@pytest.fixture(autouse=True)
def settings_are_as_before():
    before = np._core.umath._extobj_contextvar.get()
    yield
    assert np._core.umath._extobj_contextvar.get() is before


def test_sizes_known_at_run_time():
    check(positive_ratio, np.arange(-3.0, 9), np.arange(9.0))
    call = accel.compile(positive_ratio)
    for a, b in (
        (np.arange(9.0), np.arange(9.0)),
        (np.arange(5.0), np.arange(9.0)),
        (np.arange(2.0), np.arange(9.0)),
        (np.zeros(3),) * 2,
    ):
        assert_same(positive_ratio, call, a, b)
    assert facts(call)["compiled"] > 0


@pytest.mark.parametrize("function", [nested, one_after_the_other, decorated, caught, prints])
def test_indices_out_of_range(function):
    call = accel.compile(function)
    a = np.array([2.0, 0.0, 1.0, -1.0])
    for i in (0, 1, 2, 3, 4, -5, -1):
        assert_same(function, call, a, i)
    assert facts(call)["compiled"] > 0


def test_indices_of_a_loop():
    call = accel.compile(counted)
    a = np.array([2.0, 0.0, 1.0, -1.0])
    for indices in ([0, 1], [2, 2, 4], [], [-5], [3, 2]):
        assert_same(counted, call, a, np.array(indices, dtype=int))
    assert facts(call)["compiled"] > 0


def test_every_exit():
    a = np.array([2.0, 3.0, 4.0, -1.0])
    check_at_exits(positive_ratio, np.arange(1, 9.0), np.arange(1, 9.0))
    check_at_exits(counted, a, np.array([0, 3]))
    for function in (one_after_the_other, decorated, caught):
        check_at_exits(function, a, 1)
