"""Numbers that are compared with one value of a loop of NumPy's: decided as NumPy does, also next to it, with NumPy's
warnings.
"""

import math

import numpy as np
import pytest
from support.compiled import facts
from support.differential import check, check_left_to_numpy
from support.outcome import assert_same

import accel


def function_of(comparison, name="exp"):
    """Counts, in a loop with a branch, where elements of two arrays compare."""
    scope = {"np": np}
    exec(
        "def function(x, u):\n    count = 0\n    last = -1\n    for i in range(len(x)):\n"
        f"        if {comparison.replace('f(', f'np.{name}(')}:\n            count += 1\n            last = i\n    return count, last",
        scope,
    )
    return scope["function"]


def near(name="exp"):
    """Arguments, and numbers at, next to and far from the values there."""
    rng = np.random.default_rng(4)
    x = np.concatenate([rng.uniform(-3, 3, 300), rng.uniform(-600, 600, 100), [0.0, -0.0, 5e-324, 1e-17, -1e-9, 1.0]])
    y = getattr(np, name)(x)
    factors = [1.0, 1 + 2**-52, 1 - 2**-53, 1 + 2**-45, 1 - 2**-41, 1 + 2**-39, 1 - 2**-37, 1.5, -1.0, 0.0, math.inf, math.nan]
    return np.tile(x, len(factors)), np.concatenate([y * f for f in factors])


COMPARISONS = ["u[i] < f(x[i])", "u[i] <= f(x[i])", "u[i] > f(x[i])", "u[i] >= f(x[i])", "u[i] == f(x[i])", "u[i] != f(x[i])"]
COMPARISONS += ["f(x[i]) < u[i]", "f(x[i]) >= float(u[i])", "float(u[i]) < f(float(x[i]) - 0.0)", "f(x[i]) > f(u[i] * 0 + 2)"]


@pytest.mark.parametrize("name", ["exp", "exp2", "log", "sin"])
@pytest.mark.parametrize("comparison", COMPARISONS)
def test_comparisons(comparison, name):
    x, u = near(name) if name.startswith("exp") else (np.abs(near()[0]) + 1e-3, near()[1])
    with np.errstate(invalid="ignore"):
        check(function_of(comparison, name), x, np.nan_to_num(u) + 2.5 if "f(u" in comparison else u)


@pytest.mark.parametrize(
    "value", [-math.inf, -1e300, -746.0, -745.0, -708.5, -700.5, 700.5, 709.5, 710.0, 1e300, math.inf, math.nan]
)
@pytest.mark.parametrize("comparison", COMPARISONS[:2])
def test_arguments_with_events(comparison, value):
    for u in (0.0, 5e-324, 1.7e308, math.inf, math.nan):
        arguments = np.array([0.5, value, 1.0]), np.array([1.0, u, 2.0])
        check_left_to_numpy(function_of(comparison), *arguments)
        with np.errstate(over="raise", under="raise"):
            check_left_to_numpy(function_of(comparison), *arguments)
        with np.errstate(all="ignore"):
            check(function_of(comparison), *arguments)


def test_values_that_are_used_otherwise_too():
    def function(x, u):
        total = 0.0
        for i in range(len(x)):
            value = np.exp(x[i])
            if u[i] < value:
                total += value
        return total

    x, u = near()
    check(function, x, np.nan_to_num(u))


def test_numbers_drawn_before_and_after():
    def before(rng, x):
        count = 0
        for i in range(len(x)):
            if rng.random() < np.exp(x[i]):
                count += 1
        return count, rng.random()

    def after(rng, x):
        count = 0
        for i in range(len(x)):
            if np.exp(x[i]) > rng.random():
                count += 1
        return count, rng.random()

    x = -np.abs(near()[0][:400])
    for function in (before, after):
        call = accel.compile(function)
        for seed in range(3):
            assert_same(function, call, np.random.default_rng(seed), x, times=1)
        assert facts(call)["interpreted"] == facts(call)["side_exits"] == 0


def test_tiny_arguments_give_no_events():
    tiny = np.array([5e-324, -5e-324, 1e-310, 1e-200, -1e-170, 1e-40, -1e-31, 1e-20, 0.0, -0.0])
    for name in ("exp", "exp2"):
        with np.errstate(all="raise"):
            check(function_of("u[i] < f(x[i])", name), tiny, np.linspace(0, 2, len(tiny)))


def test_nan_gives_no_events():
    """Neither in arguments nor in what they are compared with; beside operations whose events count."""

    def function(x, u, power):
        count = 0
        for i in range(len(x)):
            if u[i] == np.exp(x[i]):
                count += 1
            power[i] = float(x[i]) ** 2
        return count, np.exp(power[:2])

    nan = np.array([math.nan, -math.nan, 1.0, 2.0, math.nan])
    with np.errstate(all="raise"):
        check(function, nan, np.ones(5), np.ones(5))
        check(function, np.ones(5), nan, np.ones(5))
