"""Random walks with numpy.random.Generator."""

import numpy as np
from support.whole_programs import Program


def metropolis(rng, start, scale, steps):
    """Samples of a double well; returns them with the share of accepted moves."""
    x = start
    energy = (x**2 - 1) ** 2
    samples = np.empty(steps)
    accepted = 0
    for i in range(steps):
        proposal = x + scale * rng.normal()
        new = (proposal**2 - 1) ** 2
        if new <= energy or rng.random() < np.exp(energy - new):
            x, energy = proposal, new
            accepted += 1
        samples[i] = x
    return samples, accepted / steps


def metropolis_drawn_before(normals, uniforms, start, scale):
    """The same walk; the numbers were drawn before."""
    x = start
    energy = (x**2 - 1) ** 2
    samples = np.empty(len(normals))
    accepted = 0
    for i in range(len(normals)):
        proposal = x + scale * normals[i]
        new = (proposal**2 - 1) ** 2
        if new <= energy or uniforms[i] < np.exp(energy - new):
            x, energy = proposal, new
            accepted += 1
        samples[i] = x
    return samples, accepted / len(normals)


def ising(rng, spins, beta, sweeps):
    """Metropolis sweeps in place; returns the magnetisation after each."""
    n, m = spins.shape
    history = []
    for _ in range(sweeps):
        for _ in range(n * m):
            i, j = rng.integers(n), rng.integers(m)
            s = spins[i, j]
            around = spins[(i + 1) % n, j] + spins[i - 1, j] + spins[i, (j + 1) % m] + spins[i, j - 1]
            cost = 2 * s * around
            if cost < 0 or rng.random() < np.exp(-cost * beta):
                spins[i, j] = -s
        history.append(spins.mean())
    return np.array(history)


def ising_checkerboard(spins, uniforms, beta):
    """All spins of one colour at once."""
    rows, columns = np.indices(spins.shape)
    for k in range(len(uniforms)):
        colour = (rows + columns) % 2 == k % 2
        around = np.roll(spins, 1, 0) + np.roll(spins, -1, 0) + np.roll(spins, 1, 1) + np.roll(spins, -1, 1)
        cost = 2 * spins * around
        flip = colour & ((cost < 0) | (uniforms[k] < np.exp(-beta * cost)))
        spins[flip] *= -1
    return spins.sum()


def random_walks(rng, walkers, steps):
    """How long each walker needs to come back to where it began."""
    position = np.zeros((walkers, 2), dtype=int)
    returned = np.zeros(walkers, dtype=int)
    for k in range(1, steps + 1):
        axis = rng.integers(0, 2, walkers)
        position[np.arange(walkers), axis] += 2 * rng.integers(0, 2, walkers) - 1
        home = (position == 0).all(axis=1) & (returned == 0)
        returned[home] = k
    return returned


def bootstrap(rng, data, count):
    means = np.zeros(count)
    for i in range(count):
        sample = rng.choice(data, size=len(data), replace=True)
        means[i] = sample.mean()
    return means.mean(), means.std(ddof=1), np.percentile(means, [2.5, 97.5])


def generator(rng):
    return np.random.default_rng(7)


def spins(rng, n):
    return rng.choice(np.array([-1, 1]), size=(n, n))


PROGRAMS = [
    Program(metropolis, lambda rng, n: (generator(rng), 1.0, 0.5, n), (10,), (500,), (100_000,)),
    Program(
        metropolis_drawn_before,
        lambda rng, n: (rng.standard_normal(n), rng.random(n), 1.0, 0.5),
        (10,),
        (500,),
        (1_000_000,),
    ),
    Program(ising, lambda rng, n, s: (generator(rng), spins(rng, n), 0.4, s), (4, 2), (12, 5), (64, 10)),
    Program(ising_checkerboard, lambda rng, n, s: (spins(rng, n), rng.random((s, n, n)), 0.4), (6, 4), (50, 20), (500, 50)),
    Program(random_walks, lambda rng, n, s: (generator(rng), n, s), (5, 10), (200, 50), (10_000, 200)),
    Program(bootstrap, lambda rng, n, c: (generator(rng), rng.random(n), c), (10, 5), (100, 50), (1000, 1000)),
]
