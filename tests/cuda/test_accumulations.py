"""Accumulations: a thread for each run, in NumPy's order; few long runs are divided between blocks."""

import numpy as np
import pytest
from support.device_arrays import on_host, ran_on_device

import accel

RNG = np.random.default_rng(11)
LONG = 20_011  # elements of a run that blocks share


def values(shape, dtype):
    if dtype == "bool":
        return RNG.random(shape) > 0.5
    if np.dtype(dtype).kind in "iu":
        return RNG.integers(0, 100, shape).astype(dtype)
    numbers = RNG.uniform(-1, 1, shape)
    return (numbers + 1j * RNG.uniform(-1, 1, shape) if np.dtype(dtype).kind == "c" else numbers).astype(dtype)


def check(function, *arguments, tolerance=0.0):
    wanted = function(*arguments)
    for given in (arguments, [accel.to_device(a) for a in arguments]):
        compiled = accel.compile(function, device="cuda")
        for _ in range(2):
            found = on_host(ran_on_device(compiled, *given))
            assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
            if tolerance:
                np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance)
            else:
                np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "uint16", "int64", "float16", "float32", "float64", "complex64", "complex128"]
)
@pytest.mark.parametrize("axis", [None, 0, 1, 2])
@pytest.mark.parametrize("shape", [(3, 4, 5), (1, 1, 1), (40, 2, 30), (2, 0, 3), (0, 2, 2)])
def test_short_runs_have_the_bits_of_numpy(shape, axis, dtype):
    check(lambda x: np.cumsum(x, axis=axis), values(shape, dtype))


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("axis", [0, 1])
def test_orders_in_memory(axis, order):
    check(lambda x: np.cumsum(x, axis=axis), np.asarray(values((30, 50), "float64"), order=order))
    check(lambda x: np.cumsum(x[::2, ::-1], axis=axis), np.asarray(values((30, 50), "float64"), order=order))


@pytest.mark.parametrize("function", [np.maximum, np.minimum, np.fmax, np.bitwise_xor, np.bitwise_or, np.add, np.multiply])
@pytest.mark.parametrize("shape, axis", [((LONG,), 0), ((3, LONG), 1), ((LONG, 5), 0), ((4096 * 2,), 0), ((2, 4097), 1)])
def test_long_runs_of_integers(function, shape, axis):
    check(lambda x: function.accumulate(x, axis=axis), values(shape, "int64"))


@pytest.mark.parametrize("function", [np.maximum, np.minimum, np.fmin])
def test_long_runs_of_extremes(function):
    x = values(LONG, "float64")
    check(lambda x: function.accumulate(x), x)
    x[[700, 9000]] = np.nan
    check(lambda x: function.accumulate(x), x)


@pytest.mark.parametrize(
    "dtype, tolerance", [("float32", 1e-3), ("float64", 1e-11), ("complex64", 1e-3), ("complex128", 1e-11)]
)
@pytest.mark.parametrize("shape, axis", [((LONG,), 0), ((3, LONG), 1), ((LONG, 5), 0)])
def test_long_sums_of_floats(shape, axis, dtype, tolerance):
    check(lambda x: np.cumsum(x, axis=axis), values(shape, dtype), tolerance=tolerance)


def test_long_sums_of_float16_are_in_order():
    check(lambda x: np.cumsum(x), np.ones(5000, "float16"))


def test_products_and_other_operations():
    check(lambda x: np.cumprod(x), np.full(LONG, 1.0001), tolerance=1e-10)
    check(lambda x: np.subtract.accumulate(x), values(300, "float64"))
    check(lambda x: np.logical_and.accumulate(x), values((30, 40), "bool"))


def test_values_that_are_computed():
    check(lambda x, y: np.cumsum(x * 2 - y), values(LONG, "int64"), values(LONG, "int64"))
    check(lambda x: np.cumsum(x > 50), values(LONG, "int64"))


def test_a_result_that_goes_to_the_operand():
    def f(x):
        x[:] = np.cumsum(x)
        return x

    def shifted(x):
        x[1:] = np.cumsum(x[:-1])
        return x

    for function in (f, shifted):
        x = values(LONG, "int64")
        wanted = function(x.copy())
        np.testing.assert_array_equal(ran_on_device(accel.compile(function, device="cuda"), x.copy()), wanted)
        there = accel.to_device(x)
        np.testing.assert_array_equal(on_host(ran_on_device(accel.compile(function, device="cuda"), there)), wanted)


def test_blocks_share_long_runs():
    why = accel.explain(accel.compile(lambda x: np.cumsum(x), device="cuda"))(accel.to_device(values(LONG, "int64")))
    assert why.compiled and why.device["launches"] == 3
