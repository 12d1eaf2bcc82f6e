"""Tests, comparisons and extremes of float16, which compare bits: special values, and many others."""

import numpy as np
import pytest
from support.compiled import assert_all_compiled
from support.differential import check
from support.outcome import assert_same

import accel

SPECIAL = np.array([0.0, -0.0, 6e-8, -6e-8, 6e-5, 1.0, -1.0, 65504, -65504, np.inf, -np.inf, np.nan, -np.nan], np.float16)


def pairs():
    many = np.random.default_rng(0).integers(0, 2**16, 40, dtype=np.uint16).view(np.float16)
    one, other = np.meshgrid(np.concatenate([SPECIAL, many]), np.concatenate([SPECIAL, many]))
    return one.ravel().copy(), other.ravel().copy()


FUNCTIONS = {
    "relations": lambda a, b: (a < b, a <= b, a > b, a >= b, a == b, a != b),
    "tests": lambda a, b: (np.isnan(a), np.isinf(a), np.isfinite(a), np.logical_not(a), np.signbit(b)),
    "logic": lambda a, b: (np.logical_and(a, b), np.logical_or(a, b), np.logical_xor(a, b)),
    "extremes": lambda a, b: (np.maximum(a, b), np.minimum(a, b), np.fmax(a, b), np.fmin(a, b)),
    "chosen": lambda a, b: np.where(a < b, a, b) * np.float16(0.5),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_pairs(name):
    a, b = pairs()
    with np.errstate(all="ignore"):
        check(FUNCTIONS[name], a, b)


@pytest.mark.parametrize("reduce", ["argmax", "argmin"])
def test_places(reduce):
    function = {"argmax": lambda a: (a.argmax(), a[5:].argmax()), "argmin": lambda a: (a.argmin(), a[5:].argmin())}[reduce]
    rng = np.random.default_rng(3)
    call = accel.compile(function)
    for length in (6, 40, 70, 700):
        for nans in (0, 2):
            a = rng.standard_normal(length).astype(np.float16)
            a[rng.integers(0, length, nans)] = np.nan
            assert call(a) == function(a)
    assert_all_compiled(call)


def doubled_signs(a):
    return np.sign(a) * np.float16(2)


@pytest.mark.parametrize("function, invalid", [(np.sign, "warn"), (doubled_signs, "ignore")], ids=["alone", "doubled"])
def test_signs(function, invalid):
    """Of all numbers, NaN of every kind among them."""

    def signs(a):
        return function(a)

    everything = np.arange(65536, dtype=np.uint32).astype(np.uint16).view(np.float16)
    compiled = accel.compile(signs)
    with np.errstate(invalid=invalid):
        for values in (everything, everything[::-2], everything[:7]):
            assert_same(signs, compiled, values)
    assert_all_compiled(compiled)


def test_whole_numbers():
    """Of all numbers. NumPy has an event where a NaN is a signaling one."""

    def whole(a):
        return np.floor(a), np.ceil(a), np.trunc(a), np.floor(a) + np.ceil(a)

    everything = np.arange(65536, dtype=np.uint32).astype(np.uint16).view(np.float16)
    compiled = accel.compile(whole)
    with np.errstate(invalid="ignore"):
        for values in (everything, everything[::-2], everything[:7]):
            assert_same(whole, compiled, values)
    assert_all_compiled(compiled)
