"""argmax and argmin of rows and arrays of all lengths: ties, NaN, zeros of both signs, the last elements of blocks."""

import numpy as np
import pytest
from support.compiled import facts
from support.outcome import assert_same

import accel

LENGTHS = [1, 2, 31, 32, 33, 63, 64, 65, 100, 127, 200, 511, 512, 513, 543, 575, 576, 1023, 1024, 1025, 1100, 5000]


def places(a):
    return a.argmax(), np.argmin(a), a.argmax(axis=0)


def of_rows(a):
    return a.argmax(axis=1), np.argmin(a, axis=1)


def of_sums(a, b):
    return np.argmax(a + b), (a * 2 - b).argmin(), np.abs(a).argmax()


def data(dtype, n, seed):
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 50, n) if seed % 2 else rng.normal(size=n) * 40
    return np.abs(values).astype(dtype) if np.dtype(dtype).kind in "ub" else values.astype(dtype)


@pytest.mark.parametrize("dtype", ["f8", "f4", "f2", "i8", "i4", "i2", "u1", "?", "c16", "c8"])
def test_lengths(dtype):
    whole, rows = accel.compile(places), accel.compile(of_rows)
    for n in LENGTHS:
        for seed in range(2):
            assert_same(places, whole, data(dtype, n, seed), times=1)
            assert_same(of_rows, rows, data(dtype, 3 * n, seed).reshape(3, n), times=1)
    assert facts(whole)["interpreted"] == facts(rows)["interpreted"] == 0


@pytest.mark.parametrize("dtype", ["f8", "f4", "c16"])
def test_nan_zeros_and_ties(dtype):
    rng = np.random.default_rng(5)
    whole, rows, sums = accel.compile(places), accel.compile(of_rows), accel.compile(of_sums)
    for n in (40, 64, 100, 513, 600, 1100, 3000):
        for special in ([np.nan], [np.nan, np.inf], [0.0, -0.0], [-np.inf, np.inf], [7.0]):
            for _ in range(4):
                a = np.zeros(n, dtype) if special[0] == 0 else data(dtype, n, 0)
                where = rng.integers(0, n, 4)
                a[where] = rng.choice(special, 4)
                assert_same(places, whole, a, times=1)
                assert_same(of_rows, rows, np.stack([a, a[::-1], np.roll(a, 7)]), times=1)
                assert_same(of_sums, sums, a, np.ones(n, dtype), times=1)
