"""Gauss-Seidel sweeps: each element is updated from neighbours that are new already."""

import numpy as np
from support.whole_programs import Program


def gauss_seidel(u, sweeps):
    rows, columns = u.shape
    for _ in range(sweeps):
        for i in range(1, rows - 1):
            for j in range(1, columns - 1):
                u[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])


def gauss_seidel_9_points(steps, n, a):
    for _ in range(steps - 1):
        for i in range(1, n - 1):
            a[i, 1:-1] += (
                a[i - 1, :-2] + a[i - 1, 1:-1] + a[i - 1, 2:] + a[i, 2:] + a[i + 1, :-2] + a[i + 1, 1:-1] + a[i + 1, 2:]
            )
            for j in range(1, n - 1):
                a[i, j] += a[i, j - 1]
                a[i, j] /= 9.0


def successive_over_relaxation(a, b, omega, tolerance, most):
    """Solves a x = b. Returns x, the number of sweeps and the residual."""
    n = len(b)
    x = np.zeros(n)
    for sweep in range(most):
        for i in range(n):
            s = a[i, :i] @ x[:i] + a[i, i + 1 :] @ x[i + 1 :]
            x[i] = (1 - omega) * x[i] + omega * (b[i] - s) / a[i, i]
        residual = np.linalg.norm(a @ x - b)
        if residual < tolerance:
            break
    return x, sweep + 1, residual


def red_black(u, f, sweeps):
    """The elements of one colour depend on those of the other only."""
    for _ in range(sweeps):
        for colour in (0, 1):
            for start in (1, 2):
                rows = slice(start, -1, 2)
                first = 1 + (start + colour) % 2
                columns = slice(first, -1, 2)
                above, below = u[start - 1 : -2 : 2, columns], u[start + 1 :: 2, columns]
                left, right = u[rows, first - 1 : -2 : 2], u[rows, first + 1 :: 2]
                u[rows, columns] = 0.25 * (above + below + left + right - f[rows, columns])
    return u


def grid(rng, rows, columns, sweeps):
    return rng.random((rows, columns)), sweeps


def square(rng, n, steps):
    return steps, n, rng.random((n, n))


def system(rng, n):
    a = rng.standard_normal((n, n))
    a[np.arange(n), np.arange(n)] = 2 * np.abs(a).sum(axis=1)
    return a, rng.standard_normal(n), 1.1, 1e-10, 100


def coloured(rng, n, sweeps):
    return rng.random((n, n)), rng.random((n, n)), sweeps


PROGRAMS = [
    Program(gauss_seidel, grid, (6, 7, 3), (30, 24, 5), (200, 200, 10)),
    Program(gauss_seidel_9_points, square, (7, 4), (40, 6), (400, 10)),
    Program(successive_over_relaxation, system, (6,), (40,), (300,)),
    Program(red_black, coloured, (8, 3), (100, 10), (2000, 20)),
]
