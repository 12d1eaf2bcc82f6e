"""Bools that become numbers before an operation follows: of memory, of comparisons of every width, of several joined."""

import numpy as np
import pytest
from support.compiled import facts
from support.outcome import assert_same

import accel

SOURCES = {
    "bytes": lambda m, x, f, b, z: m,
    "inverted": lambda m, x, f, b, z: ~m,
    "bytes_joined": lambda m, x, f, b, z: m & m[::-1],
    "of_uint8": lambda m, x, f, b, z: b == 7,
    "of_float32": lambda m, x, f, b, z: f > 0,
    "of_float64": lambda m, x, f, b, z: x > 0,
    "of_complex": lambda m, x, f, b, z: z < z[::-1],
    "of_two_widths": lambda m, x, f, b, z: (x > 0) & m,
    "isnan": lambda m, x, f, b, z: np.isnan(x),
}


def operands(count, step):
    rng = np.random.default_rng(count)
    x = rng.standard_normal(count * step)
    x[3::7] = np.nan
    x[4::11] = -0.0
    x[5::13] = np.inf
    m = rng.choice(np.array([0, 1, 2, 255], np.uint8), count * step).view(bool)  # a bool is any byte
    z = np.empty(count * step, complex)
    z.real, z.imag = x, rng.permutation(x)
    return [a[::step] for a in (m, x, x.astype(np.float32), rng.integers(5, 9, count * step).astype(np.uint8), z)]


@pytest.mark.parametrize("source", SOURCES)
def test_products(source):
    mask_of = SOURCES[source]

    def function(m, x, f, b, z):
        mask = mask_of(m, x, f, b, z)
        half = mask.astype(np.float16) * np.float16(0.1)
        return mask * 2.0, mask * np.float32(-3), half, x * mask, f - mask, mask * 1j, mask.astype(np.float32)

    compiled = accel.compile(function)
    for step in (1, 2):
        for count in (67, 130, 3):
            with np.errstate(all="ignore"):
                assert_same(function, compiled, *operands(count, step))
    assert facts(compiled)["interpreted"] == facts(compiled)["side_exits"] == 0


@pytest.mark.parametrize("source", SOURCES)
def test_events(source):
    """A number that a mask may become raises events where it is there alone."""
    mask_of = SOURCES[source]

    def function(m, x, f, b, z):
        mask = mask_of(m, x, f, b, z)
        return mask * np.inf, 1 / mask.astype(np.float32)

    compiled = accel.compile(function)
    for step in (1, 2):
        m, x, f, b, z = operands(67, step)
        ones = np.ones_like(m), np.ones_like(x), np.ones_like(f), np.full_like(b, 7), np.ones_like(z)
        for arguments in ((m, x, f, b, z), ones):
            assert_same(function, compiled, *arguments)
    found = facts(compiled)
    assert found["compiled"] + found["side_exits"] > 0, found
