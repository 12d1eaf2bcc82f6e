"""Events of operations that run on one path alone, of casts and roundings, and none of what does not run: however much the
compiler would like to compute in advance, in vectors or not at all.
"""

import numpy as np
import pytest
from support.compiled import facts
from support.outcome import assert_same

import accel

ZERO, ONE = np.float64(0), np.float64(1)
X = np.linspace(-3, 4, 37)


@pytest.fixture(autouse=True)
def as_users_get_them():
    with accel.config(extra_flags=""):
        yield


def invariant_quotient(x, a, b):
    total = a
    for i in range(len(x)):
        if x[i] > 3:
            total = total + a / b
    return total


def quotient_on_one_path(x, a, b):
    out = np.empty(len(x))
    for i in range(len(x)):
        if x[i] > 0:
            out[i] = np.sqrt(x[i])
        else:
            out[i] = a - x[i] * b
    return out


def dropped_quotient(x, a, b):
    for i in range(len(x)):
        a / b  # noqa: B018
    return a


def quotient_before_exit(x, a, b):
    q = a / b
    if q > 2:
        return q
    for i in range(len(x)):
        q = q * x[i]
        if q > 1000:
            break
    return q


def overflow_on_one_path(x, a, b):
    total = b
    for i in range(len(x)):
        big = x[i] * 1e200
        if x[i] > 3.5:
            total = total + big * big
    return total


def scalar_in_empty_rows(x, a, b):
    return x.reshape(len(x), 1)[:, :0] + a / (b + 1)


LOOPS = [invariant_quotient, quotient_on_one_path, dropped_quotient, quotient_before_exit, overflow_on_one_path]


@pytest.mark.parametrize("a, b", [(ONE, ONE), (ONE, ZERO), (ZERO, ZERO), (np.float64(1e308), np.float64(1e-10))])
@pytest.mark.parametrize("function", [*LOOPS, scalar_in_empty_rows])
def test_on_their_path(function, a, b):
    call = accel.compile(function)
    assert_same(function, call, X - 9, a, b)
    assert facts(call)["compiled"] > 0
    assert_same(function, call, X, a, b)
    assert_same(function, call, X[:0], a, b)


def roundings(x):
    return np.floor(x), np.ceil(x), np.trunc(x), np.rint(x)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_nan_is_rounded_without_events(dtype):
    x = np.resize(np.array([np.nan, -np.nan, np.inf, -np.inf, -0.0, 0.0, -0.5, 0.5, 2.5, -2.5], dtype), 79)
    with np.errstate(all="raise"):
        call = accel.compile(roundings)
        assert_same(roundings, call, x, times=4)
    assert facts(call)["interpreted"] == 0


def quotients(z, w):
    return z / w


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("w", [2j, 2, 1 + 1j, -0.5 + 3j])
def test_quotients_of_complex_numbers(dtype, w):
    """One of the parts of the divisor may be 0, which the other path would divide by."""
    z = (X + 1j * X[::-1]).astype(dtype)
    call = accel.compile(quotients)
    assert_same(quotients, call, z, np.full(len(z), w, dtype))
    assert_same(quotients, call, z, np.array(w, dtype)[()])
    assert_same(quotients, call, z, np.where(X > 0, w, 1).astype(dtype))
    assert facts(call)["interpreted"] == 0


def narrowed(x):
    return x.astype(np.float16)


def test_nan_becomes_float16_without_events():
    x = np.resize([np.nan, -np.nan, 1.0, -2.5, np.inf], 77)
    call = accel.compile(narrowed)
    assert_same(narrowed, call, x, times=4)
    assert facts(call)["interpreted"] == 0


def whole(x):
    return x.astype(np.uint64)


def test_large_numbers_become_unsigned_without_events():
    x = np.resize([0.0, 1.5, 2.0**31, 2.0**32, 2.0**63, 2.0**63 + 2.0**40], 77)
    call = accel.compile(whole)
    assert_same(whole, call, x, times=4)
    assert facts(call)["interpreted"] == 0


def negated_products(x, y):
    return -x * -y, x + -y, -(x * y), -x / y, abs(-x) * abs(y)


def test_signs_of_nan():
    x, y = np.resize([np.nan, 1.0, np.inf, -np.inf], 67), np.resize([2.0, 0.5, 0.0], 67)
    call = accel.compile(negated_products)
    assert_same(negated_products, call, x, y, times=4)
    assert facts(call)["compiled"] > 0
