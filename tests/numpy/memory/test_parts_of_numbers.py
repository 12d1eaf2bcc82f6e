"""Stores to the real and imaginary part of complex arrays without axes."""

import numpy as np
import pytest
from support.differential import check, check_at_exits


def both_parts(x, y):
    z = np.zeros((), complex)
    z.real = x
    z.imag = y
    return z, abs(z), z.conj()


def parts_of_views(x):
    z = np.array(x)
    z.imag[...] = 7
    z.real[()] = z.imag + 1
    z[...].real = z.real * 2
    np.exp(z.real, out=z.real)
    return z


def in_a_loop(x, n):
    z = np.array(x)
    for k in range(n):
        z.real += k
        z.imag[...] = z.real * z.imag
    return z


def on_two_paths(x, c):
    z = np.array(x)
    if c > 0:
        z.real = c
    else:
        z.imag = c
    return z + 1


def under_masks(x):
    z = np.array(x)
    np.copyto(z.real, 0.0, where=np.isnan(z.real))
    np.copyto(z.imag, 1.0, where=np.isinf(z.imag))
    return z


def without_nan(z):
    return np.nan_to_num(z)


def part_of_an_argument(z, w):
    z.real = 1.0
    z.imag += w
    return z.real + z.imag


@pytest.mark.parametrize("value", [1 + 2j, complex(np.nan, -np.inf), np.complex64(3 - 1j)])
def test_parts(value):
    check(parts_of_views, value)
    check(under_masks, value)
    check(without_nan, value)


def test_parts_of_new_numbers():
    check(both_parts, 1.5, -0.0)
    check_at_exits(in_a_loop, 1 + 1j, 4)
    check(on_two_paths, 1 + 1j, 2.0)
    check(on_two_paths, 1 + 1j, -2.0)


def test_parts_of_arguments():
    check(part_of_an_argument, np.array(1 + 2j), 2.0)
    check(without_nan, np.array(complex(np.inf, np.nan)))


def total(b):
    return np.prod(b, axis=0), np.prod(b), np.multiply.reduce(b), b.prod(initial=1), np.multiply.reduce(b, axis=())


# NumPy multiplies 1 by the number.
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("value", [complex(0.0, -0.0), complex(-0.0, 0.0), complex(1, np.nan), complex(np.inf, -0.0)])
def test_products_of_one_number(value, dtype):
    with np.errstate(all="ignore"):
        check(total, np.array(value, dtype))
