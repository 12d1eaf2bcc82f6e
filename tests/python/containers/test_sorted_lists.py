"""sorted() and list.sort() of lists of numbers whose length is known at run time only."""

import numpy as np
import pytest
from support.compiled import facts
from support.differential import check, check_sizes
from support.outcome import assert_same

import accel


def of_a_comprehension(x):
    return sorted([v * 2 for v in x])


def of_elements(x):
    return sorted(x.tolist()), sorted(x.tolist(), reverse=True)


def median(x):
    items = sorted([float(v) for v in x])
    n = len(items)
    return items[n // 2] if n % 2 else (items[n // 2 - 1] + items[n // 2]) / 2


def in_place(x):
    items = []
    for v in x:
        items.append(v if v > 2 else -v)
    items.sort()
    items.append(items[0])
    smallest = items[:2]
    items.sort(reverse=True)
    return items, smallest


def of_ints(x):
    items = [int(v) % 5 for v in x]
    ordered = sorted(items, reverse=True)
    items.sort()
    return items, ordered


def again_and_again(x):
    kept = []
    total = 0.0
    for v in x:
        kept.append(float(v))
        kept.sort()
        total += kept[len(kept) // 2]
    return total, kept


FUNCTIONS = [of_a_comprehension, of_elements, median, in_place, of_ints, again_and_again]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_all_lengths(function):
    rng = np.random.default_rng(3)
    check_sizes(function, *[(rng.integers(0, 9, n).astype(float),) for n in (12, 7, 31)])


def test_zeros_keep_their_order():
    check(of_elements, np.array([0.0, -0.0, 1.0, -0.0, 0.0, -1.0]))


@pytest.mark.parametrize("function", FUNCTIONS[:4], ids=lambda f: f.__name__)
def test_nan_is_left_to_python(function):
    call = accel.compile(function)
    assert_same(function, call, np.arange(5.0), times=2)
    assert facts(call)["compiled"] == 2
    assert_same(function, call, np.array([3.0, np.nan, 1.0, 2.0, np.nan, 0.0]), times=2)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_none_and_one(function):
    for n in (0, 1):
        assert_same(function, accel.compile(function), np.arange(float(n)), times=2)
