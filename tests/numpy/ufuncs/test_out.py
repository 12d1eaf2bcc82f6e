"""What is given as out= and is no fitting array: NumPy's own errors, whatever the calls before had."""

import numpy as np
import pytest
from support.compiled import facts
from support.outcome import assert_same

import accel

X = np.ones((2, 3))


def add(out, x):
    return np.add(out, 1, out=out)


def add_by_position(out, x):
    return np.exp(x[0], out)


def add_by_tuple(out, x):
    return np.add(x[0], 1, out=(out,))


def summed(out, x):
    return np.sum(x, 0, out=out)


def reduced(out, x):
    return np.add.reduce(x, out=out)


def average(out, x):
    return np.mean(x, 0, out=out)


def position(out, x):
    return np.argmax(x, 0, out=out)


def copied(out, x):
    np.copyto(out, x[0])


def product(out, x):
    return np.matmul(x[:, 0], x, out=out)


def clipped(out, x):
    return np.clip(x[0], 0, 0.5, out=out)


def at(out, x):
    np.add.at(out, [0], 1.0)


def put(out, x):
    np.put(out, [0], 1.0)


def two_results(out, x):
    return np.divmod(x[0], 0.3, out=(out, out))


FUNCTIONS = [
    add,
    add_by_position,
    add_by_tuple,
    summed,
    reduced,
    average,
    position,
    copied,
    product,
    clipped,
    at,
    put,
    two_results,
]
UNFIT = [[1.0, 2.0, 3.0], (1.0, 2.0, 3.0), 5.0, None, "text", {}, np.float64(3.0), np.array(3.0), np.ones((3, 1)), np.ones(2)]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_no_fitting_array(function):
    call = accel.compile(function, backend="numpy")
    for out in (np.ones(3), *UNFIT, np.ones(3)):
        assert_same(function, call, out, X, times=1)
    assert facts(call)["compiled"] > 0


@pytest.mark.parametrize("function", [add, add_by_tuple, summed, reduced, copied, clipped])
def test_arrays_that_fit_are_compiled_for(function):
    call = accel.compile(function)
    for out in (np.zeros(3), [1.0], np.zeros(6)[::2]):
        assert_same(function, call, out, X)
    assert facts(call)["compiled"] > 0
