"""Stores to elements that a branch makes or leaves out."""

import math

import numpy as np
import pytest
from support.compiled import assert_all_compiled, facts
from support.differential import check_at_exits, sample
from support.outcome import assert_same
from support.whole_programs import load

import accel

bubble_sort = load("short_iteration").bubble_sort


def limited(a, low, high):
    count = 0
    for i in range(len(a)):
        if a[i] < low:
            a[i] = low
        if a[i] > high:
            a[i] = high
            count += 2
    return a, count


def counted_down(a, n):
    """A count that overflows on the way that is taken alone."""
    for i in range(len(a)):
        if a[i] > 0:
            a[i] = -a[i]
            n += 2**61
        else:
            n = n + 1
    return a, n


def in_order(a, b):
    """An exit before a store, one between stores."""
    k = 0
    for i in range(len(a)):
        x = a[i]
        y = b[i]
        if x > y:
            a[i] = y
            k += 2**60
            b[i] = x
    return a, b, k


SPECIAL = np.array([0.0, -0.0, np.nan, 1, -1, np.inf, -np.inf, 5e-324, 2, 1, 0, -0.0, np.nan])


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "uint8", "complex128", "float16"])
def test_stores_to_what_was_read(dtype):
    for a in (sample(30, dtype), sample(2, dtype, 1), sample(1, dtype), sample(0, dtype)):
        call = accel.compile(bubble_sort)
        assert_same(bubble_sort, call, a)
        assert_same(bubble_sort, call, np.sort(a))
        assert facts(call)["compiled"] > 0 or len(a) < 2


def test_special_numbers():
    call = accel.compile(bubble_sort)
    for k in range(len(SPECIAL)):
        assert_same(bubble_sort, call, np.roll(SPECIAL, k))
    call = accel.compile(limited)
    for low, high in ((-1.0, 1.0), (-0.0, 0.0), (math.nan, math.nan), (math.inf, -math.inf)):
        assert_same(limited, call, SPECIAL, np.float64(low), np.float64(high))
        assert_same(limited, call, sample(40), np.float64(low), np.float64(high))
    assert facts(call)["compiled"] > 0


@pytest.mark.parametrize("start", [0, 2**62, -(2**62), 2**63 - 3])
def test_exits_between_stores(start):
    call = accel.compile(counted_down)
    for n in (3, start, 5, start):
        assert_same(counted_down, call, sample(9), n)
        assert_same(counted_down, call, -np.abs(sample(9)), n)
    call = accel.compile(in_order)
    for n in (5, 40, 3):
        assert_same(in_order, call, sample(n), sample(n, seed=1))
    assert facts(call)["compiled"] > 0


def test_read_only_arguments():
    """What is not stored to may be read-only: nobody is told otherwise."""
    a = np.sort(sample(20))
    a.flags.writeable = False
    call = accel.compile(bubble_sort)
    assert_same(bubble_sort, call, a)
    assert_all_compiled(call)


def test_stores_at_exits():
    check_at_exits(bubble_sort, sample(5), most=40)
    check_at_exits(in_order, sample(5), sample(5, seed=1), most=40)


def least_of_the_last(a, b, on, limit):
    """The element that the last round writes is read in each."""
    total = 0.0
    for i in range(len(a)):
        if on:
            a[i] = min(limit, a[-1])
        total += b[i // 2] * 0.5
        b[i] = a[2 % len(a)]
    return a, b, total


def set_or_cleared(a, b, fixed):
    total = 0.0
    for i in range(len(a)):
        if b[0] < 3:
            a[i] = 1.0
        else:
            a[i] = 2.0
        total += b[i // 3]
        b[i] = a[fixed]
    return a, b, total


def in_some_rounds(a, b, fixed):
    total = 0.0
    for i in range(len(a)):
        if i % 2 == 0:
            a[i] = i
        total += b[i // 2]
        b[i] = a[fixed] + 1
    return a, b, total


@pytest.mark.parametrize("n", [1, 2, 3, 4, 7, 30])
def test_a_load_of_what_a_later_round_stores(n):
    calls = {f: accel.compile(f, fullgraph=True) for f in (least_of_the_last, set_or_cleared, in_some_rounds)}
    a, b = sample(n), sample(n, seed=1)
    for on in (0.5, 0.0):
        assert_same(least_of_the_last, calls[least_of_the_last], a, b, on, -4.0)
        assert_same(least_of_the_last, calls[least_of_the_last], a, b, on, 4.0)
    for fixed in {0, n // 2, max(0, n - 2), n - 1, -1}:
        assert_same(set_or_cleared, calls[set_or_cleared], a, b, fixed)
        assert_same(in_some_rounds, calls[in_some_rounds], a, b, fixed)
    for call in calls.values():
        assert facts(call)["side_exits"] == 0
