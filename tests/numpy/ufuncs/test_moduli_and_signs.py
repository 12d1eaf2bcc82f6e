"""Moduli of complex numbers and signs of numbers, alone and before other operations: NumPy's bits, and none of NumPy's
warnings more.
"""

import itertools
import warnings

import numpy as np
import pytest
from support.compiled import assert_all_compiled
from support.differential import check

import accel

SPECIAL = [0.0, -0.0, 5e-324, -1e-310, 2e-308, 1e-160, 1.0, -1.5, 3.0, 1e160, -8e307, np.inf, -np.inf, np.nan, -np.nan]
FUNCTIONS = {
    "modulus": lambda z: np.abs(z),
    "double": lambda z: np.abs(z) * 2.0,
    "square": lambda z: np.abs(z) ** 2,
    "compared": lambda z: np.abs(z) > 2,
    "sign": lambda z: np.sign(z.real) * 2.0,
    "sign alone": lambda z: np.sign(z.real),
    "sign of another": lambda z: np.sign(z.real) - np.sign(z.imag) + 1,
}


def numbers(dtype):
    pairs = [complex(re, im) for re, im in itertools.product(SPECIAL, SPECIAL)]
    rng = np.random.default_rng(0)
    many = rng.standard_normal(3000) * 10.0 ** rng.integers(-30, 30, 3000)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        return np.concatenate([np.array(pairs), many[::2] + 1j * many[1::2]]).astype(dtype)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_special_numbers(name, dtype):
    z = numbers(dtype)
    for layout in (z, z[::2], z[::-1]):
        with np.errstate(all="ignore"):
            check(FUNCTIONS[name], layout)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_nan_and_infinity_have_no_events(name):
    z = np.array([complex(re, im) for re, im in itertools.product([0.0, 1.0, -2.0, np.inf, -np.inf, np.nan], repeat=2)] * 8)
    call = accel.compile(FUNCTIONS[name])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(3):
            call(z)
        assert_all_compiled(call, z)
