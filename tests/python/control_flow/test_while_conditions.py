"""Loops that go back to their start from a branch: `while not`, and what ends a round in the middle."""

import numpy as np
import pytest
from support.differential import check, check_at_exits, sample

X = np.abs(sample((6,))) + 4


def while_not(x):
    while not x.sum() < 1:
        x = x * 0.5
    return x


def until_done(x):
    done, rounds = False, 0
    while not done:
        x = x * 0.5
        rounds += 1
        done = x.sum() < 1
    return x, rounds


def type_that_settles(x, tolerance):
    error = np.inf
    while not error < tolerance:
        new = 0.5 * (x + 1)
        error = np.abs(new - x).max()
        x = new
    return x, error


def neither(x, most):
    k = 0
    while not (x.sum() < 1 or k >= most):
        x = x * 0.7
        k += 1
    return x, k


def both(x, most):
    k = 0
    while not (x.sum() < 1 and k >= most):
        x = x * 0.7
        k += 1
    return x, k


def nested(x, n):
    for k in range(n):
        y = x * (k + 1)
        while not y.max() < 1:
            y = y * 0.5
        x = x + y
    return x


def not_in_not(x, y):
    while not x.sum() < 1:
        x = x * 0.5
        while not y.sum() < x.sum():
            y = y * 0.3
    else:
        x = x + 1
    return x, y


def last_branch(x):
    total = 0.0
    for value in x:
        total += value
        if value > 5:
            total -= 1
    return total


def last_branches(x):
    total, rounds = 0.0, 0
    while not total > 20:
        rounds += 1
        for value in x:
            if not value < 5:
                total += value
                if rounds % 2:
                    total += 0.5
    return total, rounds


def jumps(x, n):
    k = total = 0
    while True:
        k += 1
        if not k < n:
            break
        if x[k % 6] > 5:
            continue
        total += k
        if not total % 3:
            total += 1
    return total, k


def returns(x, n):
    while not x.sum() < 1:
        x = x * 0.5
        if not n > 0:
            return x, n
        n -= 1
    return x, -1


CASES = [(while_not, ()), (until_done, ()), (type_that_settles, (1e-3,)), (neither, (3,)), (neither, (100,)), (both, (3,)),
         (both, (30,)), (nested, (4,)), (not_in_not, (X * 2,)), (last_branch, ()), (last_branches, ()), (jumps, (17,)),
         (returns, (2,)), (returns, (20,))]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].__name__)
def test_captured_whole(case):
    function, rest = case
    check(function, X, *rest)
    check(function, X[::-1] + 1, *rest)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].__name__)
def test_exits(case):
    function, rest = case
    check_at_exits(function, X, *rest, most=40)
