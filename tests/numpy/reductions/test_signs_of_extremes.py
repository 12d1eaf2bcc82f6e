"""Extremes that are zeros of either sign: which one it is, is a matter of how NumPy goes over the array."""

import numpy as np
import pytest
from support.compiled import facts
from support.differential import check
from support.outcome import assert_same

import accel


def extremes(b):
    return b.max(), b.min(), np.fmax.reduce(b), np.fmin.reduce(b), np.maximum.reduce(b, initial=0.0), np.min(b, initial=-0.0)


def along_axes(b):
    return b.max(axis=0), b.min(axis=0), b.max(axis=1), b.min(axis=1), (b * 2).max(), np.abs(b).min()


def of_rows(b):
    return [row.max() for row in b], [(row * -1.0).min() for row in b]


def zeros(shape, dtype, seed, least=0.0):
    numbers = np.random.default_rng(seed).standard_normal(shape)
    return np.where(numbers > least, np.copysign(0.0, np.cos(numbers * 99)), numbers).astype(dtype)


@pytest.mark.parametrize("dtype", ["f8", "f4", "f2"])
def test_zeros_of_both_signs(dtype):
    call = accel.compile(extremes)
    for n in (1, 2, 8, 9, 16, 17, 33, 64, 65, 100, 1000, 30000):
        for seed in range(4):
            for least in (-9.0, 0.0):
                b = zeros(n, dtype, seed, least)
                assert_same(extremes, call, b, times=1)
                assert_same(extremes, call, np.repeat(b, 2)[::2], times=1)
    assert facts(call)["compiled"] > 0


@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("function", [along_axes, of_rows])
def test_zeros_in_rows(function, dtype):
    call = accel.compile(function)
    for shape in ((3, 4), (5, 9), (17, 17), (4, 1000), (300, 3)):
        assert_same(function, call, np.random.default_rng(0).standard_normal(shape).astype(dtype))
        for seed in range(3):
            assert_same(function, call, zeros(shape, dtype, seed, -9.0), times=1)
            assert_same(function, call, zeros(shape, dtype, seed), times=1)
    assert facts(call)["compiled"] > 0


@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_zeros_of_one_sign_are_no_exception(dtype):
    for zero in (0.0, -0.0):
        for n in (1, 9, 100, 30000):
            check(lambda b: (b.max(), b.min()), np.full(n, zero, dtype))
    check(lambda b: (b.max(), b.min()), np.abs(zeros(1000, dtype, 0)))
