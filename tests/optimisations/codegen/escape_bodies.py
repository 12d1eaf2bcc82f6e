"""Bodies of loops over steps in which elements end one after the other: each stays as it is once its mask no longer holds."""

import numpy as np


def squared(z, c, steps, bound):
    count = np.full(z.shape, -7)
    z = z.copy()
    for k in range(steps):
        inside = np.abs(z) < bound
        count[inside] = k
        z[inside] = z[inside] ** 2 + c[inside]
    return z, count


def up_to_the_bound(z, c, steps, bound):
    count = np.full(z.shape, 5, dtype=np.int32)
    z = z.copy()
    for k in range(steps):
        inside = bound >= np.abs(z)
        z[inside] = z[inside] * z[inside] - c[inside]
        count[inside] = 2 * k
    return z, count


def until_outside(z, c, steps, bound):
    z = z.copy()
    for _ in range(steps):
        inside = ~(np.abs(z) > bound)
        z[inside] = z[inside] ** 2 + c[inside]
    return z


def beside_another_condition(z, c, steps, bound):
    z = z.copy()
    seen = np.zeros(z.shape, dtype=bool)
    left = c.real < -0.5
    for _ in range(steps):
        inside = (np.abs(z) < bound) & (left | (np.abs(z + c) < 1))
        z[inside] = z[inside] ** 2 + c[inside]
        seen[inside] = True
    return z, seen


def two_conditions(z, c, steps, bound):
    z = z.copy()
    seen = np.zeros(z.shape, dtype=bool)
    for _ in range(steps):
        inside = (np.abs(z) < bound) & ~(np.abs(z + c) >= 3)
        z[inside] = z[inside] ** 2 + c[inside]
        seen[inside] = True
    return z, seen


def outside_goes_on(z, c, steps, bound):
    z = z.copy()
    for _ in range(steps):
        outside = np.abs(z) > bound
        z[outside] = z[outside] * c[outside]
    return z


def not_of_a_modulus(z, c, steps, bound):
    x, y = z.real.copy(), c.real.copy()
    count = np.zeros(x.shape, dtype=np.int64)
    for k in range(steps):
        low = x * x < bound
        x[low] = x[low] * x[low] - y[low]
        count[low] = k
    return x, count


def roots(z, c, steps, bound):
    """Newton's steps until they are small."""
    x = np.abs(c) + 1
    near = x * 0
    for k in range(steps):
        open_ = np.abs(x * x - 2) > 1e-6
        x[open_] = x[open_] - (x[open_] * x[open_] - 2) / (2 * x[open_])
        near[open_] = np.sqrt(x[open_])
    return x, near


def steps_up_and_down(z, c, steps, bound):
    x, y = z.real.copy(), c.real.copy()
    for _ in range(steps):
        low = x * x < bound
        x[low] = np.heaviside(x[low] - 0.25, y[low]) * x[low] - y[low]
    return x


def two_masks(z, c, steps, bound):
    z = z.copy()
    count = np.zeros(z.shape, dtype=np.int64)
    for k in range(steps):
        inside = np.abs(z) < bound
        right = np.abs(z + c) < 1
        z[inside] = z[inside] ** 2 + c[inside]
        count[right] = k
    return z, count


def modulus_kept(z, c, steps, bound):
    z = z.copy()
    size = np.zeros(z.shape, dtype=z.real.dtype)
    for _ in range(steps):
        modulus = np.abs(z)
        inside = modulus < bound
        size[inside] = modulus[inside]
        z[inside] = z[inside] ** 2 + c[inside]
    return z, size


def bound_of_the_step(z, c, steps, bound):
    z = z.copy()
    for k in range(steps):
        inside = np.abs(z) < bound - 0.1 * k
        z[inside] = z[inside] ** 2 + c[inside]
    return z


BODIES = [
    squared,
    up_to_the_bound,
    until_outside,
    beside_another_condition,
    two_conditions,
    outside_goes_on,
    not_of_a_modulus,
    roots,
    steps_up_and_down,
    two_masks,
    modulus_kept,
    bound_of_the_step,
]


def plane(dtype, rows, columns):
    real, imag = np.linspace(-2.2, 0.8, columns), np.linspace(-1.2, 1.2, rows)
    return (real + 1j * imag[:, None]).astype(dtype)
