"""Values that a guard stands in front of: they are computed after it, and once more where the function is left there."""

import numpy as np
import pytest
from support.differential import check, check_at_exits, check_cases, sample
from support.outcome import assert_same

import accel


def looked_up(x, table, where):
    y = np.log(x) * x
    scale = table[where[0]]
    return (y * scale).sum(), np.abs(y.max())  # the sign of a NaN that is an extreme is not NumPy's for certain


def stored_before_use(x, table, where):
    y = np.sqrt(x) + x
    scale = table[where[0]]
    x[1:] = scale
    return y - scale, x


def several_guards(x, table, where):
    y = x / (x - 1)
    z = np.exp(x)
    a = table[where[0]]
    b = table[where[1]]
    return (y - z * a).argmax(axis=-1), b, z


def guards_in_a_loop(x, table, where):
    total = 0.0
    labels = np.zeros(len(x), int)
    for k in range(3):
        distance = np.abs(np.log(x[:, None]) - table * k)
        scale = table[where[k]]
        labels = distance.argmin(axis=1)
        total += scale * labels.sum()
        x = x + 1.0
    return labels, total, x


def needed_on_both_sides(x, table, where):
    y = 1 / x
    least = y.min()
    scale = table[where[0]] + least
    return np.hypot(y, scale) + np.square(y), least


def caught(x, table, where):
    y = np.log(x)
    try:
        scale = table[where[0]]
    except IndexError:
        return y + y, y
    return y * scale


FUNCTIONS = [looked_up, stored_before_use, several_guards, guards_in_a_loop, needed_on_both_sides, caught]
TABLE = np.array([2.0, 0.5, -1.0, 4.0])
GOOD, BAD = np.array([1, 3, 0]), [np.array([0, 9, 1]), np.array([-9, 0, 0]), np.array([1, 0, 5])]


def values(n):
    return np.abs(sample(n)) + 0.5


@pytest.mark.parametrize("function", FUNCTIONS)
def test_past_guards(function):
    check_at_exits(function, values(50), TABLE, GOOD)
    check(function, values(1), TABLE, GOOD)


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("n", [5, 3000])
def test_left_at_the_guard(function, n):
    cases = [(values(n), TABLE, where) for where in [GOOD, *BAD]]
    check_cases(function, cases, lambda function, case: case[2] is GOOD)


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("special", [0.0, -1.0, 1.0, np.inf, np.nan, 1e308])
def test_events(function, special):
    """Warnings come in NumPy's order, at its lines, whether the function is left or not."""
    x = values(40)
    x[7] = special
    call = accel.compile(function)
    for where in [GOOD, *BAD, GOOD]:
        assert_same(function, call, x, TABLE, where, times=1)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_events_that_raise(function):
    x = values(40)
    x[7] = 0.0
    call = accel.compile(function)
    for where in [GOOD, *BAD]:
        with np.errstate(all="raise"):
            assert_same(function, call, x, TABLE, where, times=1)


def test_no_elements():
    check(guards_in_a_loop, np.zeros(0), TABLE, GOOD)
    check(stored_before_use, np.zeros(0), TABLE, GOOD)


@pytest.mark.parametrize(("function", "op"), [(looked_up, "log"), (stored_before_use, "sqrt"), (several_guards, "divide")])
def test_computed_after_the_guard(function, op):
    graph = accel.explain(accel.compile(function))(values(50), TABLE, GOOD).graph
    assert graph.count(f" = {op}(") > 1
    assert graph.index("branch(") < graph.index(f" = {op}(")
