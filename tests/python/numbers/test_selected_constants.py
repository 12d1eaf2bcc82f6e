"""Operations on constants that a selection may give: their events and bits are those of the CPU, not of the compiler."""

import numpy as np
import pytest
from support.compiled import facts
from support.outcome import assert_same

import accel

NEAR = np.array([0.0, 3.0, -2.0, 1.5, 0.5])
FUNCTIONS = {
    "maximum": lambda k: 1 / np.maximum(k, 0),
    "where_zero": lambda k: 1 / np.where(k > 0, k, 0.0),
    "sign": lambda k: 1 / np.sign(k),
    "signs": lambda k: np.sign(k) / np.sign(k),
    "remainder": lambda k: 1 / (k[0] % 2),
    "infinities": lambda k: np.where(k > 0, k, np.inf) - np.inf,
    "zeros": lambda k: np.where(k > 0, k, 0) / np.where(k > 0, k, 0),
    "infinity_times_zero": lambda k: np.where(k > 0, k, np.inf) * 0.0,
    "square": lambda k: np.where(k > 0, 1e200, k) ** 2,
    "product": lambda k: np.where(k > 0, 1e200, k) * np.where(k > 1, 1e200, k),
    "reciprocal": lambda k: np.reciprocal(np.where(k > 0, k, 0.0)),
    "root": lambda k: np.sqrt(np.where(k > 0, k, -1.0)),
    "narrowed": lambda k: np.where(k > 0, k, 1e40).astype(np.float32),
    "underflow": lambda k: np.where(k > 0, k, 1e-50).astype(np.float32),
    "underflow_to_half": lambda k: np.where(k > 0, k, 1e-7).astype(np.float16),
    "to_half": lambda k: np.where(k > 0, k, 7e4).astype(np.float16),
    "integer_masked": lambda k: 1 / (k.astype(int) & 0),
    "integer_times_zero": lambda k: 1 / (k.astype(int) * 0),
    "nan_to_int64": lambda k: np.where(k > 0, k, np.nan).astype(int),
    "far_to_int64": lambda k: np.where(k > 0, 2.0**63, k).astype(np.int64),
    "far_to_uint32": lambda k: np.where(k > 0, -3e9, k).astype(np.uint32),
    "far_to_int16": lambda k: np.where(k > 0, 1e10, k).astype(np.int16),
    "far_to_uint64": lambda k: np.where(k > 0, 1e20, k).astype(np.uint64),
    "far_to_int32": lambda k: np.where(k > 0, k, 1e30).astype(np.int32),
    "infinity_to_int8": lambda k: np.where(k > 0, np.float32(np.inf), k.astype(np.float32)).astype(np.int8),
    "half_to_int64": lambda k: np.where(k > 0, np.float16(np.nan), k.astype(np.float16)).astype(np.int64),
}


def stored(k):
    w = k.copy()
    w[w <= 0] = 0
    return 1 / w


def by_a_branch(k):
    d = np.float64(0)
    if k[0] > 0:
        d = k[0]
    return 1.0 / d


def stored_and_cast(k):
    w = k.copy()
    w[w <= 0] = np.nan
    return w.astype(np.int64)


FUNCTIONS |= {f.__name__: f for f in (stored, by_a_branch, stored_and_cast)}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize(
    "values", [NEAR, -NEAR, np.tile(NEAR, 20), np.abs(NEAR) + 1], ids=["few", "negated", "many", "positive"]
)
def test_events_and_bits(name, values):
    call = accel.compile(FUNCTIONS[name])
    assert_same(FUNCTIONS[name], call, values, times=2)
    # What NumPy's own cast makes of numbers out of range depends on where they lie in the array there.
    with np.errstate(all="warn" if name == "far_to_uint32" else "ignore"):
        assert_same(FUNCTIONS[name], call, values, times=2)
    with np.errstate(all="raise"):
        assert_same(FUNCTIONS[name], call, values, times=2)
    found = facts(call)
    assert found["compiled"] + found["side_exits"] > 0 or found["interpreted"] == 6, found


def divided(a, b):
    for i in range(len(a)):
        if b[i] != 0:
            a[i] /= b[i]


def divided_unless(a, b):
    out = np.zeros(len(a))
    for i in range(len(a)):
        d = b[i]
        if d == 0:
            continue
        out[i] = a[i] / d
    return out


def roots(a, b):
    for i in range(len(a)):
        if b[i] >= 0:
            a[i] = np.sqrt(b[i])


def quotient_or_root(a, b):
    for i in range(len(a)):
        if b[i] > 0:
            a[i] = a[i] / b[i]
        else:
            a[i] = np.sqrt(-b[i])


def logarithms(a, b):
    for i in range(len(a)):
        if b[i] > 0:
            a[i] = np.log(b[i])


@pytest.mark.parametrize("function", [divided, divided_unless, roots, quotient_or_root, logarithms], ids=lambda f: f.__name__)
def test_guarded_elements_stay_compiled(function):
    """What a branch keeps from an operation raises no event that sends the call back."""
    call = accel.compile(function)
    a, b = np.arange(1.0, 1001), np.tile([0.0, 2.0, -3.0, 0.5], 250)
    for _ in range(3):
        assert_same(function, call, a, b, times=1)
    found = facts(call)
    assert found["compiled"] == found["calls"] and found["interpreted"] == found["side_exits"] == 0, found
