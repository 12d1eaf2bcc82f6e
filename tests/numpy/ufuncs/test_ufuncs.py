"""ufuncs and operators: every ufunc by dtype, layout, broadcasting, scalars and out."""

import numpy as np
import pytest
from support.covering import pairs
from support.differential import check, check_cases, check_left_to_numpy, check_side_by_side, layouts, sample

import accel

DTYPES = ["bool", "int8", "int32", "int64", "uint8", "uint64", "float16", "float32", "float64", "complex64", "complex128"]
UNARY = [
    "negative",
    "positive",
    "absolute",
    "fabs",
    "sign",
    "conjugate",
    "square",
    "exp",
    "sin",
    "tanh",
    "floor",
    "rint",
    "isnan",
    "isfinite",
    "signbit",
    "invert",
    "logical_not",
    "reciprocal",
]
BINARY = [
    "add",
    "subtract",
    "multiply",
    "divide",
    "maximum",
    "minimum",
    "fmax",
    "less",
    "equal",
    "greater_equal",
    "logical_and",
    "logical_xor",
    "bitwise_and",
    "bitwise_or",
    "left_shift",
    "arctan2",
    "hypot",
    "copysign",
    "floor_divide",
    "remainder",
]
OPERATORS = ["+", "-", "*", "/", "//", "%", "&", "|", "^", "<", "<=", "==", "!=", ">", ">="]


def accepts(ufunc, *dtypes):
    try:
        ufunc.resolve_dtypes((*map(np.dtype, dtypes), *[None] * ufunc.nout))
    except TypeError:
        return False
    return True


# Arrays of different sizes: a loop for each dtype.
@pytest.mark.parametrize("name", UNARY)
def test_unary(name):
    ufunc, cases = getattr(np, name), []
    for k, dtype in enumerate(each for each in DTYPES if accepts(ufunc, each)):
        x = sample((5, 7 + k), dtype)
        cases.append(
            (x % 3 if name == "exp" and x.dtype.kind in "iu" else x | (name == "reciprocal") if dtype == "bool" else x,)
        )
    check_side_by_side(lambda x: ufunc(x), cases)


@pytest.mark.parametrize("name", BINARY)
def test_binary(name):
    ufunc, cases = getattr(np, name), []
    for k, dtype in enumerate(each for each in DTYPES if accepts(ufunc, each, each)):
        second = sample((5, 7 + k), dtype, 1)
        if dtype == "bool" and name in ("divide", "floor_divide", "remainder"):
            second[...] = True
        cases.append((sample((5, 7 + k), dtype), abs(second) % 7 if name == "left_shift" else second))
    check_side_by_side(lambda x, y: ufunc(x, y), cases)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("int32", "float32"),
        ("uint8", "int8"),
        ("int64", "uint64"),
        ("float32", "complex64"),
        ("bool", "int16"),
        ("float16", "float64"),
        ("uint64", "float32"),
    ],
)
def test_promotion(left, right):
    check(
        lambda x, y: (x + y, x < y if x.dtype.kind != "c" and y.dtype.kind != "c" else x == y),
        sample(9, left),
        sample(9, right, 1),
    )


@pytest.mark.parametrize("op", OPERATORS)
def test_operators(op):
    dtype = "int64" if op in "&|^" else "float64"
    check(eval(f"lambda x, y: x {op} y"), sample((4, 5), dtype), sample(5, dtype, 1))


@pytest.mark.parametrize("number", [3, -2, 2.5, True, 1 + 2j, np.float32(1.5), np.int8(3), np.float64(2.25)], ids=repr)
@pytest.mark.parametrize("dtype", ["int8", "int64", "float32", "float64", "complex64"])
def test_numbers(number, dtype):
    check(lambda x: (x + number, number * x, number == x), sample((3, 4), dtype))


@pytest.mark.parametrize("dtype", ["int64", "float32", "float64"])
def test_number_arguments(dtype):
    check(lambda x, n, c: (x * n, x + c, c - x), sample(6, dtype), 3, 2.5)
    check(lambda x, c: x * c + c, sample(6, dtype), np.float32(0.3))


@pytest.mark.parametrize("exponent", [2, -1, 0.5, 3, 0, 1, 2.0, 1.5, -2])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
def test_powers(exponent, dtype):
    check(lambda x: abs(x) ** exponent, sample(9, dtype))


@pytest.mark.parametrize("exponent", [0, 1, 2, 3, 7])
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int64"])
def test_integer_powers(exponent, dtype):
    check(lambda x: x**exponent | x, sample(9, dtype))


def test_negative_integer_power_raises():
    check_left_to_numpy(lambda x: x**-1, sample(9, "int64"))
    check_left_to_numpy(lambda x, n: x**n, sample(9, "int64"), -2)


@pytest.mark.parametrize(
    "shapes",
    [
        ((3, 1), (4,)),
        ((1,), (5, 3)),
        ((2, 1, 4), (3, 1)),
        ((), (3, 2)),
        ((4, 1), (1, 4)),
        ((0, 3), (3,)),
        ((1, 1), (1,)),
        ((), ()),
    ],
    ids=str,
)
def test_broadcasting(shapes):
    left, right = (sample(shape, seed=k) for k, shape in enumerate(shapes))
    check(lambda x, y: x * y + x, left, right)


def test_shapes_that_do_not_broadcast():
    check_left_to_numpy(lambda x, y: x + y, sample(3), sample(4))


def test_one_version_for_all_sizes():
    call = check(lambda x, y: x * 2.0 + y, sample((5, 6)), sample(6))
    import accel

    for n in range(10):
        x = sample((n, n))
        np.testing.assert_array_equal(call(x, x[0] if n else sample(0)), x * 2.0 + (x[0] if n else sample(0)))
    assert accel.stats(call)["recompiles"] <= 2


@pytest.mark.parametrize("shape", [(5,), (4, 5), (2, 3, 4)], ids=str)
def test_layouts(shape):
    for _, x in layouts(sample(shape)):
        check(lambda x: x * 2.0 + 1.0, x)
        for _, y in layouts(sample(shape, seed=1)):
            check(lambda x, y: x * y, x, y)


def test_layouts_of_broadcast_operands():
    x, y = sample((3, 4)), np.broadcast_to(sample(4), (3, 4))
    check(lambda x, y: x + y, x, y)
    check(lambda y: y * 2.0, y)
    check(lambda y: y * 2.0, y.T)
    check(lambda x, y: x.T + y.T, x, y)


@pytest.mark.parametrize("value", [np.float64(1.5), np.float32(-2.5), np.int32(7), np.bool(True)], ids=repr)
def test_numpy_scalars(value):
    check(lambda s: (np.exp(s), np.absolute(s), s / 2, s == 1), value)


def test_zero_dimensional_arrays():
    check(lambda x: (x + 1.0, np.sqrt(x), np.add(x, x, out=...)), np.array(4.0))


def test_out():
    def fresh(x, y):
        total = np.add(x, y)
        same = np.multiply(total, 2.0, out=total)
        return total, same is total

    check(fresh, sample((3, 4)), sample((3, 4), seed=1))

    def wider(x):
        out = np.zeros((4, 3))
        return np.add(x, 1.0, out=out)

    check(wider, sample(3))

    def casts(x):
        out = np.zeros(5, np.float32)
        np.add(x, 1.0, out=(out,))
        return out

    check(casts, sample(5))


def test_out_that_cannot_be_cast():
    def casts(x):
        out = np.zeros(5, np.int64)
        return np.add(x, 1.0, out=out)

    check_left_to_numpy(casts, sample(5))


def test_inplace():
    def steps(x):
        y = x * 1.0
        y += 2.0
        y *= x
        y -= y * 0.5
        y **= 2
        return y

    check(steps, sample((3, 4)))


def test_inplace_on_the_argument():
    def steps(x):
        x += 1.0
        return x

    check_left_to_numpy(steps, sample((3, 4)))


def test_keywords():
    check(lambda x: np.add(x, 1, dtype=np.float64), sample(5, "float32"))
    check(lambda x: np.add(x, x, order="C"), np.asfortranarray(sample((3, 4))))
    check(lambda x: np.multiply(x, x, order="F"), sample((3, 4)))
    check(lambda x: np.true_divide(x, 3, casting="unsafe"), sample(5, "int32"))


def test_two_results():
    check(lambda x: np.modf(x), sample(7))
    check(lambda x: np.frexp(x), sample(7))
    check(lambda x, y: np.divmod(x, y), sample(7, "int64"), sample(7, "int64", 1))


def test_python_integers_out_of_bounds():
    check_left_to_numpy(lambda x: x + 300, sample(5, "int8"))
    check_left_to_numpy(lambda x: x < 300, sample(5, "int8"))
    check_left_to_numpy(lambda x, n: x + n, sample(5, "uint8"), -1)


def test_floating_point_events_warn_as_numpy():
    check_left_to_numpy(lambda x: np.log(x), np.array([1.0, -1.0, 0.0]))
    check_left_to_numpy(lambda x, y: x / y, np.array([1.0, 0.0]), np.array([0.0, 0.0]))
    check_left_to_numpy(lambda x: np.exp(x), np.array([1000.0]))


@pytest.mark.parametrize(
    ("ufunc", "dtype", "with_threads"),
    pairs(
        [np.exp, np.exp2, np.expm1, np.sinh, np.cosh, np.square, np.tan],
        ["float16", "float32", "float64", "int16"],
        [False, True],
    ),
)
def test_loops_of_numpy_raise_overflow(ufunc, dtype, with_threads):
    """Some do so through feraiseexcept, which on x86-64 leaves MXCSR alone."""
    x = np.linspace(1, 1000, 40).astype(dtype)
    if with_threads:
        with accel.config(threads=2, parallel_threshold=0):
            check_left_to_numpy(lambda x: ufunc(x) + 1, x)
    else:
        check_left_to_numpy(lambda x: ufunc(x), x)


def test_clip_and_round():
    check(lambda x: np.clip(x, -1.0, 1.0), sample((3, 4)))
    check(lambda x: x.clip(0, None), sample(5, "int32"))
    for decimals in (0, 2, -1):
        check(lambda x, d=decimals: np.round(x * 100, d), sample((3, 4)))
    check(lambda x: x.round(1), np.asfortranarray(sample((3, 4))))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_clip_of_zeros(dtype):
    """Elements that equal a bound stay as they are where both bounds are numbers; else the bound is taken."""
    x = np.array([0.0, -0.0, 1.0, -1.0, np.nan, np.inf, -np.inf, 0.5] * 9, dtype)
    for low, high in [(0, 1), (-0.0, 1), (-1, -0.0), (-1, 0.0), (0.0, -0.0), (1, 0), (np.nan, 1), (0, np.nan), (-np.inf, 0)]:
        check_left_to_numpy(lambda x, low=low, high=high: np.clip(x, low, high), x)
        check_left_to_numpy(lambda x, low, high: (x * 1).clip(low, high), x, low, high)
        check_left_to_numpy(lambda x, low=low, high=high: np.clip(x[1], low, high), x)
    check(lambda x: np.clip(x, 0, 1) + x.clip(-1, 0.0), x[:4])
    check_left_to_numpy(lambda x: np.clip(x, x[:1], x[2]), x)
    check_left_to_numpy(lambda x: np.clip(x, x[::-1], x[2]), x)
    check_left_to_numpy(lambda x: np.clip(x, -1, x[::-1]), x)
    check_left_to_numpy(lambda x, out: np.clip(x, 0, 1, out=out), x, np.zeros_like(x))


def test_outer():
    check(lambda x, y: np.multiply.outer(x, y), sample(3), sample((2, 2)))


@pytest.mark.parametrize("dtype", ["int16", "float32", "complex64"])
@pytest.mark.parametrize("number", [2, 1.5, 1j, True, np.float32(3), np.int8(3)])
def test_outer_of_numbers(number, dtype):
    """Python's numbers count with dtypes of their own: as arrays."""
    check(lambda x, y: (np.add.outer(x, y), np.multiply.outer(y, x), np.subtract.outer(x[0], y)), sample(3, dtype), number)
    check(lambda x: (np.add.outer(x, number), np.power.outer(number, x[:0])), sample(3, dtype))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64", "uint64"])
def test_integer_scalars_that_overflow(dtype):
    def steps(x):
        a, b = x[0], x[1]
        return a + b, a - b, a * b, a // b, a % b, a / b, a & b, a < b

    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    check(steps, np.array([17, 5], dtype))
    check(lambda x: (-x[0] if x.dtype.kind == "i" else x[0] * 1, x[1] + 1, 3 * x[1]), np.array([17, 5], dtype))
    for pair in ((high, 2), (low, high), (high, high), (low or 1, low or 2)):
        check_left_to_numpy(lambda x: x[0] + x[1], np.array(pair, dtype))
        check_left_to_numpy(lambda x: x[0] - x[1], np.array(pair, dtype))
        check_left_to_numpy(lambda x: x[0] * x[1], np.array(pair, dtype))
        check_left_to_numpy(lambda x: -x[0], np.array(pair, dtype))


@pytest.mark.parametrize("dtype", ["float32", "int64", "complex128"])
def test_where_of_rank_0(dtype):
    def chosen(a, b, out, mask):
        result = np.add(a, b, out=out, where=mask)
        return result is out, out * 2

    def divided(a, b, out, mask):
        np.divide(a, b, out=out, where=mask, casting="unsafe")
        return out

    def of_numbers(x, limit):
        middle = x.mean()
        out = np.asanyarray(middle - 1)
        np.subtract(middle, 3 * limit, out=out, where=middle >= limit)
        return out[()]

    a, b, out = (np.array(n, dtype) for n in (3, 4, 5))
    # Each dtype with two kinds of mask, each kind with two dtypes.
    for as_mask in {"float32": (np.array, np.bool_), "int64": (np.array, bool), "complex128": (np.bool_, bool)}[dtype]:
        for function in (chosen, divided):
            check_cases(function, [(a, b, out, as_mask(holds)) for holds in (True, False)], lambda function, case: True)
    with np.errstate(all="raise"):
        for holds in (True, False):
            check_left_to_numpy(divided, a, np.array(0, dtype), out, np.array(holds))
    check_cases(of_numbers, [(sample(20), limit) for limit in (-10.0, 10.0)], lambda function, case: True)


@pytest.mark.parametrize("q", [0, 0.25, 0.9, 1])
def test_quantile_of_one_point(q):
    def point(x, q):
        return np.quantile(x, q)

    check(point, sample(33), q)


@pytest.mark.parametrize("casting", ["no", "equiv"])
def test_python_numbers_where_nothing_is_converted(casting):
    """A number counts as an array of its own dtype."""

    def doubled(x, n):
        return np.add(x, n, casting=casting)

    def tangent(n):
        return np.tan(n, casting=casting)

    check(doubled, sample(5), 1.5)
    check(doubled, sample(5, "int64"), 2)
    check(tangent, 1.5)
    check_left_to_numpy(doubled, sample(5, "float32"), 1.5)
    check_left_to_numpy(doubled, sample(5), 2)
    check_left_to_numpy(tangent, 70_000)
