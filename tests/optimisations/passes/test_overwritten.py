"""Stores that later ones write over."""

import numpy as np
import pytest
from support.compiled import facts
from support.differential import check, check_at_exits
from support.outcome import assert_same

import accel


def check_left(function, *arguments, most=30):
    """`check`, and the same results where kernels are left at each of their first exits."""
    check(function, *arguments)
    for n in range(1, most):
        with accel.config(stress_exits=n):
            call = accel.compile(function)
            assert_same(function, call, *arguments, times=2)
        if facts(call)["compiled"] == 2:
            break  # there are fewer exits
    return check_at_exits(function, *arguments, most=20)


def rolled_columns(f, shifts):
    for i in range(f.shape[1]):
        f[:, i] = np.roll(f[:, i], shifts[i])
        f[:, i] = np.roll(f[:, i], 1)
    return f.sum()


def rolled_planes(f, across, down):
    for i, cx, cy in zip(range(3), across, down):
        f[:, :, i] = np.roll(f[:, :, i], cx, axis=1)
        f[:, :, i] = np.roll(f[:, :, i], cy, axis=0)


def both_whole(x, y):
    x[:] = y + 1
    x[:] = y * 2
    return x


def one_element(x, i, a):
    x[i] = a
    x[i] = a * 2
    return x.sum()


def whole_over_part(x, y, i):
    x[i:] = y[i:]
    x[:] = y * 3
    return x


def whole_over_mask(x, y):
    x[y > 0] = 5
    x[:] = y
    return x


def read_between(x, y):
    x[1:] = y[1:]
    total = x.sum()
    x[1:] = y[1:] * total
    return x, total


def read_by_the_second(x, y):
    x[1:] = y[1:]
    x[1:] = x[:-1] + y[1:]
    return x


def of_other_elements(x, y, i, j):
    x[i:] = y[i:]
    x[j:] = y[j:] * 2
    return x


def left_between(x, y, i, n):
    x[:] = y
    k = i // n
    x[:] = y * k
    return x


def only_one_way(x, y, c):
    x[:] = y
    if c > 0:
        x[:] = y * 2
    return x


def in_a_loop(x, y, n):
    for k in range(n):
        x[:] = y
        if y[0] > 100 * n // (k + 1):
            return k
        x[:] = y * k
    return x


def through_an_alias(x, y):
    z = x[::2]
    x[:] = y
    z[:] = 3
    x[:] = y + z[0]
    return x, z


def kept_beside(x, y):
    z = np.zeros(len(x))
    z[:] = x
    before = z.copy()
    z[:] = y
    return before, z


X, Y = np.arange(12.0), np.arange(12.0) * 7 - 30


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (rolled_columns, (np.arange(20.0).reshape(5, 4), np.array([1, 0, -2, 7]))),
        (rolled_planes, (np.arange(60.0).reshape(4, 5, 3), np.array([1, 0, -1]), np.array([0, 3, -2]))),
        (both_whole, (X, Y)),
        (one_element, (X, 3, 1.5)),
        (whole_over_part, (X, Y, 4)),
        (whole_over_mask, (X, Y)),
        (read_between, (X, Y)),
        (read_by_the_second, (X, Y)),
        (of_other_elements, (X, Y, 2, 5)),
        (left_between, (X, Y, 7, 2)),
        (only_one_way, (X, Y, 1)),
        (only_one_way, (X, Y, -1)),
        (in_a_loop, (X, Y, 4)),
        (through_an_alias, (X, Y)),
        (kept_beside, (X, Y)),
    ],
)
def test_stores_over_stores(function, arguments):
    check_left(function, *arguments)


def test_stores_to_other_elements():
    check(of_other_elements, X, Y, 5, 2)


def test_what_an_exit_between_finds():
    call = accel.compile(left_between)
    assert_same(left_between, call, X, Y, 7, 2, times=2)
    assert_same(left_between, call, X, Y, 7, 0, times=2)  # raises between the two
    assert facts(call)["side_exits"] > 0


def test_an_index_that_is_out_of_bounds_for_the_second():
    def function(x, y, i):
        x[:] = y[0]
        a = y[i]
        x[:] = a
        return x

    call = accel.compile(function)
    assert_same(function, call, X, Y, 3, times=2)
    assert_same(function, call, X, Y, 99, times=2)


def test_only_the_last_store_is_made():
    call = accel.compile(rolled_planes)
    arguments = np.arange(60.0).reshape(4, 5, 3), np.array([1, 0, -1]), np.array([0, 3, -2])
    call(*arguments)
    text = str(accel.explain(call)(*arguments))
    assert facts(call)["side_exits"] == 0
    for block in text.split("\n  b"):
        stores = [line for line in block.splitlines() if "= store(" in line and "float64[s0, s1, 3]" in line]
        assert len(stores) <= 1
