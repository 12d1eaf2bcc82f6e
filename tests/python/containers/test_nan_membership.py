"""`in`, `==` of lists and tuples, sets, list.index and list.count take a NaN for equal to itself when it is the same object."""

import numpy as np
import pytest
from support.outcome import assert_same

import accel

NAN = float("nan")
OTHER = float("nan")


def of_an_argument(x, items, a):
    return x in items, x not in items, a * 2


def of_constants(x, a):
    return x in (1.0, np.nan), x in {1.0, np.nan}, a * 2


def of_a_merged_number(a, k):
    v = a[0]
    w = v if k > 2 else 1.0
    return w in [v, 2.0], w in (3.0, v), a * 2


def of_what_float_gives(x, a):
    return [float(x)] == [x], (+x, 1) != (x, 1), [x + 0.0] == [x], a * 2


def of_arguments(x, y, a):
    return [x] == [y], (x, 1) == (y, 1), len({x, y}), [x, y].index(y), [x, y].count(x), a * 2


ONES = np.ones(3)
NUMBERS = [NAN, OTHER, 1.0, np.float64(NAN), np.float32(NAN), complex(NAN, 1), 2]


@pytest.mark.parametrize("x", NUMBERS, ids=repr)
def test_the_same_object(x):
    calls = {f: accel.compile(f) for f in (of_an_argument, of_constants, of_what_float_gives, of_arguments)}
    for _ in range(3):
        for items in ([1.0, x], (x, 3.0), [OTHER], [NAN], [], [complex(NAN, 1)]):
            assert_same(of_an_argument, calls[of_an_argument], x, items, ONES)
        assert_same(of_constants, calls[of_constants], x, ONES)
        assert_same(of_what_float_gives, calls[of_what_float_gives], x, ONES)
        for y in NUMBERS:
            assert_same(of_arguments, calls[of_arguments], x, y, ONES)
    assert accel.stats(calls[of_arguments])["compiled"] > 0


def test_merged_numbers():
    call = accel.compile(of_a_merged_number)
    for a in (ONES, np.array([NAN, 2.0])):
        for k in (1, 3, 1, 3):
            assert_same(of_a_merged_number, call, a, k)
    assert accel.stats(call)["compiled"] > 0
