"""Branches that choose between numbers and do nothing else."""

import math

import numpy as np
import pytest
from support.differential import check, check_at_exits, sample
from support.whole_programs import load

crc32 = load("short_elements").crc32


def signs(x):
    total = 0
    for value in x:
        total += 1 if value > 0 else -1
    return total


def halves(x, low, high):
    out = np.empty_like(x)
    for k in range(len(x)):
        old = x[k]
        new = high if old > 0.5 else low
        out[k] = new
    return out, math.copysign(1, new)


def two_at_once(x):
    best, place = 0, -1
    for k in range(len(x)):
        if x[k] > 2:
            best, place = k, 7
    return best, place


def three_at_once(n):
    a, b, c = 1, 2, 3
    for k in range(n):
        if k % 3 == 1:
            a, b, c = b, c, a
    return a, b, c


def greatest(values):
    most = -(10**6)
    for value in values:
        v = int(value)
        if v > most:
            most = v
    return most


def truths(x):
    count = 0
    for value in x:
        flag = value > 1 if value < 3 else False
        if not flag:
            count += 1
    return count


def of_nothing(x, n):
    if n > 3:
        pass
    else:
        pass
    return x + n


def unsigned_or_array(x, n):
    y = x if n > 3 else -x
    return y * 2


def chosen_steps(n):
    k = steps = 0
    while k < n:
        k += 2 if k & 4 else 1
        steps += 1
    return k, steps


def complex_choice(x, n):
    w = 1j if n > 2 else -1j
    return x * w


@pytest.mark.parametrize("size", [1, 5, 300])
def test_integers(size):
    data = np.random.default_rng(size).integers(0, 256, size, dtype=np.uint8)
    check(crc32, data)
    check(signs, sample(size))
    check(greatest, data)
    check(truths, sample(size))


@pytest.mark.parametrize("low, high", [(0.0, 255.0), (-0.0, 0.0), (math.nan, 1.5), (-math.inf, math.inf), (5e-324, -1e308)])
def test_floats(low, high):
    check(halves, sample(50), low, high)

    def with_constants(x):
        out = np.empty_like(x)
        for k in range(len(x)):
            new = 255.0 if x[k] > 0.5 else -0.0
            out[k] = new
        return out, new

    check(with_constants, sample(50))


def test_several():
    check(two_at_once, sample(40))
    check(three_at_once, 10)
    check(chosen_steps, 100)


@pytest.mark.parametrize("n", [2, 5])
def test_outside_of_loops(n):
    for function in (of_nothing, unsigned_or_array, complex_choice):
        check(function, sample(20), n)


def test_at_exits():
    check_at_exits(crc32, np.arange(5, dtype=np.uint8), most=40)
    check_at_exits(chosen_steps, 12, most=40)
