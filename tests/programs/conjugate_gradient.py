"""Iterative solvers and fixed points, each to a tolerance."""

import numpy as np
from support.whole_programs import Program


def conjugate_gradient(a, b, tolerance, most):
    x = np.zeros_like(b)
    r = b - a @ x
    p = r.copy()
    rr = r @ r
    iterations = 0
    while np.sqrt(rr) > tolerance and iterations < most:
        ap = a @ p
        alpha = rr / (p @ ap)
        x += alpha * p
        r -= alpha * ap
        new = r @ r
        p = r + (new / rr) * p
        rr = new
        iterations += 1
    return x, iterations


def bicgstab(a, b, tolerance=1e-8):
    x = np.zeros_like(b)
    r = b - np.dot(a, x)
    r0 = r.copy()
    rho = alpha = omega = 1.0
    v = np.zeros_like(b)
    p = np.zeros_like(b)
    for i in range(1, 2 * len(b) + 1):
        rho_new = np.dot(r0, r)
        beta = (rho_new / rho) * (alpha / omega)
        rho = rho_new
        p = r + beta * (p - omega * v)
        v = np.dot(a, p)
        alpha = rho / np.dot(r0, v)
        s = r - alpha * v
        if np.linalg.norm(s) < tolerance:
            x += alpha * p
            break
        t = np.dot(a, s)
        omega = np.dot(t, s) / np.dot(t, t)
        x += alpha * p + omega * s
        r = s - omega * t
        if np.linalg.norm(r) < tolerance:
            break
    return x, i


def poisson_cg(f, tolerance):
    """Conjugate gradients without a matrix: the operator is a function of its own."""

    def operator(u):
        out = 4 * u
        out[1:, :] -= u[:-1, :]
        out[:-1, :] -= u[1:, :]
        out[:, 1:] -= u[:, :-1]
        out[:, :-1] -= u[:, 1:]
        return out

    u = np.zeros_like(f)
    r = f - operator(u)
    p = r
    rr = np.sum(r * r)
    for k in range(f.size):
        ap = operator(p)
        alpha = rr / np.sum(p * ap)
        u = u + alpha * p
        r = r - alpha * ap
        new = np.sum(r * r)
        if new < tolerance**2:
            return u, k + 1, True
        p = r + new / rr * p
        rr = new
    return u, f.size, False


def power_iteration(a, tolerance):
    """The greatest eigenvalue and its vector."""
    v = np.ones(a.shape[1]) / np.sqrt(a.shape[1])
    value = 0.0
    while True:
        w = a @ v
        new = np.linalg.norm(w)
        v = w / new
        if abs(new - value) < tolerance * new:
            return new, v
        value = new


def newton_roots(coefficients, guesses, tolerance, most):
    """All points at once; those that have converged wait for the others."""
    x = guesses.copy()
    for step in range(most):
        value = np.zeros_like(x)
        slope = np.zeros_like(x)
        for c in coefficients:
            slope = slope * x + value
            value = value * x + c
        change = value / slope
        x = x - change
        if np.all(np.abs(change) < tolerance):
            break
    return x, step


def system(rng, n):
    a = rng.standard_normal((n, n))
    return a @ a.T + n * np.eye(n), rng.standard_normal(n), 1e-8, 10 * n


def unsymmetric(rng, n):
    return rng.standard_normal((n, n)) + 3 * n**0.5 * np.eye(n), rng.standard_normal(n)


def polynomial(rng, points):
    return np.array([1.0, 0.0, 0.0, -1.0]), rng.standard_normal(points) + 1j * rng.standard_normal(points), 1e-12, 60


PROGRAMS = [
    Program(conjugate_gradient, system, (6,), (100,), (2000,)),
    Program(bicgstab, unsymmetric, (6,), (80,), (1000,)),
    Program(poisson_cg, lambda rng, n: (rng.random((n, n)), 1e-6), (6,), (40,), (300,)),
    Program(power_iteration, lambda rng, n: (rng.random((n, n)), 1e-10), (5,), (80,), (2000,)),
    Program(newton_roots, polynomial, (10,), (2000,), (200_000,)),
]
