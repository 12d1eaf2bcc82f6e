"""Boolean masks: operations and stores under a mask, reductions of masked elements."""

import numpy as np
import pytest
from support.differential import check, check_left_to_numpy, layouts, sample

MASKS = [np.array([True, False, True, True, False, True]), np.zeros(6, bool), np.ones(6, bool)]


@pytest.mark.parametrize("mask", MASKS, ids=["some", "none", "all"])
def test_stores_of_scalars(mask):
    def function(x, m):
        a = x + 1.0
        a[m] = 7
        b = x * 2.0
        b[~m] = x[0]
        c = x.copy()
        c[c > 0.5] = 0.25
        return a, b, c

    check(function, sample(6), mask)


@pytest.mark.parametrize("mask", MASKS, ids=["some", "none", "all"])
def test_operations_under_a_mask(mask):
    def function(x, y, m):
        z = x + 0.0
        z[m] = z[m] ** 2 + y[m]
        w = y + 0.0
        w[m] += 3.0
        w[m] *= x[m]
        u = x.copy()
        u[m] = np.sqrt(np.abs(y[m])) - u[m]
        return z, w, u

    check(function, sample(6), sample(6, seed=1), mask)


def test_masked_lanes_have_no_events():
    def function(x):
        z = x + 0.0
        z[x > 0] = np.log(x[x > 0]) + 1.0 / x[x > 0]
        return z

    check(function, np.array([1.0, 0.0, -1.0, 2.0, 0.0, 4.0]))
    check_left_to_numpy(function, np.array([1.0, 1e-320, -1.0, 2.0]))


def test_counting_under_a_mask():
    def function(z, k):
        count = np.zeros(z.shape, dtype=np.int64)
        inside = np.abs(z) < 2
        count[inside] = k
        count[~inside] += 1
        return count, inside

    check(function, sample((5, 4)), 3)
    check(function, sample((5, 4), "complex128"), 3)


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int64", "float32", "float64", "bool"])
def test_reductions_of_masked_elements(dtype):
    x = sample((7, 5), dtype)
    mask = sample((7, 5), "bool", seed=3)

    def function(x, m):
        v = x[m]
        return v.max(), np.min(v), np.any(v), np.all(v), (v > 3).any(), np.all(x[m] < 90)

    import accel

    check_left_to_numpy(function, x, mask)
    check_left_to_numpy(function, x, np.zeros_like(mask))
    del accel
    if np.dtype(dtype).kind != "f":
        check(lambda x, m: (x[m].sum(), np.sum(x[m]), np.prod(x[m])), x, mask)


def test_leading_axes():
    x, rows = sample((6, 3)), MASKS[0]

    def function(x, y, m):
        a = x + 0.0
        a[m] = 0
        b = x + 0.0
        b[m] = x[m] * y + 1.0
        c = x + 0.0
        c[m] = y
        d = x + 0.0
        d[m, 1] = 5
        d[m, 1:] += 2
        return a, b, c, d

    check(function, x, sample(3), rows)
    check(lambda x, m: (x[m].max(axis=0) if False else x[m] > 0).any(axis=0), x, rows)


def test_masks_beside_other_indices():
    x, columns = sample((4, 6)), MASKS[0]

    def function(x, m):
        a = x + 0.0
        a[:, m] = 0
        b = x + 0.0
        b[1, m] = x[2, m] * 2
        c = x + 0.0
        c[1:3, m] = c[1:3, m] + 1.0
        d = x + 0.0
        d[..., m] *= 2.0
        e = x[None] + 0.0
        e[0, :, m] = 3
        return a, b, c, d, e

    check(function, x, columns)


def test_layouts():
    def function(x, y):
        z = x + 0.0
        z[y > 0] = y[y > 0] * 2.0
        return z

    for (_, x), (_, y) in zip(layouts(sample((4, 5))), reversed(list(layouts(sample((4, 5), seed=2)))), strict=True):
        check(function, x, y, times=1)


def test_casts():
    def function(x, m):
        a = np.zeros(6, dtype=np.int32)
        a[m] = x[m]
        b = np.zeros(6, dtype=np.float32)
        b[m] = x[m] + 1
        c = np.zeros(6, dtype=np.complex128)
        c[m] = x[m]
        d = np.zeros(6)
        d[m] = np.array(3)
        d[~m] = [4]
        return a, b, c, d

    check(function, sample(6), MASKS[0])


def test_errors():
    check_left_to_numpy(lambda x, m: x[m], sample(6), np.ones(5, bool))
    check_left_to_numpy(lambda x, m: x[m], sample(6), np.ones((6, 1), bool))

    def store(x, m):
        z = x + 0.0
        z[m] = np.zeros((1, 1))
        return z

    check_left_to_numpy(store, sample(6), MASKS[0])
    check_left_to_numpy(lambda x, m: x[m].max(), sample(6), MASKS[1])


def test_results_keep_their_identity():
    def function(x, m):
        v = x[m]
        w = v
        v += 1.0
        z = x + 0.0
        z[m] = w
        return z

    check(function, sample(6), MASKS[0])


@pytest.mark.parametrize("dtype", ["float64", "int64", "uint64", "float32", "complex64", "int16"])
def test_choices_by_bytes_keep_bits(dtype):
    """Negative zeros, NaNs of any payload and the ends of the range, by masks in memory and combinations of such."""

    def choose(m, k, a, b):
        c = np.where(m, a, b)
        d = a + 0
        d[m & k] = b[0]
        d[m | ~k] = a[m | ~k]
        e = b.copy()
        e[m] = 2
        return c, d, e, np.where(m ^ k, a[::-1], 1)

    bits = np.random.default_rng(3).integers(0, 256, (2, 37 * 8), np.uint8)
    a, b = (row.view(dtype) for row in bits)
    if np.dtype(dtype).kind in "fc":
        a[:4] = [-0.0, 0.0, np.nan, np.inf]
        a, b = np.where(np.isfinite(a), a, -0.0), np.where(np.isfinite(b), b, 0.0)
        a, b = a.astype(dtype) * 0 + a.astype(dtype), b.astype(dtype)
        a[5:7] = np.frombuffer(b"\x01\x00\x00\x00\x00\x00\xf8\xff" * 2, dtype)[:2]
    masks = np.random.default_rng(4).random((2, len(a))) < 0.5
    with np.errstate(all="ignore"):
        check(choose, masks[0], masks[1], a, b)
