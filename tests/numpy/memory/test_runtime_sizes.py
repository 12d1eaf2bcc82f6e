"""Sizes that are known at run time only, where NumPy raises unless they fit: compiled code checks them."""

import numpy as np
import pytest
from support.compiled import facts
from support.differential import check, check_cases
from support.outcome import assert_same

import accel


def element_of_new_array(x, n, size):
    b = np.zeros(int(size))
    b[n] = 1
    b[n - 1] += x[n]
    return b


def element_of_table(x, n, size):
    a = np.zeros((1 << size, 2))
    a[1, 0] = 5
    a[n, 1] = x[0]
    return a


def up_to_where_it_ended(x, n, size):
    for k in range(len(x)):
        if x[k] > n:
            break
    y = np.zeros(k + 1)
    for i in range(k, -1, -1):
        y[i] = x[i]
    return y


def reshaped_selection(x, n, size):
    pairs = np.concatenate((x, x))
    return pairs[pairs > n].reshape(2, -1), pairs[pairs > n].reshape(2, (pairs > n).sum() // 2)


def products_of_selections(x, n, size):
    kept = x[x > n]
    return kept @ np.ones(len(kept)), np.outer(kept, kept) @ kept, np.stack([kept, kept * 2]), np.hstack((kept, x))


def last_row(x, n, size):
    a = np.repeat(x[:, None], 3, axis=1)[x > n]
    return a[len(a) - 1], a[0]


FUNCTIONS = [
    element_of_new_array,
    element_of_table,
    up_to_where_it_ended,
    reshaped_selection,
    products_of_selections,
    last_row,
]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_no_exit(function):
    x = np.arange(9.0)
    check_cases(function, [(x, 2, 4), (x, 1, 5), (x[:6], 3, 6)], lambda f, case: True)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_what_does_not_fit_raises(function):
    call = accel.compile(function)
    for case in ((2, 4), (4, 3), (8, 2), (-7, 3), (9, 1), (20, 2), (-9, 0)):
        assert_same(function, call, np.arange(9.0), *case, times=2)
    assert facts(call)["compiled"] > 0


def between(x, k):
    return np.clip(k, 0, len(x) - 2), k.clip(1, len(x) - 2), np.clip(k, 2 - len(x), 5), np.clip(k, -3, len(x) * 2 - 3)


def test_bounds_that_are_sizes():
    """clip compares them with the ends of int64."""
    call = check(between, np.arange(9.0), np.arange(-12, 14))
    for n in (3, 30, 5):
        assert_same(between, call, np.arange(float(n)), np.arange(-40, 40))


def next_to_the_ends(x, n):
    if n >= 2**63 - 1 or len(x) - 2 >= 2**63 - 1:
        return x + 1
    if n <= -(2**63) or len(x) - 2 <= -(2**63):
        return x - 1
    return x * 2


def test_numbers_next_to_the_ends_of_int64():
    call = accel.compile(next_to_the_ends)
    for n in (3, 2**63 - 1, -(2**63), 2**62, 0, -1, 2**63 - 2, -(2**63) + 1, 2**63 - 1):
        assert_same(next_to_the_ends, call, np.arange(5.0), n)
    assert facts(call)["compiled"] > 0
    assert facts(call)["interpreted"] == 0
