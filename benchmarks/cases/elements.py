"""Chains of element by element operations."""

import numpy as np

from benchmarks.case import Case


def chain(a, b):
    return np.sqrt(a * a + b * b) - 0.5 * (a + b)


def masked(x):
    return np.where(x > 0, x * 1.5, np.exp(x) - 1.0)


def integers(a, b):
    return (a & 0xFF) + (b >> 3) * 7


def total(a, b):
    return np.sum(a * b + 1.0)


def standardised(x):
    return (x - x.mean(axis=0)) / x.std(axis=0)


def reals(count, length):
    return lambda rng: tuple(rng.standard_normal(length) for _ in range(count))


def whole(length):
    return lambda rng: (rng.integers(0, 1 << 40, length), rng.integers(0, 1 << 40, length))


def table(rows, columns):
    return lambda rng: (rng.standard_normal((rows, columns)),)


CASES = [
    Case("chain", chain, reals(2, 10_000_000), reals(2, 10_000), about="sqrt(a*a + b*b) - (a + b) / 2, 10M"),
    Case("masked", masked, reals(1, 10_000_000), reals(1, 10_000), about="where(x > 0, 1.5 x, exp(x) - 1), 10M"),
    Case("integers", integers, whole(10_000_000), whole(10_000), about="masks and shifts of int64, 10M"),
    Case("total", total, reals(2, 10_000_000), reals(2, 10_000), about="sum(a * b + 1), 10M"),
    Case(
        "standardised",
        standardised,
        table(1_000_000, 8),
        table(1_000, 8),
        about="columns to mean 0 and deviation 1, 1M x 8",
    ),
]
