"""Short programs: branches, early returns, errors, helpers and containers."""

import dataclasses

import numpy as np
from support.whole_programs import Program


def standardise(x, axis=None):
    """Branches on the data: a constant column stays as it is."""
    mean = x.mean(axis=axis)
    deviation = x.std(axis=axis)
    if np.any(deviation == 0):
        return x - mean
    return (x - mean) / deviation


def softplus(x):
    if x.max() < 20:
        return np.log1p(np.exp(x))
    return np.where(x > 20, x, np.log1p(np.exp(np.minimum(x, 20))))


def safe_solve(a, b):
    """Cramer's rule for two unknowns; bad data raise."""
    assert a.shape == (2, 2), "a must be 2 x 2"
    determinant = a[0, 0] * a[1, 1] - a[0, 1] * a[1, 0]
    if determinant == 0:
        raise ZeroDivisionError("singular")
    x = np.empty(2)
    x[0] = (b[0] * a[1, 1] - a[0, 1] * b[1]) / determinant
    x[1] = (a[0, 0] * b[1] - b[0] * a[1, 0]) / determinant
    return x


def checked_mean(x, low, high):
    if not np.all(np.isfinite(x)):
        raise ValueError("x must be finite")
    if low > high:
        raise ValueError(f"empty range: {low} to {high}")
    clipped = np.clip(x, low, high)
    assert clipped.min() >= low
    return clipped.mean()


def quadratic(a, b, c):
    """Real roots, their number, one polynomial after another."""
    roots = np.full((len(a), 2), np.nan)
    count = np.zeros(len(a), dtype=np.int32)
    for i in range(len(a)):
        d = b[i] * b[i] - 4 * a[i] * c[i]
        if d > 0:
            s = np.sqrt(d)
            roots[i] = (-b[i] - s) / (2 * a[i]), (-b[i] + s) / (2 * a[i])
            count[i] = 2
        elif d == 0:
            roots[i, 0] = -b[i] / (2 * a[i])
            count[i] = 1
    return roots, count


def newton(x, tolerance):
    """Square root; the step is a helper."""

    def better(guess):
        return 0.5 * (guess + x / guess)

    guess = x
    while abs(guess * guess - x) > tolerance:
        guess = better(guess)
    return guess


def integrate(f, y, t0, t1, dt):
    """Heun's method for a function that is passed in; the last step is shorter."""
    t = t0
    steps = 0
    while t < t1:
        if t + dt > t1:
            dt = t1 - t
        k1 = f(t, y)
        k2 = f(t + dt, y + dt * k1)
        y = y + 0.5 * dt * (k1 + k2)
        t += dt
        steps += 1
    return y, steps


def decay(t, y):
    return -0.5 * y + np.sin(t)


def adaptive(y, t, end, tolerance):
    """The step shrinks and grows with the estimate of the error."""
    h = 0.1
    accepted = rejected = 0
    while t < end:
        h = min(h, end - t)
        k1 = -y * y
        full = y + h * k1
        half = y + 0.5 * h * k1
        half = half + 0.5 * h * (-half * half)
        error = np.max(np.abs(full - half))
        if error > tolerance:
            h *= 0.5
            rejected += 1
            continue
        y = 2 * half - full
        t += h
        accepted += 1
        if error < tolerance / 4:
            h *= 2
    return y, accepted, rejected


def statistics(x):
    """A dict of scalars and arrays."""
    result = {"mean": x.mean(), "std": x.std(), "range": (x.min(), x.max())}
    if x.ndim > 1:
        result["columns"] = x.mean(axis=0)
    return result


def apply_layers(x, layers):
    """Arguments in a list of dicts."""
    for layer in layers:
        x = x @ layer["weights"] + layer["bias"]
        if layer["activation"] == "relu":
            x = np.maximum(x, 0)
        elif layer["activation"] == "tanh":
            x = np.tanh(x)
    return x


@dataclasses.dataclass
class Body:
    """A thing that moves."""

    position: np.ndarray
    velocity: np.ndarray
    mass: float = 1.0


def move(body, force, dt, steps):
    """Attributes of a dataclass, some replaced and some updated in place."""
    for _ in range(steps):
        body.velocity = body.velocity + force / body.mass * dt
        body.position += body.velocity * dt
    return body.position, 0.5 * body.mass * np.sum(body.velocity**2)


def moments(x):
    """Several results from nested helpers."""

    def central(k):
        return ((x - mean) ** k).mean()

    mean = x.mean()
    variance = central(2)
    skewness = central(3) / variance**1.5
    kurtosis = central(4) / variance**2 - 3
    return mean, variance, skewness, kurtosis


def swap_rows(a, i, j):
    a[[i, j]] = a[[j, i]]
    a[i], a[j] = a[j].copy(), a[i].copy()
    a[i, 0], a[j, 0] = a[j, 0], a[i, 0]
    return a


def try_to_invert(a):
    try:
        return np.linalg.inv(a), True
    except np.linalg.LinAlgError:
        return np.zeros_like(a), False


def piecewise(x):
    result = np.empty_like(x)
    for i in range(x.size):
        v = x[i]
        if v < -1:
            result[i] = -1.0
        elif v < 0:
            result[i] = v
        elif v < 1:
            result[i] = v * v
        else:
            result[i] = 2 * v - 1
    return result


def reals(rng, n):
    return (rng.standard_normal(n),)


def layers(rng, rows, width):
    def layer(activation):
        return {"weights": rng.standard_normal((width, width)), "bias": rng.random(width), "activation": activation}

    return rng.standard_normal((rows, width)), [layer("relu"), layer("tanh"), layer("none")]


def polynomials(rng, n):
    return tuple(rng.integers(1, 4, n).astype(float) for _ in range(3))


PROGRAMS = [
    Program(standardise, lambda rng, m, n: (rng.random((m, n)), 0), (5, 3), (300, 20), (500_000, 8)),
    Program(softplus, reals, (6,), (3000,), (5_000_000,)),
    Program(safe_solve, lambda rng: (rng.random((2, 2)), rng.random(2)), (), (), bad=lambda rng: (np.ones((2, 2)), np.ones(2))),
    Program(
        checked_mean,
        lambda rng, n: (rng.random(n), 0.2, 0.8),
        (6,),
        (3000,),
        (5_000_000,),
        bad=lambda rng: (np.ones(3), 2.0, 1.0),
    ),
    Program(quadratic, polynomials, (6,), (200,), (200_000,)),
    Program(newton, lambda rng, x: (x, 1e-9), (2.0,), (1e4,)),
    Program(integrate, lambda rng, n, end: (decay, rng.random(n), 0.0, end, 0.03), (3, 0.5), (1000, 2.0), (100_000, 5.0)),
    Program(adaptive, lambda rng, n, end: (rng.random(n), 0.0, end, 1e-4), (3, 1.0), (500, 3.0), (100_000, 10.0)),
    Program(statistics, lambda rng, m, n: (rng.random((m, n)),), (5, 3), (300, 20), (500_000, 8)),
    Program(apply_layers, layers, (4, 3), (50, 16), (2000, 256)),
    Program(
        move,
        lambda rng, n, s: (Body(rng.random(n), rng.random(n), 2.0), rng.random(n), 0.1, s),
        (3, 4),
        (300, 50),
        (100_000, 100),
    ),
    Program(moments, reals, (7,), (3000,), (5_000_000,)),
    Program(swap_rows, lambda rng, m, n: (rng.random((m, n)), 1, m - 1), (4, 3), (60, 50), (1000, 1000)),
    Program(try_to_invert, lambda rng, n: (rng.random((n, n)),), (3,), (30,), (300,), bad=lambda rng: (np.zeros((3, 3)),)),
    Program(piecewise, lambda rng, n: (rng.uniform(-2, 2, n),), (8,), (300,), (1_000_000,)),
]
