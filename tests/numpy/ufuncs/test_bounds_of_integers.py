"""Integers against Python ints beyond their dtype."""

import numpy as np
import pytest
from support.differential import check

import accel


@pytest.mark.parametrize("number", [300, 256, -1, 255, 0, 2**70, -(2**70)])
@pytest.mark.parametrize("dtype", ["u1", "i1", "u2", "u8", "i8"])
def test_comparisons(dtype, number):
    x = np.arange(12).astype(dtype).reshape(3, 4)

    def relations(x):
        n = number
        return x < n, x <= n, x == n, x != n, x > n, x >= n, n < x, n == x, np.less(n, x), np.greater_equal(n, x.T)

    def scalars(x):
        n, v = number, x[1, 2]
        return v < n, v == n, n >= v

    check(relations, x)
    check(relations, x[:0])
    check(scalars, x)


def test_in_programs():
    def thresholds(image):
        out = image.copy()
        out[image > 300] = 0
        out[image == -1] = 7
        out[image < 128] += 1
        return out, np.where(image <= 1000, image, 0)

    check(thresholds, np.arange(256, dtype="u1"))


def test_arithmetic_raises():
    with pytest.raises(OverflowError, match="300"):
        accel.compile(lambda x: x + 300)(np.arange(3, dtype="u1"))
