"""Under a numpy.errstate that raises, prints or calls a function the CPU computes: a device reports no events."""

import numpy as np
import pytest

import accel


def quotient(x, y):
    return x / y + 1


def quotient_inside(x, y):
    with np.errstate(divide="raise"):
        z = x / y
    return z + 1


def quiet_inside(x, y):
    with np.errstate(all="ignore"):
        z = x / y
    return z + 1


X, Y = np.arange(1.0, 6.0), np.array([1.0, 2.0, 4.0, 0.0, 8.0])


def explained(compiled, *arguments):
    why = accel.explain(compiled)(*arguments)
    assert why.compiled, str(why)
    return why


@pytest.mark.parametrize("mode", ["raise", "call", "print"])
def test_the_errstate_of_the_caller(mode, capfd):
    compiled = accel.compile(quotient, device="cuda")
    calls = []
    with np.errstate(divide="ignore"):
        assert explained(compiled, X, Y).device["name"] == "cuda:0"
    with np.errstate(divide=mode, call=lambda name, flags: calls.append(name)):
        why = explained(compiled, X, Y + 1)
        assert why.device["name"] == "cpu" and "numpy.errstate" in str(why)
        if mode == "raise":
            with pytest.raises(FloatingPointError, match="divide by zero encountered in divide"):
                compiled(X, Y)
        else:
            assert np.array_equal(compiled(X, Y), quotient(X, Y))
    assert calls == (["divide by zero"] * 2 if mode == "call" else [])
    assert ("divide by zero" in "".join(capfd.readouterr())) == (mode == "print")
    with np.errstate(divide="ignore"):
        assert explained(compiled, X, Y).device["name"] == "cuda:0"


def test_an_errstate_in_the_function():
    compiled = accel.compile(quotient_inside, device="cuda")
    why = explained(compiled, X, Y + 1)
    assert why.device["name"] == "cpu" and "numpy.errstate" in str(why)
    with pytest.raises(FloatingPointError, match="divide by zero encountered in divide"):
        compiled(X, Y)


def test_an_errstate_that_ignores_stays_on_the_device():
    compiled = accel.compile(quiet_inside, device="cuda")
    assert explained(compiled, X, Y).device["name"] == "cuda:0"


def test_arrays_on_the_device_report_nothing():
    arrays = accel.to_device(X), accel.to_device(Y)
    for device in ("cpu", "cuda"):
        compiled = accel.compile(quotient, device=device)
        with np.errstate(divide="raise"):
            why = explained(compiled, *arrays)
        assert why.device["name"] == "cuda:0" and why.result.tolist()[3] == np.inf and "not on the device" not in str(why)
