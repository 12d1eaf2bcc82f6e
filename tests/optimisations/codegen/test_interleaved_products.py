"""Loops that multiply complex numbers in vectors of whole numbers: the bits, events and memory of NumPy's loops."""

import numpy as np
import pytest
from support.compiled import facts
from support.differential import check
from support.outcome import assert_same

import accel

LENGTHS = [*range(10), 33]
SPECIAL = [complex(re, im) for re in (0.0, -0.0, 1.5, np.inf, -np.inf) for im in (0.0, -0.0, -2.5, np.inf)]
LARGE = [1e30 - 1e30j, 1e300 + 1e-300j, 1e-300 - 1e-300j, 1e-30 + 1e38j]


def numbers(length, dtype, seed=0):
    rng = np.random.default_rng(seed)
    with np.errstate(all="ignore"):
        return (rng.standard_normal(length) + 1j * rng.standard_normal(length)).astype(dtype)


def products(x, y, a, z):
    """x, y: arrays; a: an array of their parts' dtype; z: a complex number."""
    return (
        x * y,
        x**2,
        x * (2.5 - 1j),
        z * y,
        x * a,
        a * y - x,
        np.conj(x) * y,
        -(x * y) + x * 2.0,
        x * y * x + y,
        np.square(x) - np.conj(y * y),
    )


def products_in_place(x, y, a, z):
    x *= y
    y[1:] = x[:-1] * y[1:]
    x[::-1] *= a
    x[::2] = x[::2] * y[::2] - z
    np.multiply(x, y, out=y)
    y **= 2


def shifted(x, y, a, z):
    x[1:] = x[:-1] * x[1:]
    y[:-1] *= y[1:]
    x *= x[0] if len(x) else z
    y[...] = y[::-1] * 1j


def cases(dtype):
    for length in LENGTHS:
        for step in (1, -1, 2, -3):
            x, y = (numbers(length * abs(step), dtype, seed)[::step] for seed in (length, length + 1))
            yield x, y, numbers(length, dtype, 5).real.copy(), 0.5 - 1.25j


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("function", [products, products_in_place, shifted])
def test_lengths_and_strides(function, dtype):
    call = accel.compile(function)
    for case in cases(dtype):
        assert_same(function, call, *case, times=1)
    assert facts(call)["compiled"] > len(LENGTHS)


def products_of_slices(x, y, a, z):
    return products(x[::2], y[1::2], a[::2], z)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("function", [products, products_of_slices])
def test_text(function, dtype):
    x, y = numbers(38, dtype), numbers(38, dtype, 1)
    case = x, y, y.real.copy(), 0.5 - 1.25j
    call = check(function, *case)
    load = "load_c64s(b" if dtype == "complex64" else "load_c128s(b"
    assert load in accel.explain(call)(*case).source


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_special_numbers_and_their_events(dtype):
    """Every special number meets every other one at every position of a vector."""
    call = accel.compile(products)
    with np.errstate(all="ignore"):
        special = np.array(SPECIAL + LARGE, dtype)
    for shift in range(len(special)):
        x, y = special, np.roll(special, shift)
        case = x, y, y.real.copy(), complex(y[0])
        assert_same(products, call, *case, times=1)
        for n in (1, 3):
            assert_same(products, call, *(each[:n] for each in case[:3]), case[3], times=1)
    assert facts(call)["compiled"] > 0


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_rows_and_columns(dtype):
    def outer(x, y):
        return x[:, None] * y, (x[:, None] * y).T * x[0], x[::2, None] * y[::-1] + y

    call = accel.compile(outer)
    for n, m in ((1, 1), (2, 7), (5, 4), (33, 3)):
        assert_same(outer, call, numbers(n, dtype), numbers(m, dtype, 1), times=1)
    assert facts(call)["interpreted"] == 0


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_squares_into_gaps(dtype):
    """NumPy's loop of square is fused where elements of its operand or its out lie side by side."""

    def squares(x, y, z):
        n = len(x)
        np.square(x[::2], out=y[: 2 * n : 4])
        np.square(x, out=y[1::2])
        np.square(y[::2], out=z[:n])
        np.square(x[::2][:1], out=z[-4:-3])
        np.square(x[::2][:1], out=z[::2][-1:])
        z[1::2] **= 2

    call = accel.compile(squares)
    for n in (2, 3, 10, 33):
        for seed in range(6):
            x, y, z = numbers(n, dtype, seed), numbers(2 * n, dtype, seed + 9), numbers(2 * n + 8, dtype, seed + 5)
            assert_same(squares, call, x, y, z, times=1)
    assert facts(call)["interpreted"] == 0
