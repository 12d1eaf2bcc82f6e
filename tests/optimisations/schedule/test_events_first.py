"""Stores to arguments where a mask holds: floating-point events come first, and nothing is stored before they are known."""

import warnings

import numpy as np
import pytest
from support.differential import check, check_left_to_numpy, check_made, layouts, sample
from support.outcome import assert_same

import accel

SHAPE = (37, 53)


def is_split(call, *arguments):
    return "events come first" in str(accel.explain(call, verbose=True)(*arguments))


def check_split(function, *arguments):
    call = check(function, *arguments)
    assert is_split(call, *arguments), accel.explain(call)(*arguments)
    return call


def escape_step(z, c, count, k, bound):
    inside = np.abs(z) < bound
    count[inside] = k
    z[inside] = z[inside] ** 2 + c[inside]


def chosen(z, c, bound):
    z[...] = np.where(np.abs(z) < bound, z * z + c, z)


def two_masks(x, y, low, high):
    x[x < low] += y[x < low]
    y[y > high] = x[y > high] * 2


def scaled(x, y):
    inside = np.sqrt(x * x + y * y) < 2
    x[inside] *= y[inside]
    return inside.sum()


def halved(x, n):
    x[n > 3] *= 0.5


def counted(x, count):
    count[np.hypot(x, x) > 2] += 1


def complex_case(dtype="complex64", shape=SHAPE, seed=0):
    z, c = sample(shape, dtype, seed), sample(shape, dtype, seed + 1)
    return z, c, np.zeros(shape, int), 3, 3.0


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("shape", [(0, 4), (1, 1), (3, 5), SHAPE, (300, 400)])
def test_step(dtype, shape):
    check_split(escape_step, *complex_case(dtype, shape))


@pytest.mark.parametrize("kind", ["C", "F", "strided"])
def test_layouts(kind):
    z, c, count, k, bound = complex_case()
    check(escape_step, *(dict(layouts(a))[kind] for a in (z, c, count)), k, bound)


def test_float64_and_integers():
    x, y = sample(SHAPE), sample(SHAPE, seed=1)
    check(scaled, x, y)
    check(two_masks, x, y, 0.5, 1.0)
    check(halved, x, np.arange(x.size).reshape(SHAPE) % 7)
    check(counted, x, np.zeros(SHAPE, int))


def test_where():
    z, c, _, _, bound = complex_case()
    check(chosen, z, c, bound)


# Events: NumPy warns, raises or calls from its own line, with what it has stored by then.
def events_case(value, at=(20, 30)):
    z, c, count, k, _ = complex_case()
    z[at] = value
    return z, c, count, k, 1e38


EVENTS = [1e30, 1e30j, complex(1e25, -1e25), np.nan, complex(np.inf, 0), complex(np.nan, np.inf), 3e38 + 3e38j]


@pytest.mark.parametrize("value", EVENTS)
@pytest.mark.parametrize("mode", ["warn", "raise", "ignore"])
def test_events(value, mode):
    call = accel.compile(escape_step)
    with np.errstate(all=mode):
        assert_same(escape_step, call, *events_case(value))
        assert_same(escape_step, call, *complex_case())
    assert is_split(call, *complex_case())


@pytest.mark.parametrize("value", EVENTS)
def test_warnings_that_are_errors(value):
    call = accel.compile(escape_step)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for make in (lambda: events_case(value), complex_case):
            for _ in range(2):
                ours, theirs = make(), make()
                raised = []
                for step, arguments in ((call, ours), (escape_step, theirs)):
                    try:
                        step(*arguments)
                        raised.append(None)
                    except RuntimeWarning as warning:
                        raised.append(str(warning))
                assert raised[0] == raised[1]
                for a, b in zip(ours[:3], theirs[:3], strict=True):
                    assert a.tobytes() == b.tobytes()


def test_underflow_that_counts():
    z, c, count, k, bound = complex_case()
    z[:] = 1e-30
    c[:] = 0
    with np.errstate(under="raise"):
        check_left_to_numpy(escape_step, z, c, count, k, bound)


def test_events_where_no_mask_holds():
    """What is not chosen is not computed: its squares would overflow."""
    z, c, count, k, _ = complex_case()
    z[::3] = 1e30
    check_split(escape_step, z, c, count, k, 1e10)


def test_shared_memory():
    z, c, count, k, bound = complex_case()
    check(escape_step, z, z, count, k, bound)

    def overlapping(first, second):
        z, _, count, k, bound = complex_case()
        return z[first], z[second], count[1:], k, bound

    up, down = slice(1, None), slice(None, -1)
    check_made(escape_step, complex_case, lambda: overlapping(up, down), lambda: overlapping(down, up), whole=False)


def test_not_writeable():
    z, c, count, k, bound = complex_case()
    z.flags.writeable = False
    check_left_to_numpy(escape_step, z, c, count, k, bound)


def test_many_steps():
    real, imag = np.linspace(-2.25, 0.75, 60, dtype=np.float32), np.linspace(-1.25, 1.25, 50, dtype=np.float32)
    c = real + 1j * imag[:, None]
    found = []
    for step in (escape_step, accel.compile(escape_step, fullgraph=True)):
        z, count = np.zeros_like(c), np.zeros(c.shape, int)
        for k in range(60):
            step(z, c, count, k, 2.0**40)
        found.append((z.tobytes(), count.tobytes()))
    assert found[0] == found[1]
