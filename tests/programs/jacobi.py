"""Jacobi's method for Laplace's equation on a rectangle."""

import numpy as np
from support.whole_programs import Program


def jacobi(u, sweeps):
    for _ in range(sweeps):
        u[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])


def jacobi_two_grids(steps, a, b):
    for _ in range(1, steps):
        b[1:-1, 1:-1] = 0.2 * (a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1])
        a[1:-1, 1:-1] = 0.2 * (b[1:-1, 1:-1] + b[1:-1, :-2] + b[1:-1, 2:] + b[2:, 1:-1] + b[:-2, 1:-1])


def jacobi_to_tolerance(u, tolerance, most):
    """Returns the number of sweeps, and the last change."""
    change = np.inf
    sweeps = 0
    while change > tolerance and sweeps < most:
        old = u.copy()
        u[1:-1, 1:-1] = 0.25 * (old[:-2, 1:-1] + old[2:, 1:-1] + old[1:-1, :-2] + old[1:-1, 2:])
        change = np.abs(u - old).max()
        sweeps += 1
    return sweeps, change


def grid(rng, rows, columns, sweeps):
    u = np.zeros((rows, columns))
    u[0] = 1.0
    u[:, -1] = rng.random(rows)
    return u, sweeps


def two_grids(rng, n, steps):
    return steps, rng.random((n, n)), np.zeros((n, n))


def to_tolerance(rng, rows, columns, tolerance, most):
    return grid(rng, rows, columns, 0)[0], tolerance, most


PROGRAMS = [
    Program(jacobi, grid, (9, 12, 4), (150, 130, 20), (2000, 2000, 20)),
    Program(jacobi_two_grids, two_grids, (9, 4), (120, 10), (2000, 11)),
    Program(jacobi_to_tolerance, to_tolerance, (9, 12, 1e-2, 100), (60, 50, 1e-4, 1000), (500, 500, 1e-4, 1000)),
]
