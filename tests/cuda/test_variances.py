"""Variances on a device: the elements are read once, unless their mean is needed for something else."""

import warnings

import numpy as np
import pytest
from support.device_arrays import on_host, ran_on_device

import accel

MERGED = "deviations_of_run"  # in the text of kernels


def variances(axis):
    def squares(x):
        d = x - np.mean(x, axis=axis, keepdims=True)
        return np.sum(d * d, axis=axis)

    return {
        "var": lambda x: np.var(x, axis=axis),
        "std": lambda x: np.std(x, axis=axis, ddof=1, keepdims=True),
        "squares": squares,
    }


def check(function, x, tolerance=1e-12, merged=True):
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        expected = function(x)
    compiled = accel.compile(function)
    found = on_host(ran_on_device(compiled, accel.to_device(x)))
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=0)
    assert (MERGED in accel.explain(compiled)(accel.to_device(x)).device["source"]) == merged


@pytest.mark.parametrize("name", ["var", "std", "squares"])
@pytest.mark.parametrize("shape", [(9,), (5000,), (1, 40), (40, 70), (3, 6000), (6000, 3), (300, 8300), (4, 3, 50)])
def test_shapes(shape, name):
    x = np.random.default_rng(3).normal(size=shape) * 3 + 100
    for axis in (None, *range(len(shape))):
        if shape[axis or 0] > 1:
            check(variances(axis)[name], x)
    if len(shape) == 3:
        check(variances((0, 2))[name], x)
        check(variances((1, 2))[name], x[:, ::2])
    check(variances(0)[name], x[::2].T if len(shape) == 2 else x[::-1])


@pytest.mark.parametrize("dtype", ["f4", "i4", "u1"])
def test_dtypes(dtype):
    x = (np.random.default_rng(3).normal(size=(50, 60)) * 3 + 20).astype(dtype)
    for axis in (None, 0, 1):
        check(variances(axis)["var"], x, 1e-5 if dtype == "f4" else 1e-12)


@pytest.mark.parametrize(
    "values",
    [
        [np.inf, 1, 2],
        [np.nan, 1, 2],
        [-np.inf, np.inf],
        [1e308] * 4,
        [1e308] * 500,
        [1.5e154] * 10 + [-1.5e154] * 3,
        [5.0] * 300,
        [1, 2, 3],
        [1, 2, 3, 4],
    ],
    ids=range(9),
)
def test_special_values(values):
    x = np.array(values, float)
    check(variances(None)["var"], x)
    check(variances(0)["var"], np.stack([x, x[::-1]]).T)
    if np.ptp(x) == 0 and x[0] < 1e300:
        assert accel.compile(variances(None)["var"])(accel.to_device(x)) == 0


def test_a_mean_that_is_far_from_the_deviations():
    """Nothing cancels: sums of squares would have lost all digits."""
    x = np.random.default_rng(3).normal(size=100_000) + 1e9
    x[:1000] -= 2e9
    check(variances(None)["var"], x, 1e-10)


def other_uses(x):
    mean = x.mean(axis=0, keepdims=True)
    return ((x - mean) ** 2).sum(axis=0), mean


def other_axes(x):
    return ((x - x.mean(axis=0, keepdims=True)) ** 2).sum(axis=1)


def other_count(x):
    return ((x - x.sum(axis=0, keepdims=True) / 7) ** 2).sum(axis=0)


def other_array(x):
    return ((x + 1 - x.mean(axis=0, keepdims=True)) ** 2).sum(axis=0)


def other_power(x):
    return ((x - x.mean(axis=0, keepdims=True)) ** 3).sum(axis=0)


@pytest.mark.parametrize("function", [other_axes, other_count, other_array, other_power])
def test_what_is_no_variance(function):
    check(function, np.random.default_rng(3).normal(size=(40, 40)), 1e-10, merged=False)


def test_a_mean_that_is_a_result():
    x = np.random.default_rng(3).normal(size=(40, 30))
    found = on_host(ran_on_device(accel.compile(other_uses), accel.to_device(x)))
    for one, other in zip(found, other_uses(x), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)
