"""NumPy scalars whose values are known at run time only: NumPy's bits, types, warnings and exceptions."""

import itertools
import math
import warnings

import numpy as np
import pytest
from support.compiled import facts
from support.differential import check, check_cases, check_left_to_numpy
from support.outcome import assert_same

import accel

FLOATS = [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 2.5, -7.7, 1e-3, 1e30, 65000.0, math.inf, -math.inf, math.nan]


def is_good(function, case):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            function(*case)
    except (Exception, Warning):
        return False
    return True


def check_calls(function, cases):
    """Compiled to the end where NumPy neither warns nor raises."""
    return check_cases(function, cases, is_good)


def function_of(source):
    """A function of the elements x and y of an array, and of a number b."""
    scope = {"math": math, "np": np}
    exec(f"def function(a, b=None):\n    x, y = a[0], a[1]\n    return {source}", scope)
    return scope["function"]


def pairs(values, dtype):
    with np.errstate(all="ignore"):
        return [(np.array(pair).astype(dtype),) for pair in itertools.product(values, repeat=2)]


def integers(dtype):
    limits = np.iinfo(dtype)
    values = [0, 1, 2, 3, 7, 100, limits.max, limits.max - 1, limits.min, limits.min + 1, -1, -2, -3, limits.max // 2]
    return [np.array([x, y], dtype) for x in values for y in values if limits.min <= min(x, y) and max(x, y) <= limits.max]


INTEGER_SOURCES = ["x + y", "x - y", "x * y", "-x", "abs(x)", "x // y", "x % y", "x / y", "(x & y, x | y, x ^ y, ~x)", "x ** y"]
INTEGER_SOURCES += ["(x << 1, x >> 1, x << y, x >> y)", "(x < y, x <= y, x == y, x != y, x > y, x >= y)", "x ** 2"]
INTEGER_SOURCES += ["(int(x), float(y), bool(x), not y, x.item(), complex(x), round(x))", "(max(x, y), min(x, y))"]


@pytest.mark.parametrize("dtype", ["i1", "i4", "i8", "u1", "u8"])
@pytest.mark.parametrize("source", INTEGER_SOURCES)
def test_integers(source, dtype):
    cases = [(a,) for a in integers(dtype)]
    if dtype == "u8" and "int(x)" in source:
        cases = [(a,) for (a,) in cases if a.max() < 2**63]
    check_calls(function_of(source), cases)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
@pytest.mark.parametrize(
    "source",
    [
        "x + y",
        "x - y",
        "x * y",
        "x / y",
        "x // y",
        "x % y",
        "x ** y",
        "x ** 2",
        "x ** 0.5",
        "2.0 ** x",
        "(-x, +x, abs(y), x.real, y.imag, x.conjugate())",
        "(x < y, x <= y, x == y, x != y, x > y, x >= y)",
        "(max(x, y), min(x, y), max(y, x), bool(x), not y, x.item(), float(x), complex(y), x.dtype, x.ndim)",
    ],
)
def test_floats(source, dtype):
    values = FLOATS
    if "//" in source or "%" in source:
        values = FLOATS[:-1]  # compiled code may see an event for NaN that is none, and leaves the call to NumPy
    if dtype == "f2" and ("/" in source.replace(" / ", "") or "%" in source or "**" in source):
        call = accel.compile(function_of(source))
        for case in pairs(FLOATS, dtype):
            assert_same(function_of(source), call, *case, times=1)
        return
    check_calls(function_of(source), pairs(values, dtype))


@pytest.mark.parametrize("dtype", ["f4", "f8", "i1", "i8", "u1", "b1"])
@pytest.mark.parametrize("number", [2.5, 3, 0.1, True, 1, 100])
def test_with_python_numbers(dtype, number):
    for source in ["x + b", "b - y", "x * b", "b / y", "x // b", "(x < b, b <= y, b == x)"]:
        if dtype == "b1" and source == "b - y" and number is True:
            continue
        check_calls(function_of(source), [(np.array([5, 1]).astype(dtype), number), (np.array([7, 3]).astype(dtype), number)])
    check_calls(function_of("(x + 2, 2.5 * y, x > 1, 1 < y, 3 == x, x * True)"), [(np.array([5, 1]).astype(dtype),)])


def test_python_numbers_known_at_run_time_only():
    function = function_of("(x + int(b[0]), int(b[1]) * y, x < int(b[0]), x * float(b[1]), y - bool(b[1]))")
    for dtype in ["f4", "f8", "i1", "i8", "u8"]:
        check_calls(function, [(np.array([5, 4], dtype), np.array(n)) for n in [[1, 2], [7, 3]]])
    function = function_of("x + int(b[0])")
    for dtype in ["i1", "u1", "u8"]:
        call = accel.compile(function)
        for n in [1, 100, 1000, -1, -129]:
            assert_same(function, call, np.array([5, 1], dtype), np.array([n, 2]), times=1)


def test_bools():
    sources = [
        "(x & y, x | y, x ^ y, x + y, x * y, ~x, not x, x < y, x == y, abs(x))",
        "(x + 1, x * 2.0, x < 1, x & True, int(x), float(y))",
    ]
    for source in sources:
        check_calls(function_of(source), pairs([False, True], "b1"))
    for source in ["x - y", "-x", "+x"]:
        assert_same(function_of(source), accel.compile(function_of(source)), np.array([True, False]))


@pytest.mark.parametrize("dtype", ["c8", "c16"])
def test_complex(dtype):
    values = [0.5 + 1j, 1.1 - 0.3j, -2j, 3.0, 1e20 + 1e20j]
    for source in [
        "x + y",
        "x - y",
        "x * y",
        "(x == y, x != y, -x, x.real, y.imag, x.conjugate(), complex(x), bool(y))",
        "(2 * x, x + 1.5)",
    ]:
        check_calls(function_of(source), pairs(values, dtype))


def test_conversions_of_floats():
    for source in ["int(x)", "round(x)", "math.floor(x)", "math.ceil(y)", "x.is_integer()"]:
        for dtype in ["f4", "f8"]:
            if source == "x.is_integer()" and dtype == "f4":
                continue
            cases = pairs([0.5, 1.5, -2.5, 7.0, 1e10, 1e30, math.inf, math.nan], dtype)
            call = accel.compile(function_of(source))
            for case in cases:
                assert_same(function_of(source), call, *case, times=1)
    check_calls(
        function_of("(int(x), round(y), math.floor(x), x.astype('f4'), y.astype('i8'), np.int64(x))"),
        pairs([0.5, 2.5, -7.0], "f8"),
    )


def test_elements_index_arrays():
    check_calls(lambda a, b: (b[a[0]], b[a[1] + 1], b[int(a[0]) : int(a[1]) + 2].sum()), [(np.array([1, 2]), np.arange(10.0))])


def test_reductions_are_scalars():
    def function(a):
        total, count, best = a.sum(), len(a), a.max()
        mean = total / count
        return mean, mean > best, float(total) ** 2, int(a.argmax()) * 3 - count, round(float(mean)), math.sqrt(best)

    check_calls(function, [(np.arange(1.0, 20.0),), (np.array([2.5, 3.5]),)])
    check_calls(function, [(np.arange(1, 20),)])


def test_overflow_is_ignored_when_numpy_is_told_to():
    def function(a):
        return a[0] * a[1] + a[1]

    call = accel.compile(function)
    with np.errstate(all="ignore"):
        for dtype in ["i1", "i8", "u4"]:
            big = np.array([np.iinfo(dtype).max, 3], dtype)
            assert_same(function, call, big)


@pytest.mark.parametrize("backend", ["native", "numpy"])
@pytest.mark.parametrize("dtype", ["c8", "c16"])
def test_magnitudes_of_complex_scalars(dtype, backend):
    """Of elements, by the C library, without events."""

    def magnitude(z):
        return abs(z[0])

    parts = [0.0, -0.0, 1.5, -3e20, 3e38, 1e-300, np.inf, np.nan]
    call = accel.compile(magnitude, backend=backend)
    for real in parts:
        for imag in parts:
            assert_same(magnitude, call, np.array([complex(real, imag)]).astype(dtype), times=1)
    assert facts(call)["interpreted"] == 0


@pytest.mark.parametrize(
    "number", [-1.25, 3, True, np.float32(1.5), np.int8(3), np.float64(2), np.array(1.5), np.array(3)], ids=repr
)
def test_functions_of_one_number(number):
    """NumPy's Python functions make an array of a number; what its method gives (a scalar) they hand on."""
    check(lambda x: np.clip(x, -1, 2), number)
    check_left_to_numpy(lambda x: np.clip(x, None, 2), number)
    check_left_to_numpy(lambda x: np.round(x, 1), number)
    check_left_to_numpy(lambda x: np.reshape(x, ()), number)
    check_left_to_numpy(lambda x: np.reshape(x, (1, -1)), number)
