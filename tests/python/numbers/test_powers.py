"""Powers of numbers with small exponents: the bits of the C library's pow, also next to ties, and its errors and warnings."""

import math

import numpy as np
import pytest
from support.covering import pairs
from support.differential import check, check_left_to_numpy
from support.outcome import assert_same

EXPONENTS = ["2", "3", "4", "0.5", "2.0", "3.0", "-1", "5", "1.5"]


def near_ties(exponent, count=400, seed=5):
    """Bases whose powers lie next to the middle between two floats."""
    rng = np.random.default_rng(seed)
    found = []
    while len(found) < count:
        mantissa = int(rng.integers(2**52, 2**53))
        power = mantissa**exponent
        drop = power.bit_length() - 53
        rest = abs((power & ((1 << drop) - 1)) * 2 - (1 << drop))
        if rest * 40 < 1 << drop:
            found.append(math.ldexp(mantissa, int(rng.integers(-60, 60)) - 52))
    return found


def bases():
    rng = np.random.default_rng(3)
    edges = [math.ldexp(1.0, e) for e in range(-66, 67)]
    edges += [math.nextafter(e, to) for e in edges for to in (0, math.inf)]
    wide = np.ldexp(rng.uniform(1, 2, 2000), rng.integers(-250, 250, 2000)).tolist()
    short = [float(k) for k in range(60)] + [k / 8 for k in range(60)] + np.float32(rng.standard_normal(300)).tolist()
    special = [0.0, math.inf, math.nan, 5e-324, 2e-308, 1e-160, 1e-154, 2.0**31 + 1, 1e77]
    values = [*edges, *wide, *short, *special, *near_ties(2), *near_ties(3), *near_ties(4)]
    return np.array([x for value in values for x in (value, -value)])


def raised(exponent, kind):
    """A function that stores powers of the numbers of an array, as Python's or NumPy's scalars."""
    scope = {"np": np}
    exec(f"def function(a, b):\n    for i in range(len(a)):\n        b[i] = {kind}(a[i]) ** {exponent}\n    return b", scope)
    return scope["function"]


def takes(base, exponent):
    """Whether Python's power of the number is a float."""
    try:
        return isinstance(base ** float(exponent), float)
    except (OverflowError, ZeroDivisionError):
        return False


@pytest.mark.parametrize("exponent", EXPONENTS)
def test_powers_of_pythons_numbers(exponent):
    values = np.array([x for x in bases() if takes(float(x), exponent)])
    check(raised(exponent, "float"), values, np.zeros(len(values)))


@pytest.mark.parametrize("exponent", EXPONENTS)
def test_powers_of_numpys_scalars(exponent):
    with np.errstate(all="ignore"):
        powers = bases() ** float(exponent)
    values = bases()[np.isfinite(powers) & ((np.abs(powers) > 1e-290) | (bases() == 0))]
    check(raised(exponent, "np.float64"), values, np.zeros(len(values)))


SPECIAL = [0.0, -0.0, -2.0, 1e200, -1e200, 1e-200, 5e-324, math.inf, -math.inf, math.nan]


@pytest.mark.parametrize(("value", "exponent", "kind"), pairs(SPECIAL, EXPONENTS, ["float", "np.float64"]))
def test_errors_and_warnings(value, exponent, kind):
    for behind in (1.5, value):
        check_left_to_numpy(raised(exponent, kind), np.array([1.5, value, behind]), np.zeros(3))


def test_an_exponent_that_is_known_at_run_time_only():
    def function(a, exponents, b):
        for k in range(len(exponents)):
            for i in range(len(a)):
                b[k, i] = float(a[i]) ** float(exponents[k])
        return b

    values = np.abs(bases()[:1000:3]) + 1e-30
    check(function, values, np.array([2.0, 3.0, 4.0, 0.5, 0.0, 1.0]), np.zeros((6, len(values))))


@pytest.mark.parametrize(
    ("exponent", "dtype", "turn"), pairs([-1.5, 2.5, 3, -3, 1 / 3, 0.5, -1, 0, 1, 2, np.inf], ["f4", "f8"], [0, 1])
)
def test_scalar_operands_of_vector_loops(exponent, dtype, turn):
    """NumPy's bits, whether its loops get a scalar once or as often as there are elements. Memory and dtypes take turns."""
    grid = (np.random.default_rng(3).random((40, 600)) * 5 + 0.01).astype(dtype)
    kind = grid.dtype.type

    def function(x):
        return x**exponent, np.power(x, kind(exponent)), np.arctan2(x, kind(1.25)), np.arctan2(kind(-2), x), kind(1.5) ** x

    for x in (grid, grid[0, :5], grid[:, ::2], grid[::-1], grid[:0], grid.T)[turn::2]:
        check(function, x)


def powers_of_integers(n, x):
    bits = (x[:, None] >> np.arange(8)) & 1
    packed = (bits * 2 ** np.arange(8)).sum(axis=1)
    y = x.copy()
    y **= (np.arange(len(x)) % 5).astype(x.dtype)
    return (
        2 ** np.arange(n),
        10 ** np.arange(n, dtype=np.int16),
        np.power(x, x % 7),
        packed,
        y,
        np.uint8(3) ** np.arange(n, dtype=np.uint8),
    )


def test_integers_to_powers_of_arrays():
    """They wrap; where an exponent is negative NumPy raises."""
    for dtype in ("int64", "int8", "uint16"):
        x = np.arange(30).astype(dtype)
        call = check(powers_of_integers, 9, x)
        for n in (0, 1, 70):
            assert_same(powers_of_integers, call, n, x)
    check_left_to_numpy(lambda x, y: (x * 2, x**y), np.arange(3), np.array([1, -1, 2]))
