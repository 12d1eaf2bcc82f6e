"""Bodies under each other's gravity."""

import numpy as np
from support.whole_programs import Program


def acceleration(position, mass, gravity, softening):
    x, y, z = position[:, 0:1], position[:, 1:2], position[:, 2:3]
    dx, dy, dz = x.T - x, y.T - y, z.T - z
    inverse = dx**2 + dy**2 + dz**2 + softening**2
    inverse[inverse > 0] = inverse[inverse > 0] ** (-1.5)
    ax = gravity * (dx * inverse) @ mass
    ay = gravity * (dy * inverse) @ mass
    az = gravity * (dz * inverse) @ mass
    return np.hstack((ax, ay, az))


def energy(position, velocity, mass, gravity):
    kinetic = 0.5 * np.sum(mass * velocity**2)
    x, y, z = position[:, 0:1], position[:, 1:2], position[:, 2:3]
    dx, dy, dz = x.T - x, y.T - y, z.T - z
    inverse = np.sqrt(dx**2 + dy**2 + dz**2)
    inverse[inverse > 0] = 1.0 / inverse[inverse > 0]
    potential = gravity * np.sum(np.sum(np.triu(-(mass * mass.T) * inverse, 1)))
    return kinetic, potential


def nbody(mass, position, velocity, steps, dt, gravity, softening):
    """Leapfrog; returns the energies after each step. Positions and velocities are updated in place."""
    velocity -= np.mean(mass * velocity, axis=0) / np.mean(mass)
    a = acceleration(position, mass, gravity, softening)
    kinetic = np.empty(steps + 1)
    potential = np.empty(steps + 1)
    kinetic[0], potential[0] = energy(position, velocity, mass, gravity)
    t = 0.0
    for i in range(steps):
        velocity += a * dt / 2.0
        position += velocity * dt
        a = acceleration(position, mass, gravity, softening)
        velocity += a * dt / 2.0
        t += dt
        kinetic[i + 1], potential[i + 1] = energy(position, velocity, mass, gravity)
    return kinetic, potential, t


def planets(position, velocity, mass, dt, steps):
    """A few bodies, pair by pair."""
    n = len(mass)
    for _ in range(steps):
        for i in range(n):
            for j in range(i + 1, n):
                d = position[i] - position[j]
                magnitude = dt / np.sqrt(np.sum(d * d)) ** 3
                velocity[i] -= d * mass[j] * magnitude
                velocity[j] += d * mass[i] * magnitude
        position += dt * velocity
    e = 0.0
    for i in range(n):
        e += 0.5 * mass[i] * np.dot(velocity[i], velocity[i])
        for j in range(i + 1, n):
            e -= mass[i] * mass[j] / np.linalg.norm(position[i] - position[j])
    return e


def lennard_jones(position, box, cutoff):
    """Forces with periodic boundaries; pairs beyond the cutoff are passed over."""
    n, dims = position.shape
    force = np.zeros((n, dims))
    potential = 0.0
    for i in range(n - 1):
        for j in range(i + 1, n):
            d = position[i] - position[j]
            d -= box * np.round(d / box)
            r2 = d @ d
            if r2 > cutoff**2:
                continue
            s6 = 1.0 / r2**3
            potential += 4 * s6 * (s6 - 1)
            f = 48 * s6 * (s6 - 0.5) / r2 * d
            force[i] += f
            force[j] -= f
    return force, potential


def bodies(rng, n, steps):
    mass = 20.0 * np.ones((n, 1)) / n
    return mass, rng.standard_normal((n, 3)), rng.standard_normal((n, 3)), steps, 0.01, 1.0, 0.1


def few(rng, n, steps):
    return rng.uniform(-5, 5, (n, 3)), rng.standard_normal((n, 3)), rng.random(n), 0.001, steps


def gas(rng, side):
    lattice = np.stack(np.meshgrid(*[np.arange(side)] * 3), axis=-1).reshape(-1, 3) * 1.2
    return lattice + rng.uniform(-0.1, 0.1, lattice.shape), side * 1.2, 1.8


PROGRAMS = [
    Program(nbody, bodies, (5, 4), (40, 10), (300, 50)),
    Program(planets, few, (3, 4), (5, 30), (5, 2000)),
    Program(lennard_jones, gas, (2,), (4,), (8,)),
]
