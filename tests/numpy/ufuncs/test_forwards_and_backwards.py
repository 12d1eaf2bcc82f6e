"""Loops that walk memory forwards and backwards at once, with gaps."""

import numpy as np
import pytest
from support.differential import check


def columns(b):
    return b[:, 0] - b[::-1, 1]


def parts(z):
    return z.real - z.imag[::-1], z.real * z.real[::-1]


def parts_in_place(z):
    z.imag[..., ::-1] -= z.real
    z[::-1].real += 2 * z.imag


def every_second(x):
    y = x[::2]
    y[::-1] -= y
    return y


def rows_of_four(x):
    y = x.reshape(-1, 4)
    y[::-1, 0] -= y[:, 1]


@pytest.mark.parametrize("n", [2, 4, 5, 4096, 200_000])
def test_steps_of_16_bytes(n):
    """g++ 12 took such loops to have no effect."""
    reals = np.arange(4.0 * n)
    check(columns, reals[: 2 * n].reshape(n, 2))
    check(parts, reals[: 2 * n].view(complex) * (1 + 0.5j))
    check(parts_in_place, reals[: 2 * n].view(complex) * (1 + 0.5j))
    check(parts_in_place, (reals[: 2 * n].view(complex) * (1 + 0.5j)).reshape(1, n))
    for dtype in ("f8", "i8"):
        check(every_second, reals.astype(dtype))
    for dtype in ("f4", "i4"):
        check(rows_of_four, reals.astype(dtype))
