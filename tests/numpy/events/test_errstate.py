"""numpy.errstate in the captured code: what it ignores does not send a run to the interpreter, what it does not is heard of."""

import warnings

import numpy as np
import pytest
from support.compiled import facts
from support.differential import check_left_to_numpy
from support.outcome import assert_same

import accel

X = np.array([0.0, 1.0, -2.0, 0.0, np.inf, np.nan, 1e300])
Y = np.array([0.0, 0.0, 4.0, 5.0, np.inf, 1.0, 1e-300])


def quotients(x, y):
    with np.errstate(divide="ignore", invalid="ignore"):
        z = x / y
    return np.where(np.isfinite(z), z, 0)


def cleaned_up(x, y):
    with np.errstate(all="ignore"):
        z = np.log(x) / y
        z[~np.isfinite(z)] = 0
    return z


def scaled(x, y):
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        z = np.sqrt(x / y)
    return np.minimum(z, 1e10) * 0.5 / 4 + 1


def in_a_loop(x, y):
    total = np.zeros_like(x)
    for k in range(3):
        with np.errstate(all="ignore"):
            z = x / (y - k)
            total += np.where(np.isnan(z), 0.0, np.clip(z, -5, 5))
    return total


def in_place(x, y):
    with np.errstate(all="ignore"):
        x /= y
    x[np.isnan(x)] = 1.0


def elements(x, y):
    out = np.zeros(len(x))
    with np.errstate(all="ignore"):
        for i in range(len(x)):
            out[i] = x[i] / y[i]
    return out


def helper(x, y):
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return x / y


def by_a_helper(x, y):
    return np.isnan(helper(x, y))


def nested(x, y):
    with np.errstate(divide="ignore"), np.errstate(invalid="ignore", over="ignore"):
        z = x / y
    return z


def decorated():
    @np.errstate(all="ignore")
    def function(x, y):
        return x / y

    return function


IGNORED = [quotients, cleaned_up, scaled, in_a_loop, in_place, elements, by_a_helper, nested]


@pytest.mark.parametrize("function", IGNORED)
def test_ignored(function):
    """No matter what the caller has set."""
    call = accel.compile(function)
    x, y = X[:6], Y[:6]
    for mode in ("warn", "ignore", "raise", "warn"):
        with np.errstate(all=mode):
            assert_same(function, call, x, y)
    found = facts(call)
    assert found["interpreted"] == found["side_exits"] == 0


def outside(x, y):
    with np.errstate(divide="ignore", invalid="ignore"):
        z = x / y
    return z / y


def before(x, y):
    z = x / y
    with np.errstate(all="ignore"):
        return np.log(z)


def one_of_two(x, y):
    with np.errstate(divide="ignore"):
        return x / y


def multiplied(x, y):
    with np.errstate(invalid="ignore", divide="ignore"):
        z = x / y
    return z * y


def by_zero(x, y):
    with np.errstate(all="ignore"):
        z = x / y
    return z * 0.0, z - np.inf


def by_a_half_that_is_cut(x, y):
    with np.errstate(all="ignore"):
        z = x / y
    return z * np.float64(0.5).astype(int), z * np.array(0.5).astype(np.int8)


def set_by_branch(x, y):
    if x[1] > 0:
        with np.errstate(all="ignore"):
            z = x / y
    else:
        z = x / y
    return z


@pytest.mark.parametrize("mode", ["warn", "ignore", "raise"])
@pytest.mark.parametrize(
    "function", [outside, before, one_of_two, multiplied, by_zero, by_a_half_that_is_cut, set_by_branch, *IGNORED]
)
def test_what_is_not_ignored_is_heard(function, mode):
    call = accel.compile(function)
    with np.errstate(all=mode):
        for x, y in ((np.ones(7), np.full(7, 2.0)), (X, Y), (Y, X), (-X, Y), (X[1:2], Y[1:2]), (np.zeros(3), np.zeros(3))):
            if len(x) > 1 or function is not set_by_branch:
                assert_same(function, call, x, y)
    assert facts(call)["compiled"] > 0


def test_as_a_decorator():
    function = decorated()
    call = accel.compile(function)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(call(X, Y), function(X, Y))
    assert facts(call)["compiled"] > 0


def foreseen(x, y, n):
    """Comparisons that always come out the same, of numbers whose computation warns."""
    count = 0
    t = np.float64(0.0)
    for i in range(n):
        if t > t * x[i]:
            count += 1
        if x[i] * x[i] < -1.0:
            count += 2
        if np.sqrt(y[i]) < 0:
            count += 4
        if y[i] - y[i] != 0:
            count += 8
    return count


def test_events_of_comparisons_that_can_be_foreseen():
    for x, y in (([1.0, np.inf], [1.0, 2.0]), ([1e200, 2.0], [1.0, 2.0]), ([1.0], [-1.0]), ([1.0], [np.inf]), ([2.0], [3.0])):
        check_left_to_numpy(foreseen, np.array(x), np.array(y), len(x))
        check_left_to_numpy(foreseen, np.array(x, "f4"), np.array(y, "f4"), len(x))
