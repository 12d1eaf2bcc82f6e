"""`where=` beside an `out=` of another dtype: NumPy casts what is in `out` first, and may warn of that."""

import numpy as np
import pytest
from support.compiled import facts
from support.outcome import assert_same

import accel

UFUNCS = [np.add, np.maximum, np.hypot, np.copysign, np.floor_divide]


@pytest.mark.parametrize("ufunc", UFUNCS)
def test_old_contents_are_cast(ufunc):
    def call_it(b, c, t, m):
        ufunc(b, c, out=t, where=m, casting="unsafe")

    m = np.array([True, False, True])
    call = accel.compile(call_it)
    for dtype in ("f4", "f8"):
        b = np.arange(1, 4).astype(dtype)
        for t in (np.ones(3), np.full(3, 1e300), np.full(3, np.nan), np.ones(3, "f4"), np.ones(3, "c16")):
            assert_same(call_it, call, b, b, t, m)
    if ufunc is not np.hypot and ufunc is not np.copysign:
        for t in (np.ones(3), np.full(3, np.nan), np.full(3, 1e300), np.ones(3, "i4")):
            assert_same(call_it, call, np.arange(3, dtype="i4"), np.arange(1, 4, dtype="i4"), t, m)
    assert facts(call)["compiled"] > 0


def after_a_call(a, b, m):
    np.add.accumulate(m[1], out=m[0])
    b *= 2.0
    return a[1]


@pytest.mark.parametrize("backend", ["native", "numpy"])
def test_stores_after_calls_are_done_once(backend):
    call = accel.compile(after_a_call, backend=backend)
    for writeable in (True, False):
        a = np.arange(3.0)
        a.flags.writeable = writeable
        assert_same(after_a_call, call, a, np.arange(1.0, 4), np.ones((3, 3)))
    assert facts(call)["compiled"] > 0


def powers(x, a):
    return x**a


@pytest.mark.parametrize("backend", ["native", "numpy"])
def test_powers_of_numbers(backend):
    call = accel.compile(powers, backend=backend)
    for a in (np.array([3, 0, 1], np.uint8), np.array([3.0, 0, 1]), np.array([3, 0, 1])):
        for x in (2, 1, 2.5):
            assert_same(powers, call, x, a)
    assert facts(call)["compiled"] > 0
