"""LU decomposition in place, and what is done with it."""

import numpy as np
from support.whole_programs import Program


def lu(a):
    n = a.shape[0]
    for i in range(n):
        for j in range(i):
            a[i, j] -= a[i, :j] @ a[:j, j]
            a[i, j] /= a[j, j]
        for j in range(i, n):
            a[i, j] -= a[i, :i] @ a[:i, j]


def lu_by_columns(a):
    """Right-looking: the rank-1 update of the trailing matrix."""
    n = len(a)
    for k in range(n - 1):
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= a[k + 1 :, k, None] * a[k, k + 1 :]
    return a


def lu_with_pivots(a):
    """Returns the permutation; raises for a singular matrix."""
    n = len(a)
    order = np.arange(n)
    for k in range(n):
        p = k + np.argmax(np.abs(a[k:, k]))
        if a[p, k] == 0:
            raise ValueError(f"singular matrix: column {k}")
        if p != k:
            a[[k, p]] = a[[p, k]]
            order[k], order[p] = order[p], order[k]
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])
    return order


def solve_by_elements(a, b):
    """Doolittle's algorithm with three nested loops over elements, then substitution."""
    n = len(b)
    lower = np.eye(n)
    upper = np.zeros((n, n))
    for i in range(n):
        for j in range(i, n):
            total = 0.0
            for k in range(i):
                total += lower[i, k] * upper[k, j]
            upper[i, j] = a[i, j] - total
        for j in range(i + 1, n):
            total = 0.0
            for k in range(i):
                total += lower[j, k] * upper[k, i]
            lower[j, i] = (a[j, i] - total) / upper[i, i]
    y = np.zeros(n)
    for i in range(n):
        y[i] = b[i] - np.dot(lower[i, :i], y[:i])
    x = np.zeros(n)
    for i in reversed(range(n)):
        x[i] = (y[i] - np.dot(upper[i, i + 1 :], x[i + 1 :])) / upper[i, i]
    return x


def triangular_solve(lower, b):
    x = np.empty_like(b)
    for i in range(len(b)):
        x[i] = (b[i] - lower[i, :i] @ x[:i]) / lower[i, i]
    return x


def matrix(rng, n):
    return (rng.random((n, n)) + n * np.eye(n),)


def system(rng, n):
    return *matrix(rng, n), rng.random(n)


PROGRAMS = [
    Program(lu, matrix, (6,), (40,), (400,)),
    Program(lu_by_columns, matrix, (6,), (60,), (800,)),
    Program(lu_with_pivots, lambda rng, n: (rng.random((n, n)),), (6,), (60,), (400,), bad=lambda rng: (np.ones((4, 4)),)),
    Program(solve_by_elements, system, (5,), (24,), (200,)),
    Program(triangular_solve, system, (6,), (100,), (2000,)),
]
