"""The Mandelbrot set: how long each point of a grid stays within a bound."""

import numpy as np
from support.whole_programs import Program, load_example

escape_time = load_example("mandelbrot").escape_time_in_numpy


def escape_time_linspace(left, right, bottom, top, columns, rows, steps, bound):
    real = np.linspace(left, right, columns, dtype=np.float32)
    imag = np.linspace(bottom, top, rows, dtype=np.float32)
    c = real + imag[:, None] * 1j
    count = np.zeros(c.shape, dtype=int)
    z = np.zeros(c.shape, dtype=np.complex64)
    for k in range(steps):
        inside = np.less(abs(z), bound)
        count[inside] = k
        z[inside] = z[inside] ** 2 + c[inside]
    count[count == steps - 1] = 0
    return z, count


def escape_step(z, c, count, k, bound):
    inside = np.abs(z) < bound
    count[inside] = k
    z[inside] = z[inside] ** 2 + c[inside]


def escape_time_by_steps(real, imag, steps, bound):
    c = real + 1j * imag[:, None]
    z = np.zeros(c.shape, dtype=np.complex64)
    count = np.zeros(c.shape, dtype=int)
    for k in range(steps):
        escape_step(z, c, count, k, bound)
    count[count == steps - 1] = 0
    return z, count


def escape_time_where(real, imag, steps, bound):
    """Without complex numbers: the last axis holds the two parts."""
    c = np.stack(np.broadcast_arrays(real, imag[:, None]), axis=-1)
    z = np.zeros_like(c)
    count = np.zeros(c.shape[:2], dtype=int)
    for k in range(steps):
        inside = np.sqrt(np.sum(z**2, axis=-1)) < bound
        count = np.where(inside, k, count)
        x, y = z[..., 0], z[..., 1]
        square = np.stack([x * x - y * y, 2 * x * y], axis=-1)
        z = np.where(inside[..., None], square + c, z)
    return z, np.where(count == steps - 1, 0, count)


def escape_time_by_points(real, imag, steps, bound):
    """Point by point, as one writes it in C."""
    count = np.zeros((len(imag), len(real)), dtype=np.int64)
    for i in range(len(imag)):
        for j in range(len(real)):
            c = complex(real[j], imag[i])
            z = 0j
            for k in range(steps):
                if abs(z) >= bound:
                    break
                z = z * z + c
            else:
                k = 0
            count[i, j] = k
    return count


def axes(rng, columns, rows, steps, bound):
    real = np.linspace(-2.25, 0.75, columns, dtype=np.float32)
    imag = np.linspace(-1.25, 1.25, rows, dtype=np.float32)
    return real, imag, steps, bound


def step(rng, columns, rows):
    real, imag, _, _ = axes(rng, columns, rows, 0, 0)
    c = real + 1j * imag[:, None]
    return np.zeros_like(c), c, np.zeros(c.shape, dtype=int), 0, 2.0**40


def ends(rng, *numbers):
    return -2.25, 0.75, -1.25, 1.25, *numbers


SMALL, LARGE, FULL = (12, 9, 20, 2.0**40), (100, 83, 50, 2.0**40), (1000, 833, 200, 2.0**40)
PROGRAMS = [
    Program(escape_time, axes, SMALL, LARGE, FULL, name="escape_time"),
    Program(escape_time_linspace, ends, SMALL, LARGE, FULL),
    Program(escape_step, step, (12, 9), (100, 83), (1000, 833)),
    Program(escape_time_by_steps, axes, SMALL, LARGE, FULL),
    Program(escape_time_where, axes, (12, 9, 20, 2.0**20), (100, 83, 50, 2.0**20), (1000, 833, 200, 2.0**20)),
    Program(escape_time_by_points, axes, (6, 5, 10, 2.0), (20, 15, 30, 2.0), (200, 160, 100, 2.0)),
]
