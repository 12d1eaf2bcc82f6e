"""Loops over steps in which elements end one after the other: each stays as it is once its mask no longer holds."""

import warnings

import numpy as np
import pytest
from optimisations.codegen.escape_bodies import (
    BODIES,
    beside_another_condition,
    bound_of_the_step,
    modulus_kept,
    outside_goes_on,
    plane,
    squared,
    two_conditions,
    until_outside,
    up_to_the_bound,
)
from support.compiled import facts
from support.differential import check
from support.outcome import assert_same, with_one_nan

import accel

# Not in vectors: masks in memory, and masks that change by themselves.
PLAIN = [beside_another_condition, bound_of_the_step]
FROM_SQUARES = [squared, up_to_the_bound, until_outside, two_conditions, modulus_kept]


def check_form(body, call, *arguments):
    """How the loop runs; whether it does in vectors is up to the CPU."""
    explanation = accel.explain(call)(*arguments)
    assert "runs tile by tile" in explanation.report(verbose=True)
    assert ("group < last_group" in explanation.source) == (body not in PLAIN)
    assert ("surely_below(on[v]" in explanation.source) == (body in FROM_SQUARES)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("body", BODIES)
def test_bodies(body, dtype):
    """Whole vectors, parts of them, one element; no step, one step and many."""
    for shape in ((1, 1), (3, 5), (7, 41), (13, 64)):
        c = plane(dtype, *shape)
        for steps in (0, 1, 30):
            call = check(body, np.zeros_like(c), c, steps, 2.0)
    check_form(body, call, np.zeros_like(c), c, steps, 2.0)


def around(dtype, bound):
    """Numbers whose modulus is the bound, or the next to it on either side, by different parts."""
    part = np.dtype(dtype).type(0).real.dtype.type
    angles = np.linspace(0, 2 * np.pi, 57)
    z = (bound * np.exp(1j * angles)).astype(dtype)
    z = np.concatenate([z, np.array([bound, -bound, 1j * bound, -1j * bound, complex(0.6 * bound, 0.8 * bound)], dtype)])
    steps = [z]
    for towards in (part(0), part(np.inf)):
        moved = z.copy()
        moved.real = np.nextafter(z.real, np.copysign(towards, z.real))
        steps.append(moved)
        both = moved.copy()
        both.imag = np.nextafter(z.imag, np.copysign(towards, z.imag))
        steps.append(both)
    return np.concatenate(steps)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("body", [squared, up_to_the_bound, until_outside, outside_goes_on, modulus_kept])
@pytest.mark.parametrize("bound", [2.0, 1e-3, 5.0, 2.0**-60, 2.0**40, 2.0**62])
def test_near_the_bound(body, bound, dtype):
    z = around(dtype, bound)
    still = np.zeros_like(z)
    with np.errstate(all="ignore"):
        check(body, z, still, 1, bound)
        check(body, z, -z, 3, bound)
        check(body, z, still, 4, bound)


def extremes(dtype):
    info = np.finfo(dtype)
    parts = [0.0, -0.0, 1.0, -1.5, 2.0, info.tiny, info.smallest_subnormal, -3 * info.smallest_subnormal, info.max, -info.max]
    parts += [info.max / 2, np.inf, -np.inf, np.nan, info.tiny * 4, np.sqrt(info.max), np.sqrt(info.tiny)]
    parts = np.array(parts, info.dtype)
    z = np.empty(len(parts) ** 2, dtype)
    z.real, z.imag = np.repeat(parts, len(parts)), np.tile(parts, len(parts))
    return z


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("bound", [2.0, 0.0, 1e30, np.inf, np.nan])
def test_extremes(body, bound):
    """Subnormal, huge and infinite numbers, zeros of both signs and NaN; which events there are is NumPy's matter.

    The dtypes take turns over the bodies, so that both meet each form of loop."""
    dtype = ("complex64", "complex128")[BODIES.index(body) % 2]
    z = extremes(dtype).reshape(17, 17)  # as many axes as in `test_bodies`: the first kernels are the same
    call = compiled = accel.compile(body)
    if body is until_outside:  # NaNs go on, and which of two survives is not NumPy's for certain

        def body(*arguments):
            return with_one_nan(until_outside(*arguments))

        def call(*arguments):
            return with_one_nan(compiled(*arguments))

    for ignored in ("all", "none"):
        settings = {"all": "ignore"} if ignored == "all" else {}
        with np.errstate(**settings), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for steps in (1, 2, 5):
                assert_same(body, call, z, z[:, ::-1].copy(), steps, bound, times=2, share=False)
        if ignored == "all":
            assert facts(compiled)["interpreted"] == 0


def test_events_of_one_element():
    """Only the element that overflows warns, in whichever lane and step."""

    def grows(z, c, steps, bound):
        z = z.copy()
        for _ in range(steps):
            inside = np.abs(z) < bound
            z[inside] = z[inside] * c[inside]
        return z

    call = accel.compile(grows)
    for place in (0, 17, 63, 64, 69):
        z, c = np.ones(70, np.complex64), np.full(70, 1.5, np.complex64)
        with warnings.catch_warnings(record=True) as none:
            warnings.simplefilter("always")
            assert_same(grows, call, z, c, 40, 4.0, times=1)
        assert not none
        assert facts(call)["interpreted"] == 0
    for place in (0, 17, 63, 64, 69):
        z, c = np.ones(70, np.complex64), np.full(70, 1.5, np.complex64)
        z[place], c[place] = 3, 3e38
        assert_same(grows, call, z, c, 40, 4.0, times=1)
        with np.errstate(all="raise"):
            assert_same(grows, call, z, c, 40, 4.0, times=1)
        with np.errstate(over="ignore"):
            assert_same(grows, call, z, c, 40, 4.0, times=1)


def stays(z, steps):
    z = z.copy()
    count = np.zeros(z.shape, dtype=int)
    for k in range(steps):
        inside = np.abs(z) < 2
        z[inside] = z[inside] + 1
        count[inside] = k
    return z, count


def test_moduli_have_no_events():
    """NumPy is silent about a modulus of parts that are far from each other."""
    z = np.array([1e30 + 1e-38j, 1e-45 + 1e-44j, 1 + 1j] * 20, np.complex64)
    with np.errstate(all="raise"):
        check(stays, z, 5)


def test_a_modulus_beyond_the_largest_number():
    """NumPy is silent about it. Compiled code is where its vectors have operations without events, else it leaves."""
    z = np.array([3e38 + 3e38j, 1 + 1j] * 20, np.complex64)
    with np.errstate(all="raise"):
        call = accel.compile(stays)
        assert_same(stays, call, z, 5, times=2)
        assert facts(call)["compiled"] + facts(call)["side_exits"] == 2


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("mode", ["warn", "raise", "ignore"])
def test_underflow(mode, dtype):
    """Of squares of small parts, which only some callers want to know of."""
    tiny = np.finfo(dtype).tiny
    z = np.full(70, 0.5 + 0.25j, dtype)
    call = accel.compile(squared)
    for place, value in ((3, 0.5 + 1j * tiny), (20, tiny + 0.5j), (69, 0.5)):
        z[place] = value
        with np.errstate(under=mode), warnings.catch_warnings():
            warnings.simplefilter("always")
            assert_same(squared, call, z, z * 0, 2, 2.0, times=2)
        z[place] = 0.5
