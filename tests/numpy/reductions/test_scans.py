"""Accumulations, ufunc.at, and functions that find or select elements."""

import numpy as np
import pytest
from support.differential import check, check_left_to_numpy, layouts, sample


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int64", "float16", "float32", "float64", "complex128"])
def test_cumulative_sums(dtype):
    x = sample((4, 5), dtype)
    check(lambda x: (np.cumsum(x), x.cumsum(axis=0), np.cumsum(x, axis=-1), np.add.accumulate(x), x[0].cumsum()), x)


def test_accumulations():
    def function(x, y):
        return (
            np.cumprod(x, axis=1),
            np.maximum.accumulate(x, axis=1),
            np.minimum.accumulate(x),
            np.multiply.accumulate(x[0]),
            np.cumsum(x + 1.0, axis=0) * 2.0,
            np.logical_or.accumulate(y > 2, axis=1),
            np.cumsum(y, dtype=np.float64),
        )

    check(function, sample((4, 5)), sample((3, 4), "int64"))
    check(lambda x: (np.cumsum(x), np.cumsum(x, axis=1)), sample((3, 0)))
    check(lambda x: (np.cumsum(x), np.cumsum(x, axis=1)), sample((0, 3)))
    check(lambda x: np.cumsum(x), sample((3000,)))


def test_accumulations_in_every_layout():
    for _, x in layouts(sample((4, 6))):
        check(lambda x: (np.cumsum(x, axis=0), np.cumsum(x, axis=1), np.cumsum(x)), x, times=1)
    check(lambda x: np.cumsum(x, axis=1), sample((2, 3, 4)).transpose(2, 0, 1))


def test_accumulations_that_raise_events():
    check_left_to_numpy(lambda x: np.cumprod(x), np.array([1e300, 1e300, 2.0]))
    check_left_to_numpy(lambda x: np.cumsum(x), np.array([np.inf, -np.inf, 2.0]))
    check(lambda x: np.cumprod(x), np.array([np.inf, 2.0]))


@pytest.mark.parametrize("dtype", ["int32", "float32", "float64"])
def test_updates_one_after_the_other(dtype):
    def function(x, i, v):
        a = x.copy()
        np.add.at(a, i, v)
        b = x.copy()
        np.subtract.at(b, (i, i[::-1]), v[:, 0])
        c = x.copy()
        np.maximum.at(c, i, v)
        return a, b, c

    check(function, sample((4, 4), dtype), np.array([1, 0, 1, -1, 1]), sample((5, 4), dtype))
    check_left_to_numpy(function, sample((4, 4), dtype), np.array([1, 0, 1, 7, 1]), sample((5, 4), dtype))


def test_updates_of_arguments():
    def function(x, i):
        np.add.at(x, i, 1.0)

    check(function, sample(5), np.array([1, 1, 3]))


def test_nonzero():
    x = sample((4, 5))
    x[x < 0] = 0

    def function(x):
        i, j = np.nonzero(x)
        return i, j, np.flatnonzero(x), np.where(x > 1), x[0].nonzero()

    check(function, x)
    check(function, np.zeros((4, 5)))
    check(function, np.ones((0, 5)) if False else np.ones((4, 5)))
    for _, y in layouts(x):
        check(function, y, times=1)


@pytest.mark.parametrize("fill", ["some", "none", "all"])
def test_gathered_masks(fill):
    x = sample((5, 4))
    mask = {"some": x > 0.5, "none": x > 100, "all": x > -100}[fill]

    def function(x, m):
        v = x[m]
        rows = m[:, 0]
        return v, v.sum(), x[rows], x[rows].sum(axis=0), x[:, m[0]], len(v), v.shape, x[m] - x[m].sum(), x[rows, 1]

    check(function, x, mask)
    for _, y in layouts(x):
        check(lambda x, m: (x[m], x[m[:, 0]]), y, mask, times=1)


def test_masked_values_of_another_array():
    def function(x, y, m):
        z = x + 0.0
        z[m] = y[: m.sum()]
        return z

    check(function, sample(6), sample(6, seed=4), np.array([True, False, True, True, False, False]))

    def wrong(x, y, m):
        z = x + 0.0
        z[m] = y
        return z

    check_left_to_numpy(wrong, sample(6), sample(2), np.array([True, False, True, True, False, False]))
    check(wrong, sample(6), sample(3), np.array([True, False, True, True, False, False]))


def test_empty_selections():
    check_left_to_numpy(lambda x: x[x > 100].mean(), sample(5))
    check_left_to_numpy(lambda x: x[x > 100].max(), sample(5))
    check(lambda x: (x[x > 100].sum(), x[x > 0].mean()), sample(5))


def test_selecting_functions():
    x, i = sample((4, 5)), np.array([3, 0, -1])

    def function(x, i):
        return (
            np.take(x, i),
            np.take(x, i, axis=0),
            x.take(i, axis=1),
            np.take(x, [[0, 1], [2, 3]], axis=1),
            np.take(x, i + 5, mode="wrap"),
            np.take(x, i * 9, axis=1, mode="clip"),
            np.take(x, 2),
            np.compress(x[0] > 0, x, axis=1),
            np.compress(x[:, 0] > 0, x, axis=0),
            np.extract(x > 0, x),
        )

    check(function, x, i)
    check_left_to_numpy(lambda x, i: np.take(x, i), x, np.array([99]))


def test_selecting_into_arrays():
    """What `out` holds shows when the indices are good, wherever it lies."""

    def function(x, i, out, wide, flat, m):
        np.take(x, i, axis=1, out=out)
        np.take(x, i + 5, axis=1, out=wide[:, ::2], mode="wrap")
        shown = x.take(i, out=flat, mode="clip")
        np.take(flat, i[::-1] % 3, out=flat)
        np.compress(m, x, axis=0, out=wide[:2, 1:])
        x[0].take(np.array(2), out=wide[3, 5:].reshape(()))
        return shown is flat, shown

    def arguments(*index):
        x = sample((4, 5))
        return (
            x,
            np.array(index),
            np.zeros((4, 3)).T.copy().T,
            np.ones((4, 6)),
            np.zeros(3),
            np.array([True, False, True, False]),
        )

    def same(x, i, out):
        np.take(x, i, out=out, mode="clip")

    def other_type(x, i, out):
        return np.take(x, i, out=out)

    check(function, *arguments(3, 0, -1))
    for bad in ((99, 0, 1), (0, -9, 1), (0, 1)):
        check_left_to_numpy(function, *arguments(*bad))
    i = np.array([2, 0, 1])
    check(same, np.arange(9), i, np.zeros(3, int))
    check_left_to_numpy(other_type, np.arange(3.0), i, np.zeros(3, "f4"))
    check_left_to_numpy(lambda i: np.take(i, i, out=i, mode="clip"), i)
    check(lambda i: np.take(i, i, out=i), i)
    for out in (np.zeros(3, int), np.zeros((3, 1)), [0.0] * 3, np.broadcast_to(np.zeros(1), (3,))):
        check_left_to_numpy(other_type, np.arange(3.0), i, out)


def test_in_loops():
    def function(x, i, n):
        out = np.zeros(x.shape[0])
        for k in range(n):
            out[i] += x[k % 3]
            out[x[k] > 0] *= 0.5
        return out

    check(lambda x, i: function(x, i, 4), sample((4, 4)), np.array([0, 2, 2, 1]))

    def histogram(x, n):
        out = np.zeros(n, dtype=np.int64)
        for k in range(x.shape[0]):
            out[x[k]] += 1
        return out

    check(histogram, np.arange(40) ** 2 % 7, 7)
    check_left_to_numpy(histogram, np.arange(40) ** 2 % 7, 4)


@pytest.mark.parametrize("shape", [(6, 7), (1, 40), (40, 1), (0, 5), (5, 0), (3, 4, 5)])
@pytest.mark.parametrize("true", [(), (0,), (-1,), (0, -1), (3, 4, 9)])
def test_nonzero_of_few(shape, true):
    x = np.zeros(shape, bool)
    if x.size:
        x.flat[list(true)] = True
    check(lambda x: (np.nonzero(x), np.flatnonzero(x), x[x]), x, times=1)
