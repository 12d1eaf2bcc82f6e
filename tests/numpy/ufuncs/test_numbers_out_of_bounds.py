"""Python's numbers that a dtype does not hold: NumPy's errors, whatever the way by which they get there."""

import numpy as np
import pytest
from support.compiled import facts
from support.outcome import assert_same

import accel


def as_scalar(a, x):
    return a.dtype.type(x)


def as_array(a, x):
    return np.array(x, dtype=a.dtype), np.array([1, x], dtype=a.dtype)


def under_mask(a, x):
    a[a > 1] = x


def at_indices(a, x):
    a[np.array([0, 1])] = x


def put(a, x):
    np.put(a, [0], x)


def putmask(a, x):
    np.putmask(a, a > 1, x)


def flat(a, x):
    a.flat = x


def part_of_flat(a, x):
    a.flat[:2] = [x, 1]


def inserted(a, x):
    return np.insert(a, 1, x)


def initial(a, x):
    return np.max(a, initial=x), np.sum(a, initial=x)


def diagonal(a, x):
    np.fill_diagonal(a.reshape(2, 2), x)


def filled(a, x):
    return np.full(3, x, a.dtype), np.full_like(a, x)


FUNCTIONS = [each for each in list(globals().values()) if getattr(each, "__module__", "") == __name__]


@pytest.mark.parametrize(
    ("function", "dtype"),
    [(each, dtype) for k, each in enumerate(FUNCTIONS) for dtype in (np.uint8, (np.int64, np.float32)[k % 2])],
)
def test_floats(function, dtype):
    call = accel.compile(function)
    a = np.array([3, 0, 1, 5], dtype)
    for x in (2.5, 300.0, -1.0, -0.5, 1e30, 3.0, np.inf, np.nan):
        assert_same(function, call, a, x, times=2)
        assert_same(function, call, a, np.float64(x), times=1)
    assert facts(call)["compiled"] > 0


def equal(a, x):
    return a == x


def less(a, x):
    return a < x


def greater_of_both(a, x):
    return max(x, a[0])


def both(a, x):
    return np.logical_and(a, x), np.logical_not(x)


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint64, np.float64])
@pytest.mark.parametrize("function", [equal, less, greater_of_both, both, filled])
def test_ints(function, dtype):
    call = accel.compile(function)
    a = np.array([1, 0, 1, 0], dtype)
    for x in (1, 2**63, 2**64, -(2**63) - 1, 10**400, 0):
        assert_same(function, call, a, x, times=2)
    assert facts(call)["compiled"] > 0


def joined(x, y):
    return np.array([x, y]), np.sum([x, y])


def test_ints_that_only_unsigned_dtypes_hold():
    call = accel.compile(joined)
    for x, y in (
        (np.uint64(3), 2**63),
        (2**63, np.uint64(3)),
        (2**63, 2**64 - 1),
        (2**63, 1),
        (2**63, np.int8(1)),
        (1, 2),
        (1, 2),
    ):
        assert_same(joined, call, x, y)
    assert facts(call)["compiled"] > 0


def between(x, y):
    return np.arange(x, y)


def up_to(y):
    return np.arange(y), np.arange(0, y, 2)


def test_ranges_between_narrow_integers():
    call = accel.compile(between)
    for x, y in ((-3, 4), (100, 127), (-100, 100), (5, 3)):
        for a, b in ((np.int8(x), np.int8(y)), (np.int8(x), y), (x, np.int8(y)), (np.int16(x), np.int8(y))):
            assert_same(between, call, a, b, times=2)
    for a, b in ((np.uint8(250), 255), (np.uint8(250), 300), (np.uint8(5), np.uint8(9)), (2, np.uint16(7)), (-2, np.uint16(7))):
        assert_same(between, call, a, b, times=2)
    assert facts(call)["compiled"] > 0
    call = accel.compile(up_to)
    for y in (np.int8(100), np.uint8(200), np.int32(7), np.uint64(9)):
        assert_same(up_to, call, y)
    assert facts(call)["compiled"] > 0
