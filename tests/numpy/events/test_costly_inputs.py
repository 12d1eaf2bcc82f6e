"""Functions of which the C library is slow outside their domain or range: what a loop does not get has NumPy's results and
events.
"""

import numpy as np
import pytest
from support.warned import check_warned

# Where results become constant, and numbers of the domain.
FUNCTIONS = {
    "log": ([0.0, -0.0, -5e-324, 5e-324, -1.0, -1e300], 0.1, 30.0),
    "log2": ([0.0, -0.0, -5e-324, 5e-324, -1.0, -1e300], 0.1, 30.0),
    "log10": ([0.0, -0.0, -5e-324, 5e-324, -1.0, -1e300], 0.1, 30.0),
    "log1p": ([-1.0, np.nextafter(-1.0, -2.0), np.nextafter(-1.0, 0.0), -7.0], -0.9, 30.0),
    "exp": ([709.78, 709.79, 710.0, 1e300, -745.1, -745.2, -746.0, -1e300], -700.0, 700.0),
    "exp2": ([1023.9, 1024.0, 1e300, -1074.5, -1075.5, -1076.0, -1e300], -1000.0, 1000.0),
    "arcsin": ([1.0, np.nextafter(1.0, 2.0), -1.0, np.nextafter(-1.0, -2.0), 7.0, -1e300], -0.9, 0.9),
    "arccos": ([1.0, np.nextafter(1.0, 2.0), -1.0, np.nextafter(-1.0, -2.0), 7.0, -1e300], -0.9, 0.9),
    "arccosh": ([1.0, np.nextafter(1.0, 0.0), 0.0, -0.0, -5e-324, -1e300], 1.1, 30.0),
}
SOURCE = """
def f(x):
    return np.{0}(x)
"""
MASKED = """
def f(x):
    return np.where(x > 0.5, np.{0}(x) * 2.0, 0.25)
"""


def numbers(name, n, share, seed=0):
    """The special numbers, infinities and NaNs at this share of places, ordinary ones elsewhere."""
    special, low, high = FUNCTIONS[name]
    rng = np.random.default_rng(seed)
    special = np.array([*special, np.inf, -np.inf, np.nan, -np.nan])
    return np.where(rng.random(n) < share, rng.choice(special, n), rng.uniform(low, high, n))


@pytest.mark.parametrize("share", [0.1, 0.6, 1.0])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_results_and_warnings(name, share):
    check_warned(SOURCE.format(name), numbers(name, 3000, share), filters="record")


@pytest.mark.parametrize("filters", ["default", "ignore", "record"])
@pytest.mark.parametrize("name", ["log", "exp"])
def test_masks(name, filters):
    check_warned(MASKED.format(name), numbers(name, 3000, 0.6), filters=filters)


@pytest.mark.parametrize("value", [0.0, -1.0, -np.inf, np.inf, np.nan, 5e-324, 2.0])
@pytest.mark.parametrize("n", [1, 2, 511, 512, 513, 1025])
def test_one_number(value, n):
    check_warned(SOURCE.format("log"), np.full(n, value), filters="record", errstate="all")


@pytest.mark.parametrize("value", [746.0, -746.0, -745.0, 709.9, np.inf, -np.inf])
def test_one_exponent(value):
    check_warned(SOURCE.format("exp"), np.full(700, value), filters="record", errstate="all")


@pytest.mark.parametrize("step", [2, -1, -3])
def test_strides(step):
    source = f"""
def f(x):
    return np.log(x[::{step}]) + np.exp(x[::{step}] * 800.0)
"""
    check_warned(source, numbers("log", 3000, 0.6), filters="record")


def test_in_place():
    source = """
def f(x):
    np.log(x, out=x)
    np.exp(x, out=x)
"""
    check_warned(source, numbers("log", 3000, 0.6), filters="record")


def test_overlapping_operands():
    source = """
def f(x):
    np.log(x[:-1], out=x[1:])
    np.log(x[:-3], out=x[3:])
"""
    check_warned(source, numbers("log", 3000, 0.6), filters="default", stays=False)
