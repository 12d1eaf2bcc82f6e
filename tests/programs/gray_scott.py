"""Reaction and diffusion."""

import numpy as np
from support.whole_programs import Program


def laplacian(z):
    return z[:-2, 1:-1] + z[1:-1, :-2] - 4 * z[1:-1, 1:-1] + z[1:-1, 2:] + z[2:, 1:-1]


def gray_scott(big_u, big_v, steps, du, dv, f, k):
    u, v = big_u[1:-1, 1:-1], big_v[1:-1, 1:-1]
    for _ in range(steps):
        lu = laplacian(big_u)
        lv = laplacian(big_v)
        uvv = u * v * v
        u += du * lu - uvv + f * (1 - u)
        v += dv * lv + uvv - (f + k) * v
        for z in (big_u, big_v):
            z[0, :], z[-1, :] = z[-2, :], z[1, :]
            z[:, 0], z[:, -1] = z[:, -2], z[:, 1]
    return u


def fitzhugh_nagumo(u, v, a, b, tau, k, dx, dt, steps):
    """Turing patterns; the derivative across the edge is 0."""
    for _ in range(steps):
        delta_u = laplacian(u) / dx**2
        delta_v = laplacian(v) / dx**2
        uc = u[1:-1, 1:-1]
        vc = v[1:-1, 1:-1]
        u[1:-1, 1:-1], v[1:-1, 1:-1] = (
            uc + dt * (a * delta_u + uc - uc**3 - vc + k),
            vc + dt * (b * delta_v + uc - vc) / tau,
        )
        for z in (u, v):
            z[0, :] = z[1, :]
            z[-1, :] = z[-2, :]
            z[:, 0] = z[:, 1]
            z[:, -1] = z[:, -2]
    return u.max(), v.max()


def lotka_volterra(prey, predators, steps, dt, params):
    """Runge-Kutta of fourth order with a helper that returns a tuple."""
    alpha, beta, gamma, delta = params["alpha"], params["beta"], params["gamma"], params["delta"]

    def rates(x, y):
        return alpha * x - beta * x * y, delta * x * y - gamma * y

    path = np.zeros((steps + 1, 2))
    path[0] = prey, predators
    for i in range(steps):
        x, y = path[i]
        k1x, k1y = rates(x, y)
        k2x, k2y = rates(x + dt / 2 * k1x, y + dt / 2 * k1y)
        k3x, k3y = rates(x + dt / 2 * k2x, y + dt / 2 * k2y)
        k4x, k4y = rates(x + dt * k3x, y + dt * k3y)
        path[i + 1] = x + dt / 6 * (k1x + 2 * k2x + 2 * k3x + k4x), y + dt / 6 * (k1y + 2 * k2y + 2 * k3y + k4y)
    return path


def pools(rng, n, steps):
    u, v = np.ones((n, n)), np.zeros((n, n))
    r = n // 4
    u[r:-r, r:-r], v[r:-r, r:-r] = 0.5, 0.25
    u += 0.05 * rng.random((n, n))
    v += 0.05 * rng.random((n, n))
    return u, v, steps, 0.16, 0.08, 0.06, 0.062


def membrane(rng, n, steps):
    return rng.random((n, n)), rng.random((n, n)), 2.8e-4, 5e-3, 0.1, -0.005, 2.0 / 100, 0.001, steps


def animals(rng, steps):
    return 10.0, 5.0, steps, 0.01, {"alpha": 1.1, "beta": 0.4, "gamma": 0.4, "delta": 0.1}


PROGRAMS = [
    Program(gray_scott, pools, (10, 5), (80, 30), (1000, 50)),
    Program(fitzhugh_nagumo, membrane, (8, 5), (80, 30), (1000, 50)),
    Program(lotka_volterra, animals, (10,), (300,), (20_000,)),
]
