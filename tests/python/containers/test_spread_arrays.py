"""The rows of an array as arguments, one by one."""

import numpy as np
from support.compiled import facts
from support.differential import check, check_at_exits
from support.outcome import assert_same

import accel


def distance(p, i, j):
    return np.hypot(*(p[i] - p[j]))


def extremes(a):
    return np.maximum(*a), max(*a[:, 0]), np.stack([*a, a[0]]), np.vstack((*a,)), np.ix_(*a.astype(int))


def total(*numbers, start=0):
    return sum(numbers, start)


def totals(a):
    return total(*a), total(*a[1:], a[0], start=1)


def test_rows_as_arguments():
    check(distance, np.arange(10.0).reshape(5, 2) ** 2, 1, -1)
    check(extremes, np.arange(6.0).reshape(2, 3))
    check(extremes, np.arange(6.0).reshape(3, 2).T)
    check(totals, np.arange(12.0).reshape(4, 3))


def parts(a):
    first, *rest = a
    *_, last = a
    one, *middle, end = a.copy()
    return first, rest, last, len(middle), one + end


def test_rows_as_variables():
    call = check(parts, np.arange(5.0))
    check(parts, np.arange(12.0).reshape(4, 3))
    for count in (3, 2, 1, 0, 50):
        assert_same(parts, call, np.arange(float(count)))


def test_other_counts():
    call = accel.compile(totals)
    for count in (4, 3, 1, 40, 2, 0):
        assert_same(totals, call, np.arange(count * 2.0).reshape(count, 2))
    assert facts(call)["compiled"] > 0
    call = accel.compile(distance)
    for columns in (2, 3, 1):
        assert_same(distance, call, np.arange(4.0 * columns).reshape(4, columns), 0, 2)
    assert facts(call)["compiled"] > 0


def test_every_exit():
    check_at_exits(distance, np.arange(10.0).reshape(5, 2), 1, 3)
    check_at_exits(totals, np.arange(6.0).reshape(2, 3))
