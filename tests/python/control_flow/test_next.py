"""next() of iterators over arrays and ranges, whose lengths are sizes, before loops over what is left and within loops."""

import numpy as np
import pytest
from support.compiled import facts
from support.outcome import assert_same

import accel


def first_apart(x):
    it = iter(x)
    first = next(it)
    total = 0.0
    for v in it:
        total += v * first
    return total


def differences(x):
    it = iter(x)
    before = next(it)
    out = []
    for v in it:
        out.append(v - before)
        before = v
    return out


def of_a_range(x):
    it = iter(range(len(x)))
    i, j = next(it), next(it)
    total = 0
    for k in it:
        total += k * i + j
    return total, x + 1


def with_a_default(x):
    it = iter(x)
    return next(it, None), x * 2


def of_pairs(x):
    it = zip(x, x[1:])
    a, _b = next(it)
    total = 0.0
    for c, d in it:
        total += c * d + a
    return total


def of_enumerate(x):
    it = enumerate(x, 5)
    i, v = next(it)
    for j, w in it:
        i += j
        v = v + w
    return i, v


def in_a_while_loop(x):
    it = iter(x)
    n = 0
    while n < len(x):
        n += 1
        if next(it) > 3:
            break
    rest = 0.0
    for v in it:
        rest += v
    return n, rest


def more_than_there_are(x):
    it = iter(x)
    total = 0.0
    for _ in range(3):
        total += next(it)
    return total


WHOLE = [first_apart, differences, of_a_range, with_a_default, of_pairs, of_enumerate, in_a_while_loop]


@pytest.mark.parametrize("function", [*WHOLE, more_than_there_are], ids=lambda f: f.__name__)
def test_all_lengths(function):
    call = accel.compile(function)
    for n in (8, 5, 3, 50):
        assert_same(function, call, np.arange(float(n)), times=2)
    assert facts(call)["interpreted"] == facts(call)["side_exits"] == 0
    assert facts(call)["compiles"] <= 2
    for n in (2, 1, 0):  # StopIteration among them
        assert_same(function, call, np.arange(float(n)), times=2)
