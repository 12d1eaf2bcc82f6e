"""Flow past a cylinder on the D2Q9 lattice, and other fluids."""

import numpy as np
from support.whole_programs import Program


def lattice_boltzmann(f, cylinder, steps, tau):
    """The populations f[y, x, direction] are updated in place; returns the vorticity."""
    cxs = np.array([0, 0, 1, 1, 1, 0, -1, -1, -1])
    cys = np.array([0, 1, 1, 0, -1, -1, -1, 0, 1])
    weights = np.array([4 / 9, 1 / 9, 1 / 36, 1 / 9, 1 / 36, 1 / 9, 1 / 36, 1 / 9, 1 / 36])
    for _ in range(steps):
        for i, cx, cy in zip(range(9), cxs, cys):
            f[:, :, i] = np.roll(f[:, :, i], cx, axis=1)
            f[:, :, i] = np.roll(f[:, :, i], cy, axis=0)
        boundary = f[cylinder, :]
        boundary = boundary[:, [0, 5, 6, 7, 8, 1, 2, 3, 4]]
        rho = np.sum(f, 2)
        ux = np.sum(f * cxs, 2) / rho
        uy = np.sum(f * cys, 2) / rho
        equilibrium = np.zeros(f.shape)
        for i, cx, cy, w in zip(range(9), cxs, cys, weights):
            equilibrium[:, :, i] = (
                rho * w * (1 + 3 * (cx * ux + cy * uy) + 9 * (cx * ux + cy * uy) ** 2 / 2 - 3 * (ux**2 + uy**2) / 2)
            )
        f += -(1.0 / tau) * (f - equilibrium)
        f[cylinder, :] = boundary
    ux[cylinder] = 0
    uy[cylinder] = 0
    return (np.roll(ux, -1, axis=0) - np.roll(ux, 1, axis=0)) - (np.roll(uy, -1, axis=1) - np.roll(uy, 1, axis=1))


def cavity_flow(u, v, p, steps, inner, dx, dy, dt, rho, nu):
    """Navier-Stokes: a lid that drags the fluid along."""
    b = np.zeros_like(p)
    for _ in range(steps):
        un = u.copy()
        vn = v.copy()
        dudx = (u[1:-1, 2:] - u[1:-1, 0:-2]) / (2 * dx)
        dvdy = (v[2:, 1:-1] - v[0:-2, 1:-1]) / (2 * dy)
        dudy = (u[2:, 1:-1] - u[0:-2, 1:-1]) / (2 * dy)
        dvdx = (v[1:-1, 2:] - v[1:-1, 0:-2]) / (2 * dx)
        b[1:-1, 1:-1] = rho * (1 / dt * (dudx + dvdy) - dudx**2 - 2 * (dudy * dvdx) - dvdy**2)
        for _ in range(inner):
            pn = p.copy()
            p[1:-1, 1:-1] = ((pn[1:-1, 2:] + pn[1:-1, 0:-2]) * dy**2 + (pn[2:, 1:-1] + pn[0:-2, 1:-1]) * dx**2) / (
                2 * (dx**2 + dy**2)
            ) - dx**2 * dy**2 / (2 * (dx**2 + dy**2)) * b[1:-1, 1:-1]
            p[:, -1] = p[:, -2]
            p[0, :] = p[1, :]
            p[:, 0] = p[:, 1]
            p[-1, :] = 0
        u[1:-1, 1:-1] = (
            un[1:-1, 1:-1]
            - un[1:-1, 1:-1] * dt / dx * (un[1:-1, 1:-1] - un[1:-1, 0:-2])
            - vn[1:-1, 1:-1] * dt / dy * (un[1:-1, 1:-1] - un[0:-2, 1:-1])
            - dt / (2 * rho * dx) * (p[1:-1, 2:] - p[1:-1, 0:-2])
            + nu * (dt / dx**2 * (un[1:-1, 2:] - 2 * un[1:-1, 1:-1] + un[1:-1, 0:-2]))
            + nu * (dt / dy**2 * (un[2:, 1:-1] - 2 * un[1:-1, 1:-1] + un[0:-2, 1:-1]))
        )
        v[1:-1, 1:-1] = (
            vn[1:-1, 1:-1]
            - un[1:-1, 1:-1] * dt / dx * (vn[1:-1, 1:-1] - vn[1:-1, 0:-2])
            - vn[1:-1, 1:-1] * dt / dy * (vn[1:-1, 1:-1] - vn[0:-2, 1:-1])
            - dt / (2 * rho * dy) * (p[2:, 1:-1] - p[0:-2, 1:-1])
            + nu * (dt / dx**2 * (vn[1:-1, 2:] - 2 * vn[1:-1, 1:-1] + vn[1:-1, 0:-2]))
            + nu * (dt / dy**2 * (vn[2:, 1:-1] - 2 * vn[1:-1, 1:-1] + vn[0:-2, 1:-1]))
        )
        u[0, :] = 0
        u[:, 0] = 0
        u[:, -1] = 0
        u[-1, :] = 1
        v[0, :] = 0
        v[-1, :] = 0
        v[:, 0] = 0
        v[:, -1] = 0


def populations(rng, rows, columns, steps):
    f = np.ones((rows, columns, 9)) + 0.01 * rng.standard_normal((rows, columns, 9))
    x, y = np.meshgrid(range(columns), range(rows))
    f[:, :, 3] += 2 * (1 + 0.2 * np.cos(2 * np.pi * x / columns * 4))
    f *= (100 / np.sum(f, 2))[:, :, None]
    return f, (x - columns / 4) ** 2 + (y - rows / 2) ** 2 < (rows / 4) ** 2, steps, 0.6


def lid(rng, n, steps, inner):
    d, nu = 2 / (n - 1), 0.1
    dt = min(0.001, 0.2 * d**2 / nu)  # longer steps are unstable
    return np.zeros((n, n)), np.zeros((n, n)), np.zeros((n, n)), steps, inner, d, d, dt, 1.0, nu


PROGRAMS = [
    Program(lattice_boltzmann, populations, (8, 12, 3), (30, 60, 10), (100, 400, 50)),
    Program(cavity_flow, lid, (9, 3, 4), (41, 5, 10), (201, 20, 50)),
]
