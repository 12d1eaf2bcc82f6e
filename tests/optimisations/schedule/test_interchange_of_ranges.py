"""Loops that are done tile by tile, over what is computed from ranges."""

import numpy as np
import pytest
from support.differential import check_cases

RANGES = {
    "whole numbers": lambda n: np.arange(n),
    "scaled": lambda n: np.arange(n) * 0.1,
    "cast": lambda n: np.arange(n).astype(float),
    "floats": lambda n: np.arange(0.0, n),
    "spaced": lambda n: np.linspace(0, 1, n),
    "backwards": lambda n: np.arange(n)[::-1] * 0.1,
    "remainders": lambda n: (np.arange(n) % 3) * 1.0,
    "selected": lambda n: np.where(np.arange(n) > 2, 1.0, 0.0),
    "complex": lambda n: np.arange(n) * 1j,
    "roots": lambda n: np.sqrt(np.arange(1, n + 1)),
    "filled": lambda n: np.full(n, 3)[::-1] * 0.5,
    "steps": lambda n: np.arange(2 * n)[::2] * 0.5,
}


@pytest.mark.parametrize("make", RANGES.values(), ids=RANGES)
def test_ranges(make):
    def before_the_loop(n):
        x = make(n)
        y = np.zeros(n)
        for k in range(3):
            y = y + x * k
        return y

    def state(n):
        a = make(n)
        for k in range(3):
            a = a * 0.5 + k
        return a

    def in_the_loop(n):
        y = np.zeros(n)
        for k in range(3):
            y = y + make(n) * k
        return y

    def masked(b):
        a = make(len(b)) * 1.0
        for k in range(3):
            a[b > 0.5] = k
            a += b
        return a

    sizes = (5, 3000, 1, 0)
    of_numbers, of_arrays = [(n,) for n in sizes], [(np.random.default_rng(n).random(n),) for n in sizes]
    functions = [before_the_loop, state, in_the_loop, masked]
    first = list(RANGES.values()).index(make) % 4  # each range meets three of the four functions
    for function in (functions * 2)[first : first + 3]:
        check_cases(function, of_arrays if function is masked else of_numbers, lambda function, case: True)
