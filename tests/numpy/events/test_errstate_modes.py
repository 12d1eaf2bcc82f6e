"""Modes that the code itself sets with numpy.errstate: raise, warn and print hold whatever the caller's modes are."""

import numpy as np
import pytest
from support.compiled import facts
from support.outcome import assert_same

import accel


def raises(x, y):
    with np.errstate(all="raise"):
        z = x / y
    return z + 1


def caught(x, y):
    z = x * 2
    try:
        with np.errstate(divide="raise", invalid="raise"):
            z = x / y
    except FloatingPointError:
        z = -z
    return z


def rounds(x, y, n):
    total = np.zeros_like(x)
    failures = 0
    for k in range(n):
        try:
            with np.errstate(over="raise"):
                total += x * y**k
        except FloatingPointError:
            failures += 1
            break
    return total, failures


def warns_inside(x, y):
    with np.errstate(all="ignore"):
        a = x / y
        with np.errstate(divide="warn", invalid="warn"):
            b = x / (y + 1)
    return a, b


def prints(x, y):
    with np.errstate(divide="print"):
        return np.log(x), x / y


def stores(x, y):
    with np.errstate(invalid="raise"):
        x[:] = x / y
    x += 1
    return x


def elements(x, y):
    count = 0
    with np.errstate(all="raise"):
        for i in range(len(x)):
            count += int(x[i] / y[i] > 1)
    return count


def leaves(x, y):
    with np.errstate(all="raise"):
        z = x / y
        hash("a")
        w = eval("z * 2")
    return z, w


GOOD = (np.array([1.0, 2.0, 3.0]), np.array([2.0, 4.0, 0.5]))
CASES = [GOOD, (np.array([1.0, -2.0, 0.0]), np.array([0.0, -1.0, 0.0])), (np.full(3, 1e300), np.full(3, 1e-300)), GOOD]


@pytest.mark.parametrize("mode", ["warn", "ignore", "raise"])
@pytest.mark.parametrize("function", [raises, caught, warns_inside, prints, stores, elements, leaves])
def test_modes(function, mode):
    call = accel.compile(function)
    with np.errstate(all=mode):
        for x, y in (*CASES, *CASES):
            assert_same(function, call, x, y, times=1)
    assert facts(call)["compiled"] > 0


@pytest.mark.parametrize("mode", ["warn", "ignore", "raise"])
def test_rounds(mode):
    call = accel.compile(rounds)
    with np.errstate(all=mode):
        for x, y in CASES:
            for n in (0, 1, 3, 400):
                assert_same(rounds, call, x, y * 10, n, times=1)


def test_they_are_compiled_as_a_whole():
    for function in (raises, stores, elements, prints):
        call = accel.compile(function, fullgraph=True)
        for _ in range(3):
            assert_same(function, call, *GOOD, times=1)
        assert facts(call)["interpreted"] == facts(call)["side_exits"] == 0


def test_numpy_backend():
    call = accel.compile(raises, backend="numpy")
    for x, y in CASES:
        with np.errstate(all="ignore"):
            assert_same(raises, call, x, y, times=1)


def test_events_that_the_code_ignores_before_a_call():
    """Of Python code: the backend that runs NumPy goes on, too."""
    shown = []

    def steps(x):
        for scale in (0.0, 2.0):
            with np.errstate(divide="ignore"):
                y = x / scale
            shown.append(float(y[0]))
        return y

    for backend in ("native", "numpy"):
        shown.clear()
        call = accel.compile(steps, backend=backend)
        for _ in range(2):
            with np.errstate(all="raise"):
                assert call(np.ones(3))[0] == 0.5
        assert shown == [np.inf, 0.5] * 2
