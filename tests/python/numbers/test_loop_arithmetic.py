"""Remainders, quotients and limits of a loop's number: each is what it is in each round."""

import numpy as np
import pytest
from support.compiled import facts
from support.differential import check, sample
from support.outcome import assert_same

import accel


def every(k):
    def function(n, first):
        found = []
        for i in range(first, n):
            if i % k == 0:
                found.append(i)
            if (i + 1) % k == 0:
                found.append(-i)
            if i // k == 2:
                found.append(1000 + i)
        return found

    return function


@pytest.mark.parametrize("k", [1, 2, 3, 5, 7, 10])
def test_every(k):
    function = every(k)
    call = accel.compile(function)
    for n, first in ((25, 1), (23, 0), (40, 2), (3, 5), (30, -12)):
        assert_same(function, call, n, first)
    assert facts(call)["compiled"] > 0


def snapshots(x, every):
    kept = []
    for step in range(1, len(x) + 1):
        x[step - 1] *= step
        if step % every == 0:
            kept.append(x.sum())
    return kept


def halved(x):
    rate, rates = 1.0, np.zeros(len(x))
    for epoch in range(len(x)):
        if epoch % 5 == 0:
            rate *= 0.5
        rates[epoch] = rate * (7 if epoch % 6 == 0 else 1)
    return rates


def test_steps_of_programs():
    for every in (2, 5, 10):
        check(snapshots, sample(33), every)
    check(halved, sample(33))


def folded(x, n):
    """Below 0 and beyond the end for some n: NumPy's error, and no element elsewhere."""
    for i in range(n):
        j = min(i, 5) - 2 * max(i - 4, 0)
        if j >= 0:
            x[j] = 7.0 + i
    return x


def limits(n):
    found = []
    for i in range(n):
        if 2 * min(i, 10) - i < 0:
            found.append(i)
        if i + 3 - 2 * max(0, i - 10) < 0:
            found.append(-i)
        if 3 * (i // 2) - i > 1 or i - 4 * (i // 3) < -3:
            found.append(1000 + i)
        if max(i % 7, 3) == 3:
            found.append(2000 + i)
    return found


def rows(a):
    """A slice whose length is a remainder."""
    out = np.zeros_like(a)
    for i in range(len(a)):
        out[i, : i % 4] = a[i, : i % 4] + i
        out[i, min(i, 3) :] -= 1
    return out


def test_limits():
    for function, sizes in ((limits, (3, 9, 30, 60)),):
        call = accel.compile(function)
        for n in sizes:
            assert_same(function, call, n)
        assert facts(call)["compiled"] > 0
    call = accel.compile(folded)
    for n in (3, 9, 30, 60):
        assert_same(folded, call, np.zeros(6), n)
    assert_same(folded, call, np.zeros(2), 9)
    assert facts(call)["compiled"] > 0
    check(rows, sample((11, 5)))


def test_numbers_of_the_call():
    """The divisor is known at run time only."""

    def function(n, k):
        total = 0
        for i in range(1, n):
            if i % k == 0:
                total += i
        return total

    call = accel.compile(function)
    for n, k in ((22, 5), (22, 7), (30, 2), (4, 9), (9, -4), (9, 1)):
        assert_same(function, call, n, k)
    assert_same(function, call, 9, 0)
    assert facts(call)["compiled"] > 0


def test_numbers_made_of_themselves_twice_in_each_turn():
    def function(a, b, k):
        n = 0
        found = []
        for _ in range(0, len(a), 2):
            for y in reversed(range(len(a))):
                found.append(b[y])
                b = a.copy()
                n = (n * 3 + (n + k) % 7) % 11
        return n

    for size in (4, 9):
        check(function, sample(size, "float32"), sample(size, seed=1), 3)
