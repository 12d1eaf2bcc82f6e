"""Branches that choose between numbers and do nothing else."""

import math

import numpy as np
import pytest
from support.compiled import facts
from support.differential import check, check_at_exits, sample
from support.outcome import assert_same
from support.whole_programs import load

import accel

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


def trajectory(n, most):
    """Steps of Collatz; a number that outgrows 64 bits does so on one of the ways."""
    steps = 0
    while n != 1 and steps < most:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return n, steps


def two_checks(x, scale):
    total = 0
    for value in x:
        v = int(value)
        total = total - v * scale if v > 0 else (total + scale) * 2
    return total


def divided(x, by):
    """Nobody divides by what may be 0 where the code does not."""
    total = 0
    for value in x:
        v = int(value)
        total = total * 3 + v // by if by != 0 else total + v
    return total


def nested_checks(x):
    a = b = 1
    for value in x:
        v = int(value)
        if v > 0:
            a, b = a * v, b + 1
        else:
            a, b = a - v * 5, b * 2
    return a, b


@pytest.mark.parametrize("n", [27, 1, 97, 2**62, 2**62 - 1, 2**61 + 1, -5, 0])
def test_numbers_that_outgrow(n):
    call = accel.compile(trajectory)
    for start in (7, n, 9, n):
        assert_same(trajectory, call, start, 200)
    assert facts(call)["compiled"] > 0


@pytest.mark.parametrize("values", [[1, 2, 3], [-1, -1, -1], [5, -5] * 20, [2**40, -1, 2**40], [0] * 70, [2**31] * 3])
def test_checks_on_both_ways(values):
    x = np.array(values, dtype=np.int64)
    for function, scales in ((two_checks, (3, 2**40, -(2**61))), (divided, (2, 0, -1)), (nested_checks, (None,))):
        call = accel.compile(function)
        for scale in scales:
            arguments = (x,) if scale is None else (x, scale)
            assert_same(function, call, *arguments)
        assert facts(call)["compiled"] > 0


def test_no_branch_is_left():
    text = accel.explain(accel.compile(trajectory))(27, 200).graph
    assert "where(" in text


def test_checks_at_exits():
    check_at_exits(trajectory, 27, 20, most=40)
    check_at_exits(two_checks, np.arange(-3, 4), 5, most=40)
