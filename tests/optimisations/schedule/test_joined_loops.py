"""Results that share loops, after calls of NumPy's inner loops too: NumPy's bits, also where one result is memory of
another.
"""

import numpy as np
import pytest
from support.differential import check, check_sizes, sample
from support.outcome import assert_same

import accel


def forces(x, y, z, mass):
    """Three results after one power."""
    dx, dy, dz = x[None, :] - x[:, None], y[None, :] - y[:, None], z[None, :] - z[:, None]
    r = dx**2 + dy**2 + dz**2 + 0.01
    r[r > 0.02] = r[r > 0.02] ** -1.5
    return (mass * dx * r) @ mass, (mass * dy * r) @ mass, (mass * dz * r) @ mass


@pytest.mark.parametrize("n", [0, 1, 2, 7, 300])
def test_results_after_a_call(n):
    check(forces, sample(n), sample(n, seed=1), sample(n, seed=2), sample(n, seed=3))


def test_sizes():
    check_sizes(forces, *[tuple(sample(n, seed=k) for k in range(4)) for n in (5, 40, 2000 // 8)])


def test_many_results():
    def function(x, y):
        e = np.exp(x)
        return e + y, e - y, e * y, e / y, y - e, y / e, e * e + y, y * y - e, e + e + y, np.log(e + y * y), e - y - y

    check(function, sample(3000), np.abs(sample(3000, seed=1)) + 1)


def test_stores_to_what_other_loops_read():
    def function(x, y, a, b):
        e = np.exp(x)
        a[:] = e + y
        b[:] = a * y
        a[1:] = b[:-1] + e[1:]
        y += a
        x -= y * e
        return a + b, x * y

    check(function, *[sample(2500, seed=k) for k in range(4)])


def test_events_in_one_of_the_loops():
    def function(x, y):
        e = np.exp(x)
        return e + y, e / y, np.sqrt(y) * e

    with np.errstate(all="ignore"):
        check(function, sample(2000), np.array([0.0, -1.0, np.nan, np.inf] * 500))
    check(function, sample(2000), np.abs(sample(2000)) + 0.5)


def test_costly_values_of_several_loops_over_a_tile():
    """They are computed once: in a tile, or in memory of their own where a sum lies in between."""

    def values(x, y):
        a = np.sqrt(abs(x) / (y * y + 1.0)) / (abs(y) + 0.5)
        b = np.exp(a) % 3.0
        c = np.fmod(b * a, 1.7) + a
        d = c - c.sum()
        return np.log(abs(d) + a) + a / d, np.where(x > a, b, c), x.sum()

    call = check(values, np.linspace(-3.0, 4.0, 5000), np.linspace(2.0, -3.0, 5000))
    for n in (1, 17, 1024, 1025):
        assert_same(values, call, np.linspace(-3.0, 4.0, n), np.linspace(2.0, -3.0, n), times=1)
    program = accel.explain(accel.compile(values))(np.linspace(-3.0, 4.0, 5000), np.linspace(2.0, -3.0, 5000)).program
    assert program.count("compute sqrt") == 1


def test_a_number_of_each_long_row():
    """What is worked out once for each row is not worked out again for each tile of the row."""

    def centred(x):
        return x - x.mean(axis=1, keepdims=True), np.array([x[0], x[1], x[0]])

    check(centred, np.random.default_rng(0).random((2, 20_000)))
    program = accel.explain(accel.compile(centred))(np.ones((2, 20_000))).program
    assert "// 1024" not in program[: program.index("pairwise")].rpartition("nest ")[2]
