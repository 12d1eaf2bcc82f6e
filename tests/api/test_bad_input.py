"""Input that NumPy rejects, warns about or treats specially: the same result or the same exception, message and line."""

import datetime
import decimal
import fractions

import numpy as np
import pytest
from support.compiled import assert_all_compiled, facts
from support.outcome import assert_same

import accel


def line(a, b):
    c = a * 2.0
    d = c + b
    return d - a


def plus(a, b):
    return a + b


def rows(a):
    top = np.max(a, axis=1, keepdims=True)
    return np.exp(a - top) / np.sum(np.exp(a - top), axis=1, keepdims=True)


def product(a, b):
    return a @ b + 1.0


def integers(a, b):
    return a * b + a // 3


def total(a):
    return np.sum(a) * 2


def reshaped(a):
    return a.reshape(3, -1) + 1


def distance(a, b):
    return np.linalg.norm(a - b, axis=-1)


def nearest(a, b):
    return np.argmin(np.linalg.norm(a[:, None, :] - b[None, :, :], axis=-1), axis=1)


def real(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


class Subclass(np.ndarray):
    """Takes part in ufuncs in its own way."""

    def __array_ufunc__(self, ufunc, method, *inputs, **keywords):
        plain = [i.view(np.ndarray) if isinstance(i, Subclass) else i for i in inputs]
        return getattr(ufunc, method)(*plain, **keywords) + 100


class Refuses:
    """An operand that NumPy must ask."""

    __array_ufunc__ = None

    def __radd__(self, other):
        return ("radd", np.asarray(other).shape)

    def __rmul__(self, other):
        return ("rmul", np.asarray(other).shape)


class ArrayLike:
    """Becomes an array when NumPy asks."""

    def __array__(self, dtype=None, copy=None):
        return np.arange(3, dtype=dtype or float)


def product_of_both(x, s):
    return x * s, s * x


def times_a_sine(x, s):
    return s * np.sin(x[0]) * x


def along(x, axis):
    return np.add.reduce(x * 2, axis=axis)


def norm_along(x, axis):
    return np.linalg.norm(x, axis=axis)


def ones(shape):
    return np.ones(shape)


def ones_if(x, compares):
    return np.ones(len(x) == 1 if compares else 2)


def resized(shape):
    return np.resize([1, 2, 3], shape)


def copied_onto_itself(x, where):
    np.copyto(x, x, where=where)
    return x * 2


def extreme_of_one(x, number):
    return x * 2, min(number, number)


RAISING = {
    "copyto onto itself under integers": (copied_onto_itself, np.arange(3.0), np.array([1, 2, 1])),
    "the least of one complex number": (extreme_of_one, np.arange(3.0), 1j),
    "shapes": (line, real(3), real(4)),
    "shapes in 2-d": (line, real(3, 4), real(2, 4)),
    "axis": (rows, real(5)),
    "0-d": (rows, np.array(1.0)),
    "matmul": (product, real(3, 4), real(3, 4)),
    "matmul with a scalar": (product, real(3, 4), 2.0),
    "reshape": (reshaped, real(10)),
    "None": (line, real(3), None),
    "str": (line, real(3), "text"),
    "str first": (line, "text", real(3)),
    "dict": (line, real(3), {}),
    "object": (line, real(3), object()),
    "nothing": (total, None),
    "centres of other dims": (nearest, real(5, 2), real(3, 4)),
    "points in 1-d": (nearest, real(5), real(3, 2)),
    "no centres": (nearest, real(5, 2), real(0, 2)),
    "no columns": (rows, real(5, 0)),
    "structured": (line, np.zeros(3, [("a", "f8")]), real(3)),
    "datetime": (line, np.zeros(3, "M8[s]"), real(3)),
    "text array": (total, np.array(["a", "b"])),
    "Decimal": (line, np.array([decimal.Decimal(1)], object), np.array([2.0])),
    "object array that cannot": (line, np.array([1, None], object), real(2)),
    "list times float64": (product_of_both, [1.0, 2.0], np.float64(2)),
    "tuple times bool": (product_of_both, (1, 2), np.bool_(True)),
    "list times a sine": (times_a_sine, [1.0, 2.0], 3.0),
    "0-d axes": (along, np.array(2.0), (-1,)),
    "norm along an axis of 0-d": (norm_along, np.array(2.0), -1),
    "norm along an axis of a number": (norm_along, 3.0, 0),
    "bool as an extent": (ones, True),
    "bool in a shape": (ones, (True, 3)),
    "computed bool as an extent": (ones_if, [1], True),
    "bool in a reshape": (resized, True),
}

WORKING = {
    "list": (line, real(3), [1, 2, 3]),
    "list of lists": (rows, [[1.0, 2.0], [3.0, 4.0]]),
    "scalars": (line, 2.0, 3.0),
    "int and float": (line, 2, 0.5),
    "NumPy scalars": (line, np.float32(2), np.float64(3)),
    "0-d arrays": (line, np.array(2.0), np.array(3.0)),
    "array and scalar": (line, real(4), 3.0),
    "big int": (line, real(4), 10**30),
    "bool": (line, real(4), True),
    "complex": (line, real(4), 1j),
    "Fraction": (total, np.array([fractions.Fraction(1, 3)] * 3, object)),
    "objects": (total, np.array([1, 2, 3], object)),
    "timedelta": (line, np.arange(3).astype("m8[s]"), np.arange(3).astype("m8[s]")),
    "datetime object": (total, datetime.timedelta(seconds=3)),
    "subclass": (line, real(3).view(Subclass), real(3)),
    "subclass second": (line, real(3), real(3).view(Subclass)),
    "matrix": (line, np.asmatrix(real(2, 2)), real(2, 2)),
    "masked": (line, np.ma.masked_array(real(4), mask=[0, 1, 0, 1]), real(4)),
    "masked rows": (rows, np.ma.masked_array(real(2, 2), mask=[[0, 1], [0, 0]])),
    "array-like": (line, real(3), ArrayLike()),
    "refuses": (plus, real(3), Refuses()),
    "float16": (line, real(5).astype("f2"), real(5).astype("f2")),
    "longdouble": (line, real(5).astype("g"), real(5)),
    "clongdouble": (line, real(5).astype("G"), real(5)),
    "longlong": (integers, np.arange(5, dtype="q"), np.arange(5, dtype="q")),
    "big endian": (line, real(5).astype(">f8"), real(5)),
    "big endian rows": (rows, real(4, 5).astype(">f4")),
    "empty": (line, real(0), real(0)),
    "empty rows": (rows, real(0, 4)),
    "empty total": (total, real(0)),
    "zero in the middle": (distance, real(3, 0, 2), real(3, 0, 2)),
    "zero last": (distance, real(3, 4, 0), real(3, 4, 0)),
    "empty against one": (line, real(0, 3), real(1, 3)),
    "broadcast input": (line, np.broadcast_to(real(3), (4, 3)), real(4, 3)),
    "many dims": (line, real(1, 2, 1, 2, 1, 2, 1, 2), real(2, 1, 2, 1, 2, 1, 2, 1)),
    "nan": (rows, np.array([[np.nan, 1.0], [2.0, 3.0]])),
    "inf": (rows, np.array([[np.inf, 1.0], [-np.inf, 3.0]])),
    "all -inf": (rows, np.full((2, 3), -np.inf)),
    "overflow": (line, np.array([1e308, -1e308]), np.array([1e308, -1e308])),
    "subnormal": (line, np.array([5e-324, -5e-324, 2e-308]), np.array([5e-324, 0.0, -2e-308])),
    "negative zero": (line, np.array([-0.0, 0.0]), np.array([-0.0, -0.0])),
    "int overflow": (integers, np.array([2**62, -(2**63)]), np.array([4, -1])),
    "int8 overflow": (integers, np.array([127, -128], "i1"), np.array([2, -1], "i1")),
    "uint8": (integers, np.array([255, 0], "u1"), np.array([2, 3], "u1")),
    "uint64 and int64": (integers, np.array([2**63], "u8"), np.array([-1])),
    "bools": (line, np.array([True, False]), np.array([True, True])),
    "list times int64": (product_of_both, [1.0, 2.0], np.int64(2)),
    "tuple times int8": (product_of_both, (1, 2), np.int8(3)),
    "list times 0-d array": (product_of_both, [1.0, 2.0], np.array(2)),
    "list times array": (product_of_both, [1.0, 2.0], np.array([2.0, 3.0])),
    "0-d axis": (along, np.array(2.0), -1),
}


@pytest.mark.parametrize("case", RAISING)
def test_raises_as_numpy(case):
    function, *arguments = RAISING[case]
    expected = assert_same(function, accel.compile(function), *arguments)
    assert expected.error, "the case is meant to raise"


@pytest.mark.parametrize("case", WORKING)
def test_works_as_numpy(case):
    function, *arguments = WORKING[case]
    expected = assert_same(function, accel.compile(function), *arguments)
    assert not expected.error, expected.error


@pytest.mark.parametrize("case", {**RAISING, **WORKING})
def test_after_good_input(case):
    """The same on a function that has already been compiled for plain arrays; which is then still compiled."""
    function, *arguments = {**RAISING, **WORKING}[case]
    good = {line: (real(3), real(3)), rows: (real(2, 3),), product: (real(2, 3), real(3, 2)), total: (real(4),)}
    good |= {integers: (np.arange(4), np.arange(4)), reshaped: (real(9),), distance: (real(3, 2), real(3, 2))}
    good |= {plus: (real(3), real(3)), nearest: (real(4, 2), real(3, 2))}
    good |= {product_of_both: (real(3), 2.0), times_a_sine: (real(3), 2.0), along: (real(3), 0), norm_along: (real(3), 0)}
    good |= {ones: (3,), ones_if: (real(3), False), resized: (4,)}
    good |= {copied_onto_itself: (real(3), np.array([True, False, True])), extreme_of_one: (real(3), 2.0)}
    call = accel.compile(function)
    assert_same(function, call, *good[function])
    assert_same(function, call, *arguments)
    assert_same(function, call, *good[function])
    assert_all_compiled(call, *good[function])


@pytest.mark.parametrize("arguments", [(), (1,), (1, 2, 3)], ids=["none", "one", "three"])
def test_wrong_number_of_arguments(arguments):
    expected = assert_same(line, accel.compile(line), *arguments)
    assert expected.error[0] is TypeError


@pytest.mark.parametrize("keywords", [{"b": 2.0}, {"c": 1.0}, {"a": 1.0}], ids=str)
def test_keywords(keywords):
    assert_same(line, accel.compile(line), real(3), keywords=keywords)


def unaligned(array):
    memory = np.empty(array.nbytes + 1, np.uint8)[1:]
    result = memory.view(array.dtype) if array.ndim == 1 else memory.view(array.dtype).reshape(array.shape)
    result[...] = array
    assert not result.flags.aligned
    return result


def read_only(array):
    array = array.copy()
    array.flags.writeable = False
    return array


LAYOUTS = {
    "unaligned": unaligned,
    "read-only": read_only,
    "reversed": lambda a: a[::-1],
    "strided": lambda a: np.repeat(a, 3, axis=0)[::3],
    "byte-swapped": lambda a: a.astype(a.dtype.newbyteorder()),
    "fortran": np.asfortranarray,
    "field of a record": lambda a: np.rec.fromarrays([a, a], names="x,y").view(np.ndarray)["x"],
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "i2", "c16"])
def test_layouts(layout, dtype):
    a, b = real(12, 5).astype(dtype), real(12, 5, seed=1).astype(dtype)
    call = accel.compile(line)
    assert_same(line, call, a, b)
    assert_same(line, call, LAYOUTS[layout](a), b)
    assert_same(line, call, LAYOUTS[layout](a), LAYOUTS[layout](b))


def in_place(a, b):
    a += b
    return a * 2.0


def in_place_late(a, b):
    c = a * b
    a[...] = c + 1
    return c


OVERLAPS = {
    "the same": lambda m: (m[:50], m[:50]),
    "shifted": lambda m: (m[:50], m[1:51]),
    "shifted back": lambda m: (m[1:51], m[:50]),
    "interleaved": lambda m: (m[:100:2], m[1:101:2]),
    "reversed": lambda m: (m[:50], m[49::-1]),
}


@pytest.mark.parametrize("overlap", OVERLAPS)
@pytest.mark.parametrize("function", [line, in_place, in_place_late], ids=lambda f: f.__name__)
def test_overlapping_arguments(function, overlap):
    call = accel.compile(function)
    for _ in range(3):
        ours, theirs = real(110), real(110)
        expected = function(*OVERLAPS[overlap](theirs))
        found = call(*OVERLAPS[overlap](ours))
        assert found.tobytes() == expected.tobytes()
        assert ours.tobytes() == theirs.tobytes()


def test_writes_into_a_read_only_argument():
    expected = assert_same(in_place, accel.compile(in_place), read_only(real(5)), real(5))
    assert expected.error[0] is ValueError


@pytest.mark.parametrize("state", ["raise", "warn", "ignore"])
@pytest.mark.parametrize(
    "arguments", [(np.array([1e308, 1.0]), np.array([1e308, 1.0])), (np.ones(3), np.full(3, np.inf))], ids=["over", "inf"]
)
def test_errstate(state, arguments):
    call = accel.compile(line)
    assert_same(line, call, real(2), real(2))
    with np.errstate(all=state):
        assert_same(line, call, *arguments)
    assert_same(line, call, *arguments)


def singly_even(x, n):
    if n % 4 == 2:
        raise NotImplementedError("singly even")
    return x * n


def test_own_exceptions_of_whole_functions():
    call = accel.compile(fullgraph=True)(singly_even)
    for n in (6, 6, 4, 2, 5):
        assert_same(singly_even, call, np.ones(3), n)
    assert facts(call)["compiled"] > 0
