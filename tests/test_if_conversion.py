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


def sorted_by_swaps(a):
    """Stores that are made or not, and a count of them."""
    swaps = 0
    for i in range(len(a)):
        swapped = False
        for j in range(len(a) - 1 - i):
            if a[j] > a[j + 1]:
                a[j], a[j + 1] = a[j + 1], a[j]
                swaps += 1
                swapped = True
        if not swapped:
            break
    return a, swaps


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
        call = accel.compile(sorted_by_swaps)
        assert_same(sorted_by_swaps, call, a)
        assert_same(sorted_by_swaps, call, np.sort(a))
        assert facts(call)["compiled"] > 0 or len(a) < 2


def test_special_numbers():
    call = accel.compile(sorted_by_swaps)
    for k in range(len(SPECIAL)):
        assert_same(sorted_by_swaps, call, np.roll(SPECIAL, k))
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
    assert_same(sorted_by_swaps, accel.compile(sorted_by_swaps), a)


def test_stores_at_exits():
    check_at_exits(sorted_by_swaps, sample(5), most=40)
    check_at_exits(in_order, sample(5), sample(5, seed=1), most=40)


def test_checks_at_exits():
    check_at_exits(trajectory, 27, 20, most=40)
    check_at_exits(two_checks, np.arange(-3, 4), 5, most=40)
