"""Loops that fill the planes of an array one after the other, and what is zipped."""

import numpy as np
import pytest
from support.differential import check, check_at_exits
from support.outcome import assert_same

import accel


def planes_of_products(x, weights):
    out = np.zeros((*x.shape, len(weights)))
    for i, w in zip(range(len(weights)), weights):
        out[:, :, i] = x * w + 3 * x**2
    return out


def planes_of_an_argument(out, x, first, last):
    for i in range(first, last):
        out[:, i] = x * i - out[:, i]


def planes_of_the_counter(out, x):
    for i in range(out.shape[1]):
        out[:, i] = x * float(i) + np.float64(i) / (i + 1)


def planes_of_items(out, x, table):
    for i in range(out.shape[1]):
        out[:, i] = x * (table[i] + 1)


def planes_of_a_sum(out, x, table):
    for i in range(out.shape[1]):
        out[:, i] = x * (table[i] + table[:i].sum())


def planes_of_counted(out, x, k):
    for i in range(k, 0, -1):
        out[:, i] = x * i


def planes_of_steps(out, x):
    for i in range(0, out.shape[1], 2):
        out[:, i] = x * i


def every_other_element(out, x):
    for i in range(out.shape[1]):
        out[::2, i] = x[::2] + i


def backwards(out, x):
    for i in range(out.shape[1]):
        out[::-1, i] = x + i


def same_plane(out, x):
    for i in range(7):
        out[:, 2] = x * i


def overlapping_windows(out, x):
    for i in range(len(out) - len(x)):
        out[i : i + len(x)] = x * i


def reads_the_plane_before(out, x):
    for i in range(1, out.shape[1]):
        out[:, i] = out[:, i - 1] + x


def reads_another_row(out):
    for i in range(out.shape[1]):
        out[1:, i] = out[:-1, i] * 2


def two_arrays(a, b, x):
    for i in range(a.shape[1]):
        a[:, i] = x + i
        b[:, i] = x - i


def counts_on(out, x):
    total = 0
    for i in range(out.shape[1]):
        out[:, i] = x + total
        total += i
    return total, i


def planes_of_lines(out, x):
    for i in range(len(out)):
        out[i] = x + i


def events(out, x):
    for i in range(out.shape[1]):
        out[:, i] = x / (x - i)


def far_planes(out, x):
    for i in range(out.shape[2]):
        out[:, :, i] = x + i


def rows_of_pairs(f, cx, cy, w):
    out = np.zeros(f.shape)
    for i, a, b, c in zip(range(9), cx, cy, w):
        out[:, :, i] = c * (1 + (a * f[:, :, 0] + b * f[:, :, 1]) ** 2)
    return out


def zipped_to_the_shortest(a, b, c):
    total = 0.0
    for x, y, z in zip(a, b, c):
        total += x * y - z
    return total


def zipped_with_starts(a, b):
    total = 0.0
    for k, (x, y) in enumerate(zip(a[1:], b), 2):
        total += k * x - y
    return total, k


def left_in_the_middle(a, b, limit):
    k = -1
    for k, (x, y) in enumerate(zip(a, b)):
        if x * y > limit:
            break
        a[k] = x + y
    return k


X = np.arange(12.0) - 4.5


def planes(*shape):
    return np.arange(float(np.prod(shape))).reshape(shape)


CASES = [
    (planes_of_products, (planes(5, 7), np.array([0.5, 2.0, -1.0]))),
    (planes_of_products, (planes(90, 101), np.arange(9.0))),
    (planes_of_products, (planes(0, 3), np.arange(4.0))),
    (planes_of_products, (planes(5, 7).T, np.arange(4.0))),
    (planes_of_an_argument, (planes(12, 6), X, 1, 5)),
    (planes_of_an_argument, (planes(12, 6), X, 4, 2)),
    (planes_of_an_argument, (planes(6, 12).T, X, 0, 6)),
    (planes_of_an_argument, (planes(12, 60)[:, ::7], X, 0, 6)),
    (planes_of_the_counter, (planes(12, 5), X)),
    (planes_of_items, (planes(12, 5), X, np.arange(5.0))),
    (planes_of_a_sum, (planes(12, 5), X, np.arange(5.0))),
    (planes_of_counted, (planes(12, 5), X, 4)),
    (planes_of_steps, (planes(12, 5), X)),
    (every_other_element, (planes(12, 5), X)),
    (backwards, (planes(12, 5), X)),
    (same_plane, (planes(12, 5), X)),
    (overlapping_windows, (planes(30), X)),
    (reads_the_plane_before, (planes(12, 5), X)),
    (reads_another_row, (planes(12, 5),)),
    (two_arrays, (planes(12, 5), planes(12, 5), X)),
    (counts_on, (planes(12, 5), X)),
    (planes_of_lines, (planes(5, 12), X)),
    (far_planes, (planes(40, 50, 30), planes(40, 50))),
    (rows_of_pairs, (planes(30, 40, 9), np.arange(9) % 3 - 1, np.arange(9) // 3 - 1, np.arange(9) / 9)),
    (zipped_to_the_shortest, (X, X[:7], X[2:])),
    (zipped_with_starts, (X, X[:7])),
    (left_in_the_middle, (X, X + 1, 3.0)),
    (left_in_the_middle, (X, X + 1, 300.0)),
]


@pytest.mark.parametrize(("function", "arguments"), CASES)
def test_planes(function, arguments):
    check(function, *arguments)


@pytest.mark.parametrize(("function", "arguments"), CASES[:1] + CASES[5:6] + CASES[-3:])
def test_planes_at_exits(function, arguments):
    check_at_exits(function, *arguments, most=12)


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (planes_of_products, (planes(3, 3), np.zeros(0))),
        (planes_of_an_argument, (planes(12, 6), X, -2, 3)),
        (zipped_to_the_shortest, (X[:0], X[:7], X[2:])),
    ],
)
def test_planes_left_to_the_interpreter(function, arguments):
    assert_same(function, accel.compile(function), *arguments, times=2)


def test_a_plane_that_is_out_of_bounds():
    call = accel.compile(planes_of_an_argument)
    for last in (5, 9, 5):
        assert_same(planes_of_an_argument, call, planes(12, 6), X, 1, last, times=2)


def test_events_of_planes():
    call = accel.compile(events)
    for x in (X, X + 0.5, X):
        assert_same(events, call, planes(12, 3), x, times=2)


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_planes_are_filled_tile_by_tile(threads):
    with accel.config(threads=threads):
        call = check(rows_of_pairs, planes(90, 101, 9), np.arange(9) % 3 - 1, np.arange(9) // 3 - 1, np.arange(9) / 9)
        text = str(
            accel.explain(call, verbose=True)(planes(90, 101, 9), np.arange(9) % 3 - 1, np.arange(9) // 3 - 1, np.arange(9) / 9)
        )
    assert "fills planes tile by tile" in text


def test_planes_that_share_no_lines_stay_as_they_are():
    call = check(planes_of_lines, planes(5, 12), X)
    assert "tile by tile" not in str(accel.explain(call, verbose=True)(planes(5, 12), X))
