"""Black-Scholes prices of European options."""

import ctypes

import numpy as np

from benchmarks.case import Case, Ceiling
from benchmarks.ceiling import library, loop, pointer

OPTIONS = 10_000_000


def erf(x):
    """Abramowitz and Stegun 7.1.26."""
    a = np.abs(x)
    t = 1.0 / (1.0 + 0.3275911 * a)
    poly = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t
    y = 1.0 - poly * np.exp(-a * a)
    return np.where(x < 0, -y, y)


def cdf(d):
    return 0.5 * (1.0 + erf(d / 1.4142135623730951))


def black_scholes(price, strike, years, rate, volatility):
    root = volatility * np.sqrt(years)
    d1 = (np.log(price / strike) + (rate + 0.5 * volatility * volatility) * years) / root
    d2 = d1 - root
    discounted = strike * np.exp(-rate * years)
    call = price * cdf(d1) - discounted * cdf(d2)
    put = call - price + discounted
    return call, put


def inputs(count):
    return lambda rng: (rng.uniform(10, 50, count), rng.uniform(10, 50, count), rng.uniform(0.2, 2, count), 0.03, 0.25)


def _ceiling(price, strike, years, rate, volatility, call, put):
    log, exp = loop(np.log, "f8")[0], loop(np.exp, "f8")[0]
    real = ctypes.c_double
    arrays = pointer(price), pointer(strike), pointer(years)
    count = ctypes.c_int64(len(price))
    run = library("black_scholes").black_scholes
    run(ctypes.byref(log), ctypes.byref(exp), *arrays, real(rate), real(volatility), count, pointer(call), pointer(put))


CASES = [
    Case(
        "black_scholes",
        black_scholes,
        inputs(OPTIONS),
        inputs(100_000),
        {"ceiling": Ceiling(_ceiling, "NumPy's log and exp loops, tile by tile")},
        about="10M options: log, exp, sqrt, erf by formula",
    )
]
