"""What capture works out by itself: only what gives no warnings, fits, and is short."""

import math
import warnings

import numpy as np
import pytest
from support.compiled import facts
from support.differential import check
from support.outcome import assert_same

import accel


def divided(x):
    if x > 1000:
        return divmod(np.float64(5), 0)
    return x * 2


def rounded(x):
    if x > 1000:
        return round(np.float16(65000), -5)
    return x * 2


def real_part(x):
    if x > 1000:
        return math.sqrt(np.complex128(1 + 2j))
    return x * 2


def rounded_in_a_loop(x):
    found = []
    for _ in range(3):
        found.append(round(np.float64(1.5e308), -308) + x)
    return found


@pytest.mark.parametrize("function", [divided, rounded, real_part, rounded_in_a_loop])
@pytest.mark.parametrize("x", [2.0, 2000.0])
def test_capture_gives_no_warnings(function, x):
    call = accel.compile(function)
    assert_same(function, call, np.float64(x))
    assert facts(call)["compiled"] > 0


def test_filters_are_as_they_were():
    filters = warnings.filters
    before = list(filters)
    accel.compile(divided)(np.float64(2))
    assert warnings.filters is filters and list(filters) == before


def products(n):
    for _ in range(n):
        y = np.int64(2**40) * np.int64(2**40)
    return y


def differences(n):
    for _ in range(n):
        y = np.int64(2**62) - np.int64(-(2**63))
    return y


def powers_of_constants(n):
    k = np.int64(2**62)
    out = []
    while n > 0:
        n -= 1
        out.append(k * 4)
    return out


@pytest.mark.parametrize("function", [products, differences, powers_of_constants])
def test_overflow_of_known_numbers(function):
    call = accel.compile(function)
    assert_same(function, call, 3)
    with np.errstate(over="ignore"):
        assert_same(function, call, 3, times=2)
    assert facts(call)["compiled"] == 4, "all but the first, which finds out that there are events"


def huge_multiples(a):
    return len(a) * 2**40 * 2**40, a.shape[0] * 2**31 * 2**31 * 2**31, a.sum()


def test_python_ints_beyond_64_bits():
    call = accel.compile(huge_multiples)
    for n in (3, 5, 0):
        assert_same(huge_multiples, call, np.ones(n))
    assert facts(call)["compiled"] > 0


@pytest.mark.timeout(60)
def test_long_ranges_are_not_worked_out():
    def function(x):
        if x > 1000:
            return sum(range(10**9)) + max(range(10**9)) + list(range(10**8))[0] + sorted(range(10**8))[1]
        return x * 2

    call = accel.compile(function)
    assert_same(function, call, np.float64(1))
    assert facts(call)["compiled"] > 0


def gathered(u, s, order):
    order = order[::-1]
    return u[:, order] + s[order]


def sums_of_gathered(u, s, order):
    order = order[::-1]
    return (u[:, order] * s[order]).sum(axis=1), np.exp(s[order]).sum()


@pytest.mark.parametrize("function", [gathered, sums_of_gathered])
def test_gathers_along_an_axis_without_elements(function):
    call = accel.compile(function)
    for n in (4, 0, 1, 3):
        assert_same(function, call, np.ones((6, n)), np.arange(float(n)), np.arange(n))
    check(function, np.ones((6, 0)), np.zeros(0), np.arange(0))


def resized(n):
    x = np.zeros(3)
    x.resize(n)
    return x + 1


class Rows:
    def __init__(self):
        self.rows = np.zeros(2)

    def grow(self):
        self.rows.resize(len(self.rows) * 2)
        return len(self.rows)


def grown(value):
    rows = Rows()
    n = rows.grow()
    rows.rows[n - 1] = value
    return rows.rows * 2


@pytest.mark.parametrize("function,argument", [(resized, 5), (grown, 2.0)])
def test_arrays_are_resized_where_they_have_one_name(function, argument):
    assert_same(function, accel.compile(function), argument)


def test_structured_dtypes_are_made_anew():
    """Their names can be set: what one call gives is no other call's."""

    def table(x):
        return np.dtype([("a", float), ("b", int)]), np.promote_types(np.dtype("i4,i4"), np.dtype("i8,i8")), x * 2.0

    call = accel.compile(table)
    for _ in range(3):
        one, other, doubled = call(np.ones(3))
        assert one.names == ("a", "b") and other.names == ("f0", "f1") and np.array_equal(doubled, [2, 2, 2])
        one.names, other.names = ("c", "d"), ("g", "h")
    assert call(np.ones(3))[0] is not call(np.ones(3))[0]
