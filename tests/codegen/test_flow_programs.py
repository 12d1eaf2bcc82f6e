"""Kernels of whole programs with loops over elements, rows and stencils, bit for bit against NumPy."""

import flow_programs
import numpy as np
import pytest
from graph_text import GraphText
from kernels import INTERRUPTED, GraphKernel, same_bits

RNG = np.random.default_rng(0)


def gauss_seidel(a, steps):
    for _ in range(steps):
        for i in range(1, a.shape[0] - 1):
            for j in range(1, a.shape[1] - 1):
                a[i, j] = 0.25 * (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1])


def floyd_warshall(d):
    n = len(d)
    for k in range(n):
        for i in range(n):
            for j in range(n):
                if d[i, k] + d[k, j] < d[i, j]:
                    d[i, j] = d[i, k] + d[k, j]


def smith_waterman(a, b, h):
    best = 0
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            score = 2 if a[i - 1] == b[j - 1] else -1
            value = max(0, h[i - 1, j - 1] + score, h[i - 1, j] - 1, h[i, j - 1] - 1)
            h[i, j] = value
            best = max(best, value)
    return best


def n_body(x, v, m):
    for i in range(len(x)):
        for j in range(i + 1, len(x)):
            d = x[i] - x[j]
            s = d[0] * d[0] + d[1] * d[1] + d[2] * d[2]
            factor = 0.01 / (s * np.sqrt(s))
            for k in range(3):
                v[i, k] = v[i, k] - d[k] * m[j] * factor
                v[j, k] = v[j, k] + d[k] * m[i] * factor


def cholesky_rows(a):
    for i in range(len(a)):
        for j in range(i):
            a[i, j] = (a[i, j] - np.vecdot(a[i, :j], a[j, :j])) / a[j, j]
        a[i, i] = np.sqrt(a[i, i] - np.vecdot(a[i, :i], a[i, :i]))


def lu_rows(a):
    n = len(a)
    for k in range(n):
        for i in range(k + 1, n):
            factor = a[i, k] / a[k, k]
            a[i, k] = factor
            a[i, k + 1 :] -= factor * a[k, k + 1 :]


def jacobi(a, steps):
    a, b = a.copy(), a.copy()
    for _ in range(steps):
        b[1:-1, 1:-1] = 0.25 * (a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:])
        a, b = b, a
    return a


def jacobi_in_place(a, steps):
    for _ in range(steps):
        a[1:-1, 1:-1] = 0.25 * (a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:])


def fdtd(ex, ey, hz, steps):
    for t in range(steps):
        ey[0, :] = t
        ey[1:] -= 0.5 * (hz[1:] - hz[:-1])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])


def grid(count=1, shape=(17, 21)):
    return list(RNG.normal(size=(count, *shape)))


CASES = {
    gauss_seidel: lambda: (grid(), [17, 21], [3]),
    floyd_warshall: lambda: ([RNG.uniform(size=(13, 13))], [13], []),
    smith_waterman: lambda: ([*RNG.integers(0, 4, (2, 19)), np.zeros((20, 20), np.int64)], [19, 19], []),
    n_body: lambda: ([RNG.normal(size=(9, 3)), RNG.normal(size=(9, 3)), RNG.uniform(size=9)], [9], []),
    cholesky_rows: lambda: ([10 * np.eye(12) + np.ones((12, 12))], [12], []),
    lu_rows: lambda: ([RNG.normal(size=(12, 12)) + 12 * np.eye(12)], [12], []),
    jacobi: lambda: (grid(), [17, 21], [4]),
    jacobi_in_place: lambda: (grid(), [17, 21], [4]),
    fdtd: lambda: (grid(3), [17, 21], [4]),
}


@pytest.mark.parametrize("serial_work", [0, 1 << 20])
@pytest.mark.parametrize("function", CASES, ids=lambda f: f.__name__)
def test_program(function, serial_work):
    arrays, shape, numbers = CASES[function]()
    expected = [a.copy() for a in arrays]
    result = function(*expected, *numbers)
    kernel = GraphKernel(getattr(flow_programs, function.__name__)())
    status, taken, results = kernel([*shape, *numbers, *[0] * 8], arrays, threads=2, serial_work=serial_work)
    assert (status, taken) == (0, 0)
    assert all(same_bits(a, b) for a, b in zip(arrays, expected, strict=True))
    if result is not None:
        assert same_bits(results[0], np.asarray(result, results[0].dtype))


def test_rows_of_one_array_need_no_temporary():
    notes = GraphKernel(flow_programs.lu_rows()).notes
    assert not any("overwrites" in note for note in notes)


def test_a_loop_is_interrupted():
    kernel = GraphKernel(flow_programs.gauss_seidel())
    a = RNG.normal(size=(400, 5))
    before = a.copy()
    status, _, _ = kernel([400, 5, 1000, *[0] * 8], [a], polls=2)
    assert status == INTERRUPTED
    assert same_bits(a, before)


def true_elements():
    """indices = flatnonzero(mask); x[indices] = -x[indices]; return indices"""
    g = GraphText()
    n, count = g.symbol(), g.symbol("count", 1)
    mask, x = g.array("bool", n), g.array("float64", n)
    ones = g.node("astype", [mask], f"array int64[{n}]")
    g.node("bind", [g.total(ones)], "numpy_scalar int64", f"dims = [{count}]")
    indices = g.node("true_indices", [mask], f"array int64[{count}]")
    values = g.node("take", [x, indices], f"array float64[{count}]")
    negated = g.op("negative", values)
    g.node("put", [x, negated, indices], x.kind)
    g.ret(indices)
    return g.text()


@pytest.mark.parametrize("n", [0, 1, 63, 64, 65, 1000])
@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_true_indices(n, share):
    mask, x = RNG.uniform(size=n) < share, RNG.normal(size=n)
    expected = x.copy()
    expected[mask] = -expected[mask]
    status, _, (indices,) = GraphKernel(true_elements())([n, 0], [mask, x])
    assert status == 0
    assert same_bits(indices, np.flatnonzero(mask))
    assert same_bits(x, expected)
