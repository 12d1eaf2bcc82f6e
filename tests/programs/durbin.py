"""Recursions of linear prediction: each step works on a longer part of the vector."""

import numpy as np
from support.whole_programs import Program


def durbin(r):
    y = np.empty_like(r)
    alpha = -r[0]
    beta = 1.0
    y[0] = -r[0]
    for k in range(1, r.shape[0]):
        beta *= 1.0 - alpha * alpha
        alpha = -(r[k] + np.dot(np.flip(r[:k]), y[:k])) / beta
        y[:k] += alpha * np.flip(y[:k])
        y[k] = alpha
    return y


def levinson(r, order):
    """Coefficients of the predictor, its error, and the reflection coefficients."""
    a = np.zeros(order + 1)
    a[0] = 1.0
    error = r[0]
    reflections = []
    for m in range(1, order + 1):
        k = -sum(a[i] * r[m - i] for i in range(m)) / error
        previous = a.copy()
        for i in range(1, m):
            a[i] = previous[i] + k * previous[m - i]
        a[m] = k
        error = error * (1 - k**2)
        reflections.append(k)
    return a, error, np.array(reflections)


def decaying(rng, n):
    return (0.5 ** np.arange(1, n + 1) * rng.uniform(0.5, 1, n),)


def autocorrelation(rng, n, order):
    x = np.convolve(rng.standard_normal(n), [1, 0.5, 0.25])
    return np.array([x[: len(x) - k] @ x[k:] for k in range(order + 1)]), order


PROGRAMS = [
    Program(durbin, decaying, (6,), (200,), (4000,)),
    Program(levinson, autocorrelation, (50, 4), (500, 20), (4000, 200)),
]
