"""Lists that are extended by arrays and by lists whose length is known at run time only."""

import numpy as np
import pytest
from support.compiled import facts
from support.differential import check, check_sizes
from support.outcome import assert_same

import accel


def by_an_array(x):
    items = []
    items.extend(x)
    items.extend(x[::2] * 2)
    return items


def by_elements(x):
    items = [0.5]
    items.extend(x.tolist())
    items.append(1.5)
    return items


def by_itself(x):
    items = [v * 2 for v in x]
    items.extend(items)
    items += items
    return items


def added(x):
    a, b = [v * 2 for v in x], [v for v in x if v > 2]
    c = a + b
    a.append(x[0])
    return a, b, c, [x[1]] + b, b + [x[1], x[0]]


def unpacked(x):
    a = x.tolist()
    return [*a, 7.0, *a]


def tuples(x):
    a = []
    for i in range(len(x)):
        a.append((i, x[i]))
    b = [(i, v) for i, v in a if v > 3]
    b.extend(a)
    return a + b


def in_a_loop(x):
    out = []
    for i in range(4):
        out.extend(x[i:])
        out += [v for v in x if v > i]
    return out, len(out)


FUNCTIONS = [by_an_array, by_elements, by_itself, added, unpacked, tuples, in_a_loop]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_all_lengths(function):
    check_sizes(function, *[(np.arange(float(n)),) for n in (60, 12, 35)])


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_few(function):
    """Also where a version for many came first, and where nothing is left to be compiled."""
    call = accel.compile(function)
    assert_same(function, call, np.arange(20.0), times=2)
    for n in (0, 1, 2, 3):
        assert_same(function, call, np.arange(float(n)), times=2)
        assert_same(function, accel.compile(function), np.arange(float(n)), times=2)
    assert facts(call)["compiled"] > 0


def test_changes_after_copies():
    def function(x):
        a = [v for v in x]
        b = []
        b.extend(a)
        c = a + b
        a[0] = x[1]
        x[2] = 9
        return a, b, c, x

    check(function, np.arange(40.0))


def by_few(x):
    items = [*x[:2], x[2]]
    items.extend(x[3:5])
    return max(*x[:3]), items, np.hypot(*x[1:3])


def test_few_known_elements_are_items():
    check_sizes(by_few, (np.arange(9.0),), (np.arange(30.0),))
