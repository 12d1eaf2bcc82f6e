"""What inner loops load with gaps, in every round of the outer ones, is copied side by side before."""

import numpy as np
import pytest
from support.differential import check, check_sizes, sample

import accel

NOTE = "what inner loops load with gaps is copied side by side before"


def check_packed(function, *arguments):
    call = check(function, *arguments)
    assert NOTE in str(accel.explain(call, verbose=True)(*arguments))
    return call


def distances(p):
    x, y = p[:, 0:1], p[:, 1:2]
    return (x.T - x) ** 2 + (y.T - y) ** 2


def powers(p):
    x, y = p[:, 0:1], p[:, 2:3]
    return ((x.T - x) ** 2 + (y.T - y) ** 2 + 0.25) ** -1.5 * (x.T - x)


@pytest.mark.parametrize("function", [distances, powers])
def test_columns_of_points(function):
    check_packed(function, sample((60, 3)))
    check_sizes(function, *[(sample((n, 3)),) for n in (60, 2, 3, 33, 300)])


@pytest.mark.parametrize("n", [1023, 1024, 1025, 2100])
def test_tiles_of_a_library_loop(n):
    check_packed(lambda a, p: np.exp(a[:, None] * p[:, 1]) + p[:, 1], sample(20), sample((n, 2), seed=1))


@pytest.mark.parametrize("dtype", ["float32", "float16", "complex64", "complex128", "int8", "int64", "uint16", "bool"])
def test_dtypes(dtype):
    a, p = sample((40,), dtype), sample((50, 3), dtype, seed=1)
    check_packed(lambda a, p: (a[:, None] + p[:, 1], p[:, 2] == a[:, None]), a, p)


def test_strides():
    a, p = sample(40), sample((150, 4), seed=1)
    check_packed(lambda a, p: a[:, None] * p[::3, 1], a, p)
    check_packed(lambda a, p: a[:, None] * p, a, p[:, 1])
    check(lambda a, p: a[:, None] * p[::-1, 1], a, p)
    check_packed(lambda a, p: a[:, None] * p.T[1], a, p)


def test_what_is_stored_is_not_packed():
    def function(a, p):
        for _ in range(3):
            a[:, 1:] = a[:, 1:] + p[1:, 0] * a[:, :1]
            p[:, 0] = p[:, 0] + p[:, 1]
            p += a[1, 0]
        return a

    check(function, sample((40, 60)), sample((60, 3), seed=1))


def test_in_loops_and_branches():
    def function(a, p, n):
        total = np.zeros((40, 60))
        for k in range(n):
            if k % 2:
                total += a[:, None] * p[:, k % 3]
            else:
                p[:, 0] += 1.0
                total[:, : 40 + k] -= a[:, None] * p[: 40 + k, 0]
        return total

    check(function, sample(40), sample((60, 3), seed=1), 9)


def test_sizes_that_were_not_seen():
    def function(a, p):
        return a[:, None] * p[:, 1]

    sizes = [(40, 60), (2, 60), (40, 2), (3, 3), (17, 5000), (5000, 33)]
    check_sizes(function, *[(sample(m), sample((n, 3), seed=1)) for m, n in sizes])
    call = accel.compile(function)
    call(sample(40), sample((60, 3)))
    assert call(sample(40), sample((0, 3))).shape == (40, 0)
    assert call(sample(0), sample((60, 3))).shape == (0, 60)
