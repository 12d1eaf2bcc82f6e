"""Waves: finite differences in time."""

import numpy as np
from support.whole_programs import Program


def fdtd_2d(steps, ex, ey, hz, source):
    for t in range(steps):
        ey[0, :] = source[t]
        ey[1:, :] -= 0.5 * (hz[1:, :] - hz[:-1, :])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])


def wave(u, speed, dt, steps, every):
    """Keeps the field after every few steps; the edges are fixed."""
    previous = u.copy()
    courant = (speed * dt) ** 2
    kept = []
    for n in range(steps):
        following = np.zeros_like(u)
        laplace = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1]
        following[1:-1, 1:-1] = 2 * u[1:-1, 1:-1] - previous[1:-1, 1:-1] + courant * laplace
        previous, u = u, following
        if (n + 1) % every == 0:
            kept.append(u)
    return np.stack(kept)


def upwind(u, velocity, dt, dx, steps):
    """The scheme follows the sign of the velocity."""
    courant = velocity * dt / dx
    for _ in range(steps):
        if velocity > 0:
            u[1:] = u[1:] - courant * (u[1:] - u[:-1])
            u[0] = u[-1]
        else:
            u[:-1] = u[:-1] - courant * (u[1:] - u[:-1])
            u[-1] = u[0]
    return u


def heat_implicit(u, r, steps):
    """Crank-Nicolson; each step solves a tridiagonal system with Thomas' algorithm."""
    n = len(u)
    for _ in range(steps):
        d = u.copy()
        d[1:-1] = u[1:-1] + 0.5 * r * (u[2:] - 2 * u[1:-1] + u[:-2])
        c = np.zeros(n)
        c[0] = 0.0
        for i in range(1, n - 1):
            m = 1 + r + 0.5 * r * c[i - 1]
            c[i] = -0.5 * r / m
            d[i] = (d[i] + 0.5 * r * d[i - 1]) / m
        u[-1] = d[-1]
        for i in range(n - 2, -1, -1):
            u[i] = d[i] - c[i] * u[i + 1]
    return u


def burgers(u, viscosity, dx, dt, steps):
    for _ in range(steps):
        un = u.copy()
        for i in range(1, len(u) - 1):
            advection = un[i] * dt / dx * (un[i] - un[i - 1])
            u[i] = un[i] - advection + viscosity * dt / dx**2 * (un[i + 1] - 2 * un[i] + un[i - 1])
        u[0] = un[0] - un[0] * dt / dx * (un[0] - un[-2]) + viscosity * dt / dx**2 * (un[1] - 2 * un[0] + un[-2])
        u[-1] = u[0]
    return u


def fields(rng, rows, columns, steps):
    return steps, rng.random((rows, columns)), rng.random((rows, columns)), rng.random((rows, columns)), np.arange(steps) * 1.0


def membrane(rng, n, steps, every):
    u = np.zeros((n, n))
    u[n // 2, n // 2] = 1.0
    return u, 1.0, 0.5, steps, every


PROGRAMS = [
    Program(fdtd_2d, fields, (7, 8, 5), (100, 120, 20), (1000, 1200, 50)),
    Program(wave, membrane, (9, 6, 2), (80, 30, 10), (1000, 60, 20)),
    Program(upwind, lambda rng, n, s: (rng.random(n), 0.7, 0.01, 0.02, s), (10, 4), (500, 100), (100_000, 500)),
    Program(heat_implicit, lambda rng, n, s: (rng.random(n), 0.4, s), (8, 3), (60, 10), (2000, 50)),
    Program(burgers, lambda rng, n, s: (rng.random(n) + 1.0, 0.07, 0.05, 0.001, s), (8, 3), (60, 10), (2000, 50)),
]
