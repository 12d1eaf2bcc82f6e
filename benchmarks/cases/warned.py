"""Programs in which NumPy warns, each in every call, as they are written: the warnings are part of what is compared."""

import numpy as np

from benchmarks.case import Case


def log_mask(x):
    return np.where(x > 0, np.log(x), 0.0)


def quotients(a, b):
    ratio = a / b * 3.0 - 2.0
    ratio[b == 0] = 0.0
    return ratio


def normalised(x):
    low, high = x.min(axis=1, keepdims=True), x.max(axis=1, keepdims=True)
    return np.nan_to_num((x - low) / (high - low))


def escape(re, im):
    z = np.zeros(re.shape, complex)
    c = re + 1j * im
    count = np.zeros(re.shape, int)
    for _ in range(30):
        z = z * z + c
        count += np.abs(z) < 2.0
    return count


def logistic(x):
    return np.where(x >= 0, 1.0 / (1.0 + np.exp(-x)), np.exp(x) / (1.0 + np.exp(x)))


def rectified(x):
    return np.where(x > 0, np.sqrt(x) * 2.0 + 1.0, 0.1 * x)


def returns(prices):
    change = np.log(prices[1:] / prices[:-1])
    return np.where(np.isfinite(change), change, 0.0)


def entropy(p):
    terms = p * np.log(p)
    return -np.nansum(terms, axis=1)


def with_zeros(rng, shape, share=0.1):
    return np.where(rng.random(shape) < share, 0.0, rng.random(shape))


def plane(n):
    grid = np.meshgrid(np.linspace(-2.0, 0.6, n), np.linspace(-1.3, 1.3, n))
    return lambda rng: tuple(grid)


def case(name, function, make, about):
    return Case(f"warned_{name}", function, lambda rng: make(rng, 1_000_000), lambda rng: make(rng, 3_000), about=about)


CASES = [
    case("log_mask", log_mask, lambda rng, n: (rng.standard_normal(n),), "where(x > 0, log(x), 0), 1M"),
    case("quotients", quotients, lambda rng, n: (rng.random(n), with_zeros(rng, n)), "a / b * 3 - 2, zeros replaced, 1M"),
    case("normalised", normalised, lambda rng, n: (with_zeros(rng, (n // 10, 10), 0.8),), "rows to 0 to 1, some constant, 1M"),
    Case("warned_escape", escape, plane(500), plane(30), about="z * z + c without a mask, 500x500x30"),
    case("logistic", logistic, lambda rng, n: (rng.standard_normal(n) * 800,), "both forms of the logistic function, 1M"),
    case("rectified", rectified, lambda rng, n: (rng.standard_normal(n),), "where(x > 0, 2 sqrt(x) + 1, x / 10), 1M"),
    case("returns", returns, lambda rng, n: (with_zeros(rng, n, 0.01),), "logarithms of quotients, zeros among them, 1M"),
    case("entropy", entropy, lambda rng, n: (with_zeros(rng, (n // 100, 100)),), "rows of -p log p, zeros left out, 1M"),
]
