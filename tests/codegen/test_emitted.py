"""Kernels emitted from Programs against NumPy: values by bits, and no floating-point event of NumPy's missing."""

import kernels
import numpy as np
import pytest
from kernels import INVALID, OVERFLOW, UNDERFLOW, Kernel, events_of, same_bits
from programs import elementwise, several_elementwise

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


def wrong_cases(op, ufunc, cases):
    """The cases whose bits or events differ from NumPy's: dtypes, and what differs.

    One kernel has a nest for the arrays of each case; in each run the nests of all other cases have no elements.
    """
    found = [events_of(ufunc, *arrays) for arrays in cases]
    operands = [[a.dtype.name for a in arrays] for arrays in cases]
    programs = [(op, names, expected.dtype.name) for names, (_, expected) in zip(operands, found, strict=True)]
    kernel = Kernel(several_elementwise(programs))
    outs = [np.empty_like(expected) for _, expected in found]
    inputs = [a for arrays in cases for a in arrays]
    wrong = {}
    for k, (arrays, out, (expected_events, expected)) in enumerate(zip(cases, outs, found, strict=True)):
        status = kernel([len(out) * (k == j) for j in range(len(cases))], inputs, outs)
        bad = [] if same_bits(out, expected) else [i for i in range(len(out)) if not same_bits(out[i], expected[i])]
        spurious = status & ~expected_events & ~UNDERFLOW
        if bad or status & expected_events != expected_events or spurious:
            differing = [(tuple(a[i] for a in arrays), out[i], expected[i]) for i in bad[:5]]
            wrong[tuple(operands[k])] = differing, status, expected_events
    return wrong


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


@pytest.mark.parametrize("op", BINARY)
def test_binary(op):
    assert wrong_cases(op, getattr(np, op), [pairs(dtype) for dtype in BINARY[op]]) == {}


@pytest.mark.parametrize("op", EXTREMES)
def test_extremes(op):
    cases = []
    for dtype in EXTREMES[op]:
        a, b = pairs(dtype)
        if np.dtype(dtype).kind == "f":  # NumPy's own bits for zeros of both signs depend on the position in the array
            keep = ~((a == 0) & (b == 0))
            a, b = a[keep], b[keep]
        cases.append((a, b))
    assert wrong_cases(op, getattr(np, op), cases) == {}


@pytest.mark.parametrize("op", UNARY)
def test_unary(op):
    assert wrong_cases(op, getattr(np, op), [(values(dtype),) for dtype in UNARY[op]]) == {}


@pytest.mark.parametrize("op", ["equal", "not_equal", "less", "less_equal", "greater", "greater_equal"])
def test_mixed_comparison(op):
    assert wrong_cases(op, getattr(np, op), [pairs("int64", "uint64")]) == {}
    assert wrong_cases(op, getattr(np, op), [pairs("uint64", "int64")]) == {}


def without_events(source, target):
    """The elements whose casts are not invalid, and those whose casts are: of these NumPy's bits depend on the loop."""
    a = values(source, 3)
    if np.dtype(source).kind == "c" and np.dtype(target).kind != "c":
        a = a.real.astype(source)
    with np.errstate(all="ignore"):
        events = [events_of(lambda v: v.astype(target), np.array([v]))[0] for v in a]
    keep = np.array([not e & INVALID for e in events])
    return a[keep], a[~keep]


@pytest.mark.filterwarnings("ignore:Casting complex values")
@pytest.mark.parametrize("source", ALL)
def test_cast(source):
    kernel = Kernel(several_elementwise([("astype", [source], target) for target in ALL]))
    for k, target in enumerate(ALL):
        valid, invalid = without_events(source, target)
        expected_events, expected = events_of(lambda v, target=target: v.astype(target), valid)

        def run(a, k=k):
            outs = [np.empty(len(a), each) for each in ALL]
            return kernel([len(a) * (k == j) for j in range(len(ALL))], [a] * len(ALL), outs), outs[k]

        status, out = run(valid)
        bad = [] if same_bits(out, expected) else [i for i in range(len(out)) if not same_bits(out[i], expected[i])]
        # On another CPU NumPy has other bits where it has the event, and there the kernel must have it.
        bad = [i for i in bad if kernels.MACHINE is None or not run(valid[i : i + 1])[0] & INVALID]
        assert not bad, [(target, valid[i], out[i], expected[i]) for i in bad[:5]]
        assert status & expected_events == expected_events, (target, status, expected_events)
        for value in invalid:
            assert run(np.array([value]))[0] & INVALID, (target, value)


def test_clip():
    cases = []
    for dtype in [*INTS, *FLOATS]:
        a, (low, high) = values(dtype), (np.resize(values(dtype, k), 200) for k in (4, 5))
        if np.dtype(dtype).kind == "f":
            a, low, high = (v + np.dtype(dtype).type(0.25) for v in (a, low, high))
        cases.append((a, low, high))
    assert wrong_cases("clip", np.clip, cases) == {}


def test_where():
    condition = values("bool", 6)
    assert wrong_cases("where", np.where, [(condition, values(dtype, 1), values(dtype, 2)) for dtype in ALL]) == {}


def test_integer_events():
    a = np.array([1, -128, 5], np.int8)
    kernel = Kernel(elementwise("floor_divide", ["int8", "int8"], "int8"))
    out = np.empty(3, np.int8)
    assert kernel([3], [a, np.array([1, 2, 3], np.int8)], [out]) == 0
    assert kernel([3], [a, np.array([1, -1, 3], np.int8)], [out]) == OVERFLOW
