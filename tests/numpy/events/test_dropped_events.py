"""Events of numbers that something else takes the place of before anybody has looked at them."""

import numpy as np
import pytest
from support.compiled import facts
from support.outcome import assert_same

import accel


def masked_away(x, y):
    t = x / y
    t[y == 0] = 0.0
    return t


def masked_away_and_summed(x, y):
    t = x * y
    t[x > 1] = 0
    return t.sum()


def masked_by_others(x, y):
    t = x / y
    t[y == 0] = x[y == 0] * 2
    t[y == 1] /= 0.5
    return t


def copied_over(x, y):
    t = x / y
    np.copyto(t, 0, where=y == 0)
    return t


def chosen_and_masked(x, y):
    u = np.where(y > 0, x / y, 1)
    u[y > 1] = 3
    return u


def masked_for_nobody(x, y):
    t = x * y
    t[x > 1] = 0


def added_for_nobody(x, y):
    t = x * y
    np.add(x, y, out=t, where=x > 1)


def stored_for_nobody(x, y):
    t = x * y
    t[0] = 0


def stored_again(x, y):
    t = np.empty(len(x))
    for i in range(len(x)):
        t[i] = x[i] / y[i]
        if y[i] == 0:
            t[i] = 0.0
    return t


def stored_again_beside_others(x, y):
    t = np.zeros((len(x), 2))
    for i in range(len(x)):
        t[i, 0] += x[i] / y[i]
        if y[i] == 0:
            t[i, 0] = -1
            t[i, 1] = x[i] * 2
    return t


def stored_at_one_place(x, y):
    t = np.zeros(2)
    for i in range(len(x)):
        t[0] = x[i] / y[i]
    return t


def stored_until_moved_on(x, y):
    t = np.zeros(len(x))
    j = 0
    for i in range(len(x)):
        t[j] = x[i] / y[i]
        if y[i] > 1:
            j += 1
    return t


def few_stored_again(x, y):
    t = x[:3] / y[:3]
    t[:] = 1
    return t


def few_stored_in_parts(x, y):
    t = x[:3] / y[:3]
    t[y[:3] == 0] = 1
    t[1:] = x[:2]
    return t


def argument_stored_twice(x, y):
    x[:] = x / y
    x[:] = 1.0


def element_of_argument_stored_twice(x, y):
    for i in range(len(x)):
        x[i] = x[i] / y[i]
        x[i] = 1.0


def skipped(x, y):
    total = 0.0
    for i in range(len(x)):
        r = x[i] / y[i]
        if y[i] == 0:
            continue
        total += r
    return total


FUNCTIONS = [each for each in list(globals().values()) if getattr(each, "__module__", "") == __name__]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_dropped_numbers(function):
    call = accel.compile(function)
    for threads, n in ((1, 5), (2, 100)):
        with accel.config(threads=threads, parallel_threshold=0):
            assert_same(function, call, np.ones(n), np.ones(n) * 2)
            assert_same(function, call, np.ones(n), np.arange(n) % 3.0)
            assert_same(function, call, np.full(n, 1e200), np.full(n, 1e200))
            assert_same(function, call, np.ones(n, np.float32), np.arange(n, dtype=np.float32) % 3)
    assert facts(call)["compiled"] > 0


# Only one part of a complex number is used; the other one has the events.
PARTS = {
    "product": lambda z: abs((z * z).real),
    "product with the conjugate": lambda z: np.sqrt((z.conj() * z).real),
    "norm": lambda z: np.linalg.norm(z, axis=-1),
    "reduced": lambda z: np.add.reduce((z * z).real),
    "of an imaginary constant": lambda z: (z * 2j).real + 1.0,
    "quotient": lambda z: (z / (z + 1)).real * 2.0,
    "difference": lambda z: (z - z).imag + 1.0,
    "negated": lambda z: (-(z * z)).imag + 1.0,
    "cast": lambda z: (z * z).astype(np.float64) + 1.0,
    "selected by": lambda z: np.where((z * z).real > 0, 1.0, 2.0),
    "of three": lambda z: (z * z * z).real + 1.0,
    "of elements": lambda z: (z[0] * z[0]).real + 1.0,
    "compared": lambda z: z * z > z,
    "greater": lambda z: np.maximum(z * z, z),
}


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
@pytest.mark.parametrize("function", [pytest.param(f, id=name) for name, f in PARTS.items()])
@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
def test_dropped_parts(function, dtype):
    call = accel.compile(function)
    huge = np.finfo(dtype).max / 2
    for special in (
        np.inf,
        complex(np.inf, np.inf),
        complex(1, np.inf),
        complex(huge, 1),
        complex(1, huge),
        complex(np.nan, 1),
    ):
        for n in (1, 7):
            assert_same(function, call, np.array([special, 1 + 1j, 2] * n, dtype))
    assert facts(call)["compiled"] > 0
