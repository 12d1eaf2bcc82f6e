"""Products that are added and subtracted side by side: each is rounded, whatever instructions the CPU has."""

import numpy as np
import pytest
from support.differential import check, sample


def rotated(p, c, s):
    q = np.empty(2, p.dtype)
    q[0] = c * p[0] - s * p[1]
    q[1] = s * p[0] + c * p[1]
    return q


def rotated_rows(p, c, s):
    out = np.empty_like(p)
    for i in range(len(p)):
        out[i, 0] = c * p[i, 0] + s * p[i, 1]
        out[i, 1] = c * p[i, 1] - s * p[i, 0]
    return out


def multiplied_quaternions(a, b):
    q = np.empty(4, a.dtype)
    q[0] = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3]
    q[1] = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2]
    q[2] = a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1]
    q[3] = a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0]
    return q


def columns(p, c, s):
    out = np.empty_like(p)
    out[:, 0] = c * p[:, 0] - s * p[:, 1]
    out[:, 1] = c * p[:, 0] + s * p[:, 1]
    return out


def pairs(p, c):
    out = np.empty((len(p), 2), p.dtype)
    for i in range(len(p)):
        square = p[i, 0] * p[i, 0]
        out[i] = square - c, square + c
    return out


def butterflies(x, w):
    for k in range(0, len(x), 2):
        turned = w[k] * x[k + 1]
        x[k], x[k + 1] = x[k] * w[k] + turned, x[k] * w[k] - turned
    return x


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("seed", range(20))
def test_rotations(dtype, seed):
    c, s = sample((2,), dtype, seed=seed + 100)
    check(rotated, sample((2,), dtype, seed=seed), c, s)
    check(rotated_rows, sample((9, 2), dtype, seed=seed), c, s)
    check(columns, sample((33, 2), dtype, seed=seed), c, s)
    check(pairs, sample((9, 2), dtype, seed=seed), c)
    check(butterflies, sample((16,), dtype, seed=seed), sample((16,), dtype, seed=seed + 50))
    check(multiplied_quaternions, sample((4,), dtype, seed=seed), sample((4,), dtype, seed=seed + 50))


@pytest.mark.parametrize("dtype", ["complex128", "complex64"])
def test_complex_numbers_one_by_one(dtype):
    def function(a, b):
        out = np.empty_like(a)
        for i in range(len(a)):
            out[i] = a[i] * b[i]
        return out

    for seed in range(5):
        check(function, sample((40,), dtype, seed=seed), sample((40,), dtype, seed=seed + 50))
