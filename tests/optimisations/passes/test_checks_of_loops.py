"""Checks that hold in each round of a loop are not made; those that may fail are, and NumPy's error comes where NumPy
raises it.
"""

import numpy as np
import pytest
from support.compiled import facts
from support.differential import sample
from support.outcome import assert_same
from support.whole_programs import load

import accel

insertion_sort = load("short_iteration").insertion_sort


def ways_out(call, *arguments):
    """How many places of the compiled code go to the interpreter."""
    return accel.explain(call)(*arguments).graph.count("    leave ")


def positions(x, y):
    """Where the numbers of y are to be put into x, which is sorted."""
    found = np.zeros(len(y), dtype=np.int64)
    for k in range(len(y)):
        low, high = 0, len(x)
        while low < high:
            middle = (low + high) // 2
            if x[middle] < y[k]:
                low = middle + 1
            else:
                high = middle
        found[k] = low
    return found


def position(x, value):
    found, low, high = -1, 0, len(x) - 1
    while low <= high:
        middle = (low + high) // 2
        if x[middle] < value:
            low = middle + 1
        elif x[middle] > value:
            high = middle - 1
        else:
            found, low = middle, high + 1
    return found, low


def halves(x, value):
    low, high = 0, len(x) - 1
    while high - low > 1:
        middle = low + (high - low) // 2
        if x[middle] < value:
            low = middle
        else:
            high = middle
    return low + len(x)


def from_both_ends(x):
    i, j = 0, len(x) - 1
    while i < j:
        x[i], x[j] = x[j], x[i]
        i += 1
        j -= 1
    return x


def every_second(x):
    i = 0
    total = x[:0].sum()
    while i < len(x):
        total += x[i]
        i += 2
    return total


def runs(x):
    """The beginnings of what is equal side by side."""
    starts = np.zeros(len(x), dtype=np.int64)
    i = 0
    while i < len(x):
        starts[i] = 1
        j = i + 1
        while j < len(x) and x[j] == x[i]:
            j += 1
        i = j
    return starts


def trickle(x):
    for i in range(len(x)):
        j = i
        while j > 0 and x[j - 1] > x[j]:
            x[j - 1], x[j] = x[j], x[j - 1]
            j = j - 1
    return x


ALWAYS = [insertion_sort, from_both_ends, every_second, runs, trickle]


@pytest.mark.parametrize("function", ALWAYS)
def test_none_needed(function):
    call = accel.compile(function, fullgraph=True)
    for n in (9, 1, 2, 30, 0, 8):
        assert_same(function, call, np.round(sample(n), 1))
    assert ways_out(call, sample(9)) == 0


@pytest.mark.parametrize("function", [position, halves])
def test_binary_search(function):
    call = accel.compile(function, fullgraph=True)
    for n in (9, 2, 1, 30, 0, 8):
        x = np.sort(sample(n))
        for value in (*x[:4], -1e9, 1e9, 0.0):
            assert_same(function, call, x, value)
    assert ways_out(call, np.sort(sample(9)), 0.5) == 0


def test_binary_searches():
    call = accel.compile(positions, fullgraph=True)
    for n in (9, 1, 30, 0):
        assert_same(positions, call, np.sort(sample(n)), sample(7, seed=1))
    assert ways_out(call, np.sort(sample(9)), sample(7)) == 0


def one_too_far(x):
    j = 0
    while j <= len(x):
        x[j] += 1
        j += 1
    return x


def past_the_start(x):
    j = len(x) - 1
    while True:
        x[j] *= 2
        j -= 1
        if x[j] > 1e3:
            return x


def doubled(x):
    j = 1
    while j < 2 * len(x):
        x[j] += j
        j *= 2
    return x


def by_steps(x, step):
    j = 0
    for _ in range(len(x)):
        x[j] += 1
        j += step
    return x


def swapped(x):
    i, j = 0, 2
    for k in range(2 * len(x)):
        x[i] += k
        i, j = j, i + 1
    return x


def narrow(x, k):
    j = np.int8(k)
    for _ in range(len(x)):
        x[j] += 1
        j = np.int8(j + np.int8(1)) if j < 127 else np.int8(-128)
    return x


def by_data(x, jumps):
    j = 0
    for k in range(len(jumps)):
        x[j] += 1
        j = j + jumps[k]
    return x


@pytest.mark.parametrize("function", [one_too_far, past_the_start, doubled, swapped])
def test_may_fail(function):
    call = accel.compile(function)
    for n in (9, 1, 2, 0, 30):
        assert_same(function, call, sample(n))
    assert facts(call)["compiled"] > 0


@pytest.mark.parametrize("step", [1, 0, 2, -1, 5, -9, 2**62, -(2**62)])
def test_steps(step):
    call = accel.compile(by_steps)
    call(sample(4), 1)
    for n in (7, 1, 3, 0):
        assert_same(by_steps, call, sample(n), step)
    assert facts(call)["compiled"] > 0


@pytest.mark.parametrize("start", [0, 1, -1, 120, -128])
def test_narrow_integers(start):
    call = accel.compile(narrow)
    for n in (200, 128, 300, 3):
        assert_same(narrow, call, sample(n), start)
    assert facts(call)["compiled"] > 0


def test_data_decides():
    call = accel.compile(by_data)
    for jumps in ([1, 1, 1], [1, -2, 1], [3, 3, 3], [-1, -1, -9], [2**40, 1], [5, -5, 0]):
        for dtype in (np.int64, np.int32):
            if max(map(abs, jumps)) < 2**31 or dtype is np.int64:
                assert_same(by_data, call, sample(6), np.array(jumps, dtype=dtype))
    assert facts(call)["compiled"] > 0


def counted(x):
    """A counter that overflows nowhere, and one that may."""
    few, many = 0, 1
    for i in range(len(x)):
        few += 2
        many *= 3
        x[i] = few + many % 7
    return x


def test_overflow():
    call = accel.compile(counted)
    for n in (5, 30, 45, 100):
        assert_same(counted, call, sample(n))
    assert facts(call)["compiled"] > 0


def test_types_of_exits():
    """Exits that are left have their own results, also after those that are not needed any more."""

    def function(x, values):
        i = 1
        while i < len(x) and x[i - 1] >= 0:
            x[i] += x[i - 1]
            i += 1
        total = 0.0
        for k in range(3):
            total += values[k + i]
        return total, i

    call = accel.compile(function)
    for n, m in ((5, 20), (5, 4), (3, 5), (1, 3), (0, 2)):
        assert_same(function, call, np.abs(sample(n)), sample(m, seed=2))
    assert facts(call)["compiled"] > 0


@pytest.mark.parametrize("source, target", [("i1", "u2"), ("i1", "u4"), ("i2", "u4"), ("u1", "i2"), ("u2", "i8"), ("i1", "i2")])
def test_casts(source, target):
    """A negative number is a large one where there are no signs."""

    def function(a, values, i):
        k = int(values[i].astype(target))
        return a[k] if k >= 0 else -a[k]

    call = accel.compile(function)
    for number in (1, 100, -1, -100, 127):
        if number >= 0 or source[0] == "i":
            assert_same(function, call, np.arange(128), np.array([number], dtype=source), 0)
    assert facts(call)["compiled"] > 0


def test_lengths_without_memory():
    """What is repeated, and what has no elements, may be of any length."""

    def repeated(a, k):
        x = int(k[0])
        return x * 4096 + int(a[x]) if 0 <= x < len(a) else 0

    def empty(a, k):
        x = int(k[0])
        t = a[0].sum()
        return (x * 4096, t) if 0 <= x < len(a) else 0

    call = accel.compile(repeated)
    for length, number in ((2**60, 2**52), (2**60, 5), (9, 8), (9, 9)):
        arguments = np.broadcast_to(np.int8(1), (length,)), np.array([number])  # too long to be copied
        assert call(*arguments) == repeated(*arguments)
    assert facts(call)["compiled"] > 0
    call = accel.compile(empty)
    for length, number in ((2**60, 2**59), (2**60, 5), (9, 8)):
        arguments = np.zeros((length, 0), np.int8), np.array([number])
        assert call(*arguments) == empty(*arguments)
    assert facts(call)["compiled"] > 0


def last_number(b, start):
    i = 0
    for i, _ in enumerate(b, start):  # noqa: B007
        pass
    return i


def below(a, b):
    start, total = int(b[0]), 0
    if start >= 0:
        for i, _ in enumerate(a, start):
            if i < len(b):
                total += int(b[i])
    return total


@pytest.mark.parametrize("start", [2**63 - 1, 2**63 - 3, 2**62, 2**40, -(2**63), 0, 1])
def test_enumerate_at_the_end(start):
    call = accel.compile(last_number)
    for first in (1, start, 5, start):
        assert_same(last_number, call, np.arange(4), first)
    call = accel.compile(below)
    for first in (1, start, 0):
        assert_same(below, call, np.arange(3), np.array([first, 1, 7]))
    assert facts(call)["compiled"] > 0
