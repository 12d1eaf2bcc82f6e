"""Comparisons of integers near bounds that are no doubles: what ranges imply of them is what Python computes."""

import numpy as np
import pytest
from support.compiled import facts
from support.outcome import assert_same

import accel

NEAR = 2**46
FUNCTIONS = {
    "product": lambda a, n: (a + 1, n * 65536 > 2**62 - 1),
    "product of negative": lambda a, n: (a + 1, n * -65536 < 1 - 2**62),
    "product equal": lambda a, n: (a + 1, n * 65536 == 2**62, n * 65536 != 2**62 - 1),
    "sum": lambda a, n: (a + 1, n * 65535 + n > 2**62 - 1, n * 65536 + 255 >= 2**62 + 255),
    "difference": lambda a, n: (a + 1, n * 65536 - (2**62 - 1) > 0, (2**62 - 1) - n * 65536 >= 0),
    "constant": lambda a, n: (a + 1, n * 65536 > 2**62 - 1, n * 65536 < 2**62 + 1),
    "quotient": lambda a, n: (a + 1, (n * 65536 + 2**62 - 1) // 2 > 2**62 - 2, (n * 65536 - 1) // 3 >= 2**62 // 3),
    "remainder": lambda a, n: (a + 1, n % (2**62 - 1) >= n, (n * 65536) % (2**62 + 1) > 2**62 - 1),
    "extremes": lambda a, n: (a + 1, max(n * 65536, 5) > 2**62 - 1, min(n * 65536, 2**62 - 1) < 2**62 - 1),
}


@pytest.mark.parametrize("first", [NEAR, NEAR - 1, 5, -NEAR])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_comparisons(name, first):
    function = FUNCTIONS[name]
    call = accel.compile(function)
    for n in (first, first, NEAR, NEAR - 1, 5, -NEAR, 1 - NEAR):
        assert_same(function, call, np.zeros(3), n, times=1)
    assert facts(call)["compiled"] >= 6


@pytest.mark.parametrize("first", [NEAR, 5])
def test_branches(first):
    def function(a, n):
        if n * 65536 > 2**62 - 1:
            return a + 1
        return a - 1

    call = accel.compile(function)
    for n in (first, NEAR, NEAR - 1, 5):
        assert_same(function, call, np.zeros(3), n, times=1)
    assert facts(call)["compiled"] >= 3
