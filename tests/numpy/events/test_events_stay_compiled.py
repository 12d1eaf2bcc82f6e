"""Calls in which NumPy warns stay compiled, and warn as NumPy does."""

import warnings

import numpy as np
import pytest
from support.compiled import facts
from support.warned import ERRSTATES, FILTERS, check_warned, run

import accel

ALL_FILTERS = [*FILTERS, "record"]


def numbers(n, seed=0, **special):
    """Ordinary numbers, with special ones at several places."""
    x = np.random.default_rng(seed).uniform(0.5, 2.0, n)
    for value in special.values():
        x[:: max(n // 7, 1)] = value
        x[-1] = value
    return x


LOG_MASK = """
def f(x):
    return np.where(x > 0, np.log(x), 0.0)
"""
RECIPROCAL = """
def f(x):
    y = 1.0 / x * 3.0 - 2.0
    y[x == 0] = 0.0
    return y
"""
NORMALISED = """
def f(x):
    y = x - x.min()
    return y / (y.max() - y.min())
"""
RELU = """
def f(x):
    return np.where(x > 0, x, np.exp(x * 1e3) - 1.0) / np.sqrt(x)
"""
SIGMOID = """
def f(x):
    p = np.exp(-x * 1e3)
    return np.nan_to_num(p / (1.0 + p)) * np.log(x - 1.0)
"""
IN_PLACE = """
def f(x):
    x /= x - 1.0
    x *= 1e300
    x -= x
"""
OWN_ERRSTATE = """
def f(x):
    w = np.cumsum(x * 1e308)
    with np.errstate(invalid="ignore"):
        v = w / w
    with np.errstate(divide="warn", over="ignore"):
        return v / (x - x) + np.exp(x * 1e4)
"""
SCALARS = """
def f(x):
    a = x[0]
    b = a * a
    return b / (a - a), a / 0.0
"""
TWO_LINES = """
def f(x):
    return (1.0
            / x + np.log(
                -x)) * (x / 0.0)
"""
HELPER = """
def part(x):
    return np.sqrt(-x) + 1.0

def f(x):
    return part(x) / (x - x)
"""
ESCAPE = """
def f(x):
    z = np.zeros(x.shape, complex)
    count = np.zeros(x.shape, int)
    for k in range(12):
        z = z * z + x
        count += np.abs(z) < 2.0
    return count
"""
ROUNDS = """
def f(x):
    total = np.zeros(x.shape)
    for k in range(5):
        total = total + 1.0 / (x - k * 0.5)
        total = np.where(np.abs(total) > 1e300, 0.0, total) * 1e200
    return total
"""
ROWS = """
def f(x):
    y = np.zeros(len(x))
    for i in range(len(x)):
        y[i] = np.sqrt(x[i] - 1.0) / (x[i] - x[0])
    return y
"""
GROWING = """
def f(x):
    a, k = x[0], 0
    while k < 4:
        a = a * a * 1e200
        k += 1
    return a - a
"""
PROGRAMS = {
    "a mask of logarithms": (LOG_MASK, numbers(3000, a=-1.0)),
    "zeros that a mask removes": (RECIPROCAL, numbers(3000, a=0.0)),
    "a normalisation of equal numbers": (NORMALISED, np.full(1000, 3.0)),
    "a unit with roots": (RELU, numbers(3000, a=-2.0)),
    "a quotient of exponentials": (SIGMOID, numbers(700, a=-2.0)),
    "in place": (IN_PLACE, numbers(1000, a=1.0)),
    "numbers": (SCALARS, numbers(7, a=1e200)),
    "several lines": (TWO_LINES, numbers(300, a=0.0)),
    "a function of its own": (HELPER, numbers(300)),
    "an escape loop": (ESCAPE, numbers(900)),
    "a loop": (ROUNDS, numbers(700, a=0.5, b=1.5)),
    "a loop over elements": (ROWS, numbers(20, a=0.5)),
    "a loop of numbers": (GROWING, numbers(3, a=1e10)),
}


@pytest.mark.parametrize("filters", ALL_FILTERS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name, filters):
    source, x = PROGRAMS[name]
    expected = check_warned(source, x, filters=filters)
    if filters == "record":
        assert expected[0]["warned"], "it warns of nothing"


@pytest.mark.parametrize("errstate", ERRSTATES)
@pytest.mark.parametrize("filters", ["default", "record", "ignore"])
def test_errstates(filters, errstate):
    check_warned(OWN_ERRSTATE, numbers(2000), filters=filters, errstate=errstate)


@pytest.mark.parametrize("n", [0, 1, 7, 255, 256, 257, 1025])
def test_sizes(n):
    check_warned(TWO_LINES, numbers(n, a=0.0) if n else np.zeros(0), stays=n > 0)


def test_data_that_changes():
    """Events come and go: those of one call say nothing of another's."""
    good, zeros, negative = numbers(500), numbers(500, a=0.0), numbers(500, a=-1.0)
    cases = [[x] for x in (good, zeros, zeros, zeros, negative, good, negative, zeros, *[good] * 12, zeros, negative, zeros)]
    for filters in ("record", "default"):
        expected, _ = run(LOG_MASK, cases, filters, "none", False)
        found, _ = run(LOG_MASK, cases, filters, "none", True)
        assert [{k: v for k, v in got.items() if k != "whole"} for got in found] == expected
        assert all(got["whole"] for got in found[4:16])


def test_explanations_name_events():
    """A call that is left for an event says which one, and of which operation; one that stays says that it stays."""

    def f(x):
        return np.sqrt(x - 1.0) + np.add(x, 2.0)

    call = accel.compile(f)
    good, bad = np.ones(5), np.zeros(5)
    with np.errstate(invalid="raise"):
        call(good)
        with pytest.raises(FloatingPointError):
            call(bad)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeWarning):
            call(bad)
        before = facts(call)["interpreted"]
        text = str(accel.explain(call, verbose=True)(good))
    assert "invalid value in sqrt" in text, text
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
        for _ in range(3):
            call(bad)
        explained = accel.explain(call)(bad)
    assert explained.compiled and "compiled as a whole" in str(explained)
    assert facts(call)["interpreted"] <= before + 2
