"""Kernels emitted from Programs against NumPy: values by bits, and no floating-point event of NumPy's missing."""

import itertools

import numpy as np
import pytest
from kernels import INVALID, OVERFLOW, Kernel, events_of, same_bits
from programs import elementwise

INTS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
FLOATS = ["float16", "float32", "float64"]
COMPLEX = ["complex64", "complex128"]
ALL = ["bool", *INTS, *FLOATS, *COMPLEX]


def values(dtype, seed=0, count=200, special=True):
    rng = np.random.default_rng(seed)
    kind = np.dtype(dtype).kind
    if kind == "b":
        return rng.integers(0, 2, count).astype(bool)
    if kind in "iu":
        info = np.iinfo(dtype)
        edges = [info.min, info.max, 0, 1, 2, 3, 7, max(info.min, -1), max(info.min, -2), info.max - 1]
        return np.concatenate(
            [np.resize(np.array(edges, dtype), count // 2), rng.integers(info.min, info.max, count // 2, dtype, True)]
        )
    if kind == "c":
        part = np.dtype(dtype).type(0).real.dtype.name
        return (values(part, seed, count, special) + 0j).astype(dtype) + 1j * values(part, seed + 9, count, False).astype(dtype)
    info = np.finfo(dtype)
    edges = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 3.0, 100.0, -7.0]
    if special:
        edges += [np.nan, np.inf, -np.inf, info.max, info.min, info.tiny, info.smallest_subnormal]
    return np.concatenate([np.resize(np.array(edges, dtype), count // 2), rng.normal(0, 5, count // 2).astype(dtype)])


def pairs(dtype, other=None):
    """Every edge value with every other one."""
    a, b = values(dtype, 1, 60), values(other or dtype, 2, 60)
    return np.repeat(a, len(b)), np.tile(b, len(a))


def check(op, ufunc, *arrays, allow_spurious=False):
    operands = [a.dtype.name for a in arrays]
    expected_events, expected = events_of(ufunc, *arrays)
    kernel = Kernel(elementwise(op, operands, expected.dtype.name))
    out = np.empty_like(expected)
    status = kernel([len(out)], arrays, [out])
    bad = [k for k in range(len(out)) if not same_bits(out[k], expected[k])]
    assert not bad, [(tuple(a[k] for a in arrays), out[k], expected[k]) for k in bad[:5]]
    assert status & expected_events == expected_events, (status, expected_events)
    if not allow_spurious:
        assert status & ~expected_events & ~4 == 0, (status, expected_events)


BINARY = {
    "add": ALL,
    "subtract": [*INTS, *FLOATS, *COMPLEX],
    "multiply": ["bool", *INTS, *FLOATS],
    "divide": FLOATS,
    "floor_divide": [*INTS, *FLOATS],
    "remainder": [*INTS, *FLOATS],
    "equal": ALL,
    "not_equal": ALL,
    "less": ["bool", *INTS, *FLOATS],
    "less_equal": ["bool", *INTS, *FLOATS],
    "greater": ["bool", *INTS, *FLOATS],
    "greater_equal": ["bool", *INTS, *FLOATS],
    "logical_and": ALL,
    "logical_or": ALL,
    "logical_xor": ALL,
    "bitwise_and": ["bool", *INTS],
    "bitwise_or": ["bool", *INTS],
    "bitwise_xor": ["bool", *INTS],
    "left_shift": INTS,
    "right_shift": INTS,
    "copysign": FLOATS,
}
EXTREMES = {name: ["bool", *INTS, *FLOATS] for name in ("maximum", "minimum", "fmax", "fmin")}
UNARY = {
    "negative": [*INTS, *FLOATS, *COMPLEX],
    "positive": [*INTS, *FLOATS, *COMPLEX],
    "absolute": ["bool", *INTS, *FLOATS],
    "fabs": FLOATS,
    "sign": [*INTS, *FLOATS],
    "conjugate": [*INTS, *FLOATS, *COMPLEX],
    "reciprocal": FLOATS,
    "square": [*INTS, *FLOATS],
    "sqrt": FLOATS,
    "logical_not": ALL,
    "invert": ["bool", *INTS],
    "floor": ["bool", *INTS, *FLOATS],
    "ceil": ["bool", *INTS, *FLOATS],
    "trunc": ["bool", *INTS, *FLOATS],
    "rint": FLOATS,
    "isnan": ALL,
    "isinf": ALL,
    "isfinite": ALL,
    "signbit": FLOATS,
}


def cases(table):
    return [(op, dtype) for op, dtypes in table.items() for dtype in dtypes]


@pytest.mark.parametrize(("op", "dtype"), cases(BINARY))
def test_binary(op, dtype):
    check(op, getattr(np, op), *pairs(dtype))


@pytest.mark.parametrize(("op", "dtype"), cases(EXTREMES))
def test_extremes(op, dtype):
    a, b = pairs(dtype)
    if np.dtype(dtype).kind == "f":  # NumPy's own bits for zeros of both signs depend on the position in the array
        keep = ~((a == 0) & (b == 0))
        a, b = a[keep], b[keep]
    check(op, getattr(np, op), a, b)


@pytest.mark.parametrize(("op", "dtype"), cases(UNARY))
def test_unary(op, dtype):
    check(op, getattr(np, op), values(dtype))


@pytest.mark.parametrize("op", ["equal", "not_equal", "less", "less_equal", "greater", "greater_equal"])
def test_mixed_comparison(op):
    check(op, getattr(np, op), *pairs("int64", "uint64"))
    check(op, getattr(np, op), *pairs("uint64", "int64"))


@pytest.mark.filterwarnings("ignore:Casting complex values")
@pytest.mark.parametrize(("source", "target"), list(itertools.product(ALL, ALL)))
def test_cast(source, target):
    a = values(source, 3)
    if np.dtype(source).kind == "c" and np.dtype(target).kind != "c":
        a = a.real.astype(source)
    with np.errstate(all="ignore"):
        pieces = [np.array([v]) for v in a]
        events = [events_of(lambda v: v.astype(target), piece)[0] for piece in pieces]
    # Out of range, NumPy's bits depend on the loop: the invalid event is what counts.
    keep = np.array([not e & INVALID for e in events])
    check("astype", lambda v: v.astype(target), a[keep], allow_spurious=True)
    if not keep.all():
        kernel = Kernel(elementwise("astype", [source], target))
        for value in a[~keep]:
            one = np.array([value])
            assert kernel([1], [one], [np.empty(1, target)]) & INVALID, value


@pytest.mark.parametrize("dtype", [*INTS, *FLOATS])
def test_clip(dtype):
    a, (low, high) = values(dtype), (np.resize(values(dtype, k), 200) for k in (4, 5))
    if np.dtype(dtype).kind == "f":
        a, low, high = (v + np.dtype(dtype).type(0.25) for v in (a, low, high))
    check("clip", np.clip, a, low, high)


@pytest.mark.parametrize("dtype", ALL)
def test_where(dtype):
    condition = values("bool", 6)
    check("where", np.where, condition, values(dtype, 1), values(dtype, 2))


def test_integer_events():
    a = np.array([1, -128, 5], np.int8)
    kernel = Kernel(elementwise("floor_divide", ["int8", "int8"], "int8"))
    out = np.empty(3, np.int8)
    assert kernel([3], [a, np.array([1, 2, 3], np.int8)], [out]) == 0
    assert kernel([3], [a, np.array([1, -1, 3], np.int8)], [out]) == OVERFLOW
