"""Calls that the interpreter makes for a function on a device.

Functions of NumPy get copies of their operands, unknown code gets the arguments as the interpreter would have them.
"""

import os
import sys

import numpy as np
import pytest
from support.device_arrays import check_equal, on_host, outcome, ran_on_device

import accel

rng = np.random.default_rng(0)


def sorted_rows(x):
    y = x * 2.0 + 1.0
    return np.sort(y, axis=-1) - y


def sorted_columns(x):
    return np.sort(x.reshape(-1, 4) * 3.0, axis=0), x + 1


def sorted_backwards(x):
    y = x + 1.0
    return np.sort(y[::-2]) * 2.0


def sorted_in_place(x):
    y = x * 3.0
    y.sort()
    return y[::-1] + x


def ranked(x):
    return x[np.argsort(x * -1.0)]


def transformed(x):
    spectrum = np.abs(np.fft.rfft(x * 0.5)) ** 2
    return spectrum / spectrum.sum()


def interpolated(x):
    return np.interp(x + 0.5, np.arange(9.0), np.arange(9.0) ** 2) * 3


def centred(x):
    return x - np.median(x * 1.0)


def counted(x):
    return np.bincount((x * 3).astype(np.int64)) + 1


def found(x):
    return np.searchsorted(np.sort(x + 1.0), x) * 2


def histogram(x):
    return np.histogram(x * 2.0, 5)


def eigenvalues(x):
    return np.linalg.eigvalsh(np.outer(x[:5], x[:5]))


def factors(x):
    q, r = np.linalg.qr(np.outer(x[:5], x[:5]) + 1)
    return q, r


def of_arrays_without_axes(x):
    least = np.asarray((x * 2.0).min())
    first = (x + 1.0)[:1].reshape(())
    total = np.interp(least, x[:3] * 1.0, np.arange(3.0)) + np.searchsorted(np.sort(x), np.asarray(x.mean()))
    return total, np.interp(first * 2.0, np.arange(9.0), np.arange(9.0) + 0.5), x - first


def nothing(x):
    return np.sort(x[:0] + 1.0) * 2.0, x + 1


def in_a_loop(x):
    for k in range(3):
        x = np.sort(x * 1.5)[::-1] + k
    return x


def until_sorted(x):
    rounds = 0
    y = x + 0.0
    while y[0] > y[-1] or rounds < 2:
        y = np.partition(y, 3) + 1.0
        rounds += 1
    return y, rounds


def stored(x):
    y = x + 1.0
    y[1:-1] = np.sort(y[1:-1])
    return y


OF_NUMPY = (sorted_rows, sorted_columns, sorted_backwards, sorted_in_place, ranked, transformed, interpolated, centred, counted)
OF_NUMPY += (found, histogram, eigenvalues, factors, of_arrays_without_axes, nothing, in_a_loop, until_sorted, stored)


def same(got, wanted):
    if isinstance(wanted, list | tuple):
        assert type(got) is type(wanted) and len(got) == len(wanted)
        for one, other in zip(got, wanted, strict=True):
            same(one, other)
    elif isinstance(wanted, np.ndarray):
        assert (type(got), got.dtype, got.shape, got.strides) == (type(wanted), wanted.dtype, wanted.shape, wanted.strides)
        np.testing.assert_allclose(got, wanted, rtol=1e-13, atol=1e-13)
    else:
        assert type(got) is type(wanted) and got == wanted


@pytest.mark.parametrize("function", OF_NUMPY)
@pytest.mark.parametrize("size", [8, 5000])
def test_calls_of_numpys(function, size):
    x = rng.random(size) * 9
    wanted = function(x.copy())
    compiled = accel.compile(function, device="cuda")
    for _ in range(2):
        same(ran_on_device(compiled, x.copy()), wanted)
    compiled = accel.compile(function)
    device = accel.to_device(x)
    for _ in range(2):
        same(on_host(ran_on_device(compiled, device)), wanted)
    check_equal(device, x)


def noisy(x, generator):
    for _ in range(3):
        x = x * 0.5 + generator.normal(size=x.shape) + generator.random()
    return x, generator.integers(0, 9)


def test_draws():
    x = rng.random(5000)
    wanted_from, drawn_from = np.random.default_rng(3), np.random.default_rng(3)
    compiled = accel.compile(noisy, device="cuda")
    for _ in range(3):
        same(ran_on_device(compiled, x, drawn_from), noisy(x, wanted_from))
    assert drawn_from.bit_generator.state == wanted_from.bit_generator.state


def fails_after_draws(x, generator, k):
    x += 1.0
    y = x * 2.0 + generator.normal(size=x.shape)
    return np.partition(y, k)


@pytest.mark.parametrize("resident", [False, True])
def test_a_call_that_raises(resident):
    """It is NumPy's exception, arguments are as NumPy leaves them, and each number is drawn once."""
    x, y = np.arange(5000.0), np.arange(5000.0)
    generators = np.random.default_rng(3), np.random.default_rng(3)
    compiled = accel.compile(fails_after_draws, device="cuda")
    passed = accel.to_device(x) if resident else x
    for k in (3, 9999, 4):
        got, wanted = outcome(compiled, passed, generators[0], k), outcome(fails_after_draws, y, generators[1], k)
        if isinstance(wanted, Exception):
            assert (type(got), str(got)) == (type(wanted), str(wanted))
        else:
            same(on_host(got), wanted)
        same(on_host(passed), y)
        assert generators[0].bit_generator.state == generators[1].bit_generator.state
    ran_on_device(compiled, passed, generators[0], 5)


# ---- unknown code

seen = []


@accel.disable
def see(*values):
    seen.append([value.copy() if isinstance(value, np.ndarray) else value for value in values])


@accel.disable
def change(array, by=5.0):
    array += by


def shows_numbers(x):
    y = x * 2.0
    see("sum", float(y.sum()))
    return y + 1


def shows_arguments(x):
    for k in range(3):
        x += 1.0
        see(k, x, x[::2], x.max())
    return x * 2


def shows_a_result(x):
    y = x * 2
    see(y)
    y += 1
    return y


def argument_changes(x):
    y = x + 1
    change(x)
    z = x * y
    change(y)
    return y + z, y


def stores_to_a_view(x):
    x[1:] = x[:-1] * 0.5
    change(x[:3])
    x[::2] += 1.0
    see(x)
    return x.sum()


def fails_afterwards(x):
    x *= 2
    see(x)
    x += 1
    return x[np.array([0, 10**9])]


def raises_in_a_loop(x):
    for k in range(5):
        x += 1
        change(x, by=[1.0, 2.0, 3.0, "x", 5.0][k])
    return x


def last_word(x):
    x *= 3.0
    see(x)
    raise ValueError(f"not {x[1]}")


def shows_arrays_without_axes(x):
    y = np.asarray((x * 2.0).sum())
    see(y, x[3, ...])
    x[3] = 9.0
    see(x[3, ...], (x + 1.0)[:1].reshape(()))
    return y


UNKNOWN = (
    shows_arrays_without_axes,
    shows_numbers,
    shows_arguments,
    shows_a_result,
    argument_changes,
    stores_to_a_view,
    fails_afterwards,
)
UNKNOWN += (raises_in_a_loop, last_word)


def effects(call, x):
    """The result, what the callees saw, and the argument afterwards."""
    seen.clear()
    result = outcome(call, x)
    return (type(result), str(result)) if isinstance(result, Exception) else result, list(seen), x


@pytest.mark.parametrize("function", UNKNOWN)
@pytest.mark.parametrize("size", [8, 5000])
def test_calls_of_unknown_code(function, size):
    x = rng.random(size)
    wanted = effects(function, x.copy())
    compiled = accel.compile(function, device="cuda")
    for _ in range(4):
        same(effects(compiled, x.copy()), wanted)
    why = accel.explain(compiled)(x.copy())
    assert why.device is not None and why.device["name"] == "cuda:0" and why.device["launches"] > 0, str(why)
    assert why.compiled or why.exception is not None, str(why)


def test_texts_are_printed_in_their_order(capsys):
    def descend(x):
        for k in range(3):
            x = x * 0.5
            print("round", k, x.sum() > 1, end=";")
        return x

    x = np.ones(5000)
    compiled = accel.compile(descend, device="cuda")
    compiled(x)
    capsys.readouterr()
    same(ran_on_device(compiled, x), descend(x))
    text = capsys.readouterr().out
    assert text == "round 0 True;round 1 True;round 2 True;" * 2


def resizes(x):
    y = x * 2.0
    x.resize(3)
    return y[:3] + 1.0


def counts(x):
    y = x + 1.0
    count = sys.getrefcount(x)
    return y, count


@pytest.mark.parametrize("function", [resizes, counts])
def test_callees_see_as_many_owners(function):
    compiled = accel.compile(function, device="cuda")
    for _ in range(3):
        got, wanted = outcome(compiled, np.arange(5000.0)), outcome(function, np.arange(5000.0))
        same(got, wanted) if isinstance(wanted, tuple) else check_equal(got, wanted)
    assert accel.explain(compiled)(np.arange(5000.0)).device["name"] == "cuda:0"


@pytest.mark.parametrize("resident", [False, True])
def test_an_interrupt_in_a_callee(resident):
    def stop():
        if stops:
            raise KeyboardInterrupt

    def interrupted(x):
        x += 1.0
        stop()
        x += 1.0
        return x * 2.0

    compiled = accel.compile(interrupted, device="cuda")
    for stops in (False, True, False):
        x = np.arange(5000.0)
        passed = accel.to_device(x) if resident else x
        if stops:
            with pytest.raises(KeyboardInterrupt):
                compiled(passed)
            same(on_host(passed), np.arange(5000.0) + 1)
        else:
            same(on_host(compiled(passed)), interrupted(np.arange(5000.0)))


def test_functions_of_device_arrays_with_unknown_code():
    """The interpreter runs them: what it calls gets DeviceArrays."""
    compiled = accel.compile(shows_numbers)
    seen.clear()
    why = accel.explain(compiled)(accel.to_device(np.arange(5000.0)))
    assert why.answered == "interpreted" and why.exit.reason == "not_on_device"
    assert isinstance(why.result, accel.DeviceArray) and seen[-1] == ["sum", float((np.arange(5000.0) * 2).sum())]


@pytest.mark.skipif("emulated" not in os.environ.get("ACCEL_CUDA_DRIVER", ""), reason="the emulated driver loses the device")
def test_a_device_that_fails_after_a_call():
    """The interpreter goes on after the call, which is not made again."""
    import ctypes

    driver = ctypes.CDLL(os.environ["ACCEL_CUDA_DRIVER"])
    driver.cuEmulateFail.argtypes = [ctypes.c_char_p, ctypes.c_long, ctypes.c_int, ctypes.c_int]

    def lose(failing):
        seen.append(failing)
        if failing:
            driver.cuEmulateFail(b"cuLaunchKernel", 1, 719, 0)

    def function(x, failing):
        x += 1.0
        lose(failing)
        x *= 2.0
        return x.sum()

    compiled = accel.compile(function, device="cuda")
    for failing in (False, True, False):
        seen.clear()
        x, y = np.arange(5000.0), np.arange(5000.0)
        try:
            got = compiled(x, failing)
        finally:
            driver.cuEmulateFail(None, 0, 0, 0)
        assert seen == [failing]
        same((got, x), (function(y, False), y))
