"""Stores and updates of elements that index arrays choose: as many threads as elements, with NumPy's results where several
elements go to one place."""

import numpy as np
import pytest
from support.device_arrays import check_equal, on_host, outcome, ran_on_device

import accel

RNG = np.random.default_rng(7)


def put(x, i, v):
    x[i] = v


def put_pairs(x, i, j, v):
    x[i, j] = v


def put_columns(x, i, v):
    x[:, i] = v


def put_and_read(x, i, v):
    x[i] = v
    return x * 2 - x[::-1]


def increase(x, i, v):
    x[i] += v


def add_at(x, i, v):
    np.add.at(x, i, v)


def subtract_at(x, i, v):
    np.subtract.at(x, i, v)


def multiply_at(x, i, v):
    np.multiply.at(x, i, v)


def maximum_at(x, i, v):
    np.maximum.at(x, i, v)


def histogram(x, i, v):
    for k in range(3):
        np.add.at(x, (i + k) % len(x), v)
    return x.sum()


def numbers(count, dtype="float64"):
    """Sums of these show the order of their terms."""
    values = RNG.standard_normal(count) * 10.0 ** RNG.integers(
        -4 if dtype == "float16" else -6, 1 if dtype == "float16" else 6, count
    )
    if dtype == "bool":
        return values > 0
    return (values + 1j * values[::-1] if np.dtype(dtype).kind == "c" else values).astype(dtype)


def check(function, *arguments, mapping="ordered"):
    """On arrays of NumPy and on the device: the same results and changes, twice, by kernels of the mapping."""
    for is_resident in (False, True):
        compiled = accel.compile(function, device="cuda")
        for _ in range(2):
            expected = [a.copy("K") if isinstance(a, np.ndarray) else a for a in arguments]
            given = [a.copy("K") if isinstance(a, np.ndarray) else a for a in arguments]
            if is_resident:
                given = [accel.to_device(a) if isinstance(a, np.ndarray) else a for a in given]
            result = function(*expected)
            found = on_host(ran_on_device(compiled, *given))
            assert f"mapping {mapping}" in str(accel.explain(compiled, verbose=True)(*map(copied, given)).program)
            np.testing.assert_array_equal(found, result)
            for one, other in zip(given, expected, strict=True):
                if isinstance(other, np.ndarray):
                    assert on_host(one).tobytes() == other.tobytes()


def copied(array):
    if isinstance(array, accel.DeviceArray):
        return accel.to_device(array.numpy())
    return array.copy("K") if isinstance(array, np.ndarray) else array


@pytest.mark.parametrize("function", [put, increase, add_at, subtract_at, multiply_at, maximum_at, put_and_read])
@pytest.mark.parametrize(
    ("size", "count"), [(1000, 1000), (3, 5000), (1, 300), (100_000, 40), (5000, 1), (300, 0), (700, 4097), (9000, 12_500)]
)
def test_places_that_occur_several_times(function, size, count):
    check(function, numbers(size), RNG.integers(-size, size, count), numbers(count))


@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "uint16", "float16", "int32", "float32", "uint64", "complex64", "complex128"]
)
@pytest.mark.parametrize("function", [put, add_at])
def test_dtypes(function, dtype):
    check(function, numbers(50, dtype), RNG.integers(0, 50, 700), numbers(700, dtype))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "uint64"])
def test_dtypes_of_indices(dtype):
    check(put, numbers(50), RNG.integers(0, 50, 700).astype(dtype), numbers(700))


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("function", [put, add_at, increase])
def test_rows(function, order):
    x = np.asarray(numbers(60 * 40).reshape(60, 40), order=order)
    check(function, x, RNG.integers(0, 60, 200), numbers(200 * 40).reshape(200, 40))
    check(function, x, RNG.integers(0, 60, 200), numbers(40))


def test_indices_of_two_axes():
    x, count = numbers(60 * 40).reshape(60, 40), 900
    check(put_pairs, x, RNG.integers(0, 60, count), RNG.integers(-40, 40, count), numbers(count))
    check(put_columns, x, RNG.integers(0, 40, count), numbers(60 * count).reshape(60, count))
    check(put, x, RNG.integers(0, 60, (30, 20)), numbers(30 * 20 * 40).reshape(30, 20, 40))


def test_a_number_for_all():
    check(put, numbers(500), RNG.integers(0, 500, 800), 2.5)
    check(add_at, numbers(500), RNG.integers(0, 500, 800), 0.1)


def test_many_hits_on_few_places():
    check(add_at, numbers(10), RNG.integers(0, 10, 40_000), numbers(40_000))


def test_in_a_loop():
    check(histogram, np.zeros(17), RNG.integers(0, 17, 500), numbers(500))


@pytest.mark.parametrize("function", [put, add_at])
@pytest.mark.parametrize("is_resident", [False, True])
def test_an_index_out_of_range(function, is_resident):
    x, i, v = numbers(100), RNG.integers(0, 100, 300), numbers(300)
    compiled = accel.compile(function, device="cuda")
    for bad in (None, 100, -101, None):
        indices = i.copy()
        if bad is not None:
            indices[170] = bad
        host = x.copy()
        arguments = [x.copy(), indices, v]
        if is_resident:
            arguments = [accel.to_device(a) for a in arguments]
        check_equal(outcome(compiled, *arguments), outcome(function, host, indices, v))
        assert on_host(arguments[0]).tobytes() == host.tobytes()
