"""Reductions: every method and function by dtype, axis, layout, keepdims, out, initial and where; bits of sums included."""

import numpy as np
import pytest
from support.compiled import assert_all_compiled, facts
from support.covering import pairs
from support.differential import check, check_in_loops, check_left_to_numpy, check_sizes, layouts, sample
from support.outcome import assert_same

import accel

METHODS = [("prod", "prod"), ("sum", "mean"), ("var", "std"), ("min", "max"), ("any", "all"), ("argmin", "argmax")]
DTYPES = ["bool", "int8", "int32", "int64", "uint8", "uint64", "float16", "float32", "float64", "complex64", "complex128"]


def reducible(name, dtype, x):
    try:
        with np.errstate(all="raise"):
            getattr(x, name)()
    except (TypeError, FloatingPointError):
        return False
    return True


@pytest.mark.parametrize(
    ("names", "dtype", "first"), pairs(METHODS, [dtype for dtype in DTYPES if dtype not in ("int32", "uint8")], [0, 1])
)
def test_methods(names, dtype, first):
    """Two methods that share their loops have the axes None, 0 and -1 between them: from one dtype to the next in turns."""
    x = sample((4, 5), dtype)
    a, b = names[first], names[1 - first]
    if not (reducible(a, dtype, x) and reducible(b, dtype, x)):
        pytest.skip("NumPy has no such loop")
    methods = eval(f"lambda x: (x.{a}(), x.{b}(0), x.{a}(-1))")
    check_in_loops(methods, x, times=2)


@pytest.mark.parametrize(
    "function",
    [np.sum, np.prod, np.mean, np.var, np.std, np.min, np.max, np.any, np.all, np.ptp, np.argmax],
    ids=lambda f: f.__name__,
)
def test_functions(function):
    check(lambda x: (function(x), function(x, axis=1), function(x, axis=-2)), sample((4, 5)))


@pytest.mark.parametrize("axis", [None, 0, 1, 2, -1, (0, 1), (0, 2), (1, 2), (-1, 0), (0, 1, 2), ()], ids=str)
@pytest.mark.parametrize("keepdims", [False, True])
def test_axes(axis, keepdims):
    check(lambda x: (np.sum(x, axis=axis, keepdims=keepdims), np.max(x, axis=axis, keepdims=keepdims)), sample((3, 4, 5)))


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128", "float16", "int32"])
@pytest.mark.parametrize("shape", [(1000,), (37, 50), (9, 11, 13)], ids=str)
def test_bits_of_sums(shape, dtype):
    """The layouts take turns over the dtypes."""
    dtypes = ["float32", "float64", "complex128", "float16", "int32"]
    for _, x in [*layouts(sample(shape, dtype))][dtypes.index(dtype) % 2 :: 2]:
        check(lambda x: (x.sum(), x.sum(0), x.sum(-1)), x, times=1)


def test_bits_of_products_of_halves():
    """Rounded where NumPy's inner loop ends: axes that do not coalesce, and casts, go through a buffer."""

    def products(x):
        return x.prod(), x.prod(0), x.prod(-1), x.prod(axis=(0, 1)), x.prod(axis=(1, 2), keepdims=True)

    x = 2 ** np.random.default_rng(0).uniform(-0.1, 0.1, (9, 11, 13))
    for _, array in layouts(x.astype("float16")):
        check_in_loops(products, array)
        check_in_loops(products, array.astype("float32").astype("float16"))
    wide = 2 ** np.random.default_rng(1).uniform(-0.02, 0.02, (5, 6000))
    for array in (wide.astype("float16")[:, ::2], wide.astype("float16")[::2, :5900], wide.T.astype("float16")[::-1]):
        check_in_loops(lambda x: (x.prod(), x.prod(0), x.prod(1)), array)
    check_in_loops(lambda x: (x.prod(dtype="float16"), x.prod(1, dtype="float16")), wide.astype("float32"))


def test_bits_of_a_long_sum():
    for dtype in ("float32", "float64"):
        check(lambda x: (x.sum(), np.add.reduce(x), x.mean()), sample(100_003, dtype))
    check(lambda x: (x.sum(), x.sum(0), x.sum(1)), sample((317, 329)))


def test_sums_of_expressions():
    check(
        lambda x, y: ((x * y).sum(), (x.T * 2.0).sum(0), (x[:, None] * y[None]).sum((0, 2))),
        sample((20, 30)),
        sample((20, 30), seed=1),
    )
    check(lambda x: (x[::2, 1:].sum(), x[:, ::-1].sum(1), x.T.sum(0), x[3].sum()), sample((20, 30)))


def test_dtype():
    check(lambda x: (x.sum(dtype=np.float64), x.sum(0, np.float64), x.mean(dtype=np.float64)), sample((50, 40), "float32"))
    check(lambda x: (x.sum(dtype="f4"), x.prod(dtype=np.float64)), sample(50, "int8"))


def test_initial_and_where():
    check(lambda x: (x.sum(initial=3.0), x.max(initial=1.5), x.min(axis=0, initial=-9)), sample((5, 6)))
    check(
        lambda x, m: (x.sum(where=m), x.max(where=m, initial=-5), np.any(x > 50, where=m)),
        sample((5, 6), "int64"),
        sample((5, 6), "bool"),
    )
    check_left_to_numpy(lambda x, m: x.sum(where=m), sample((5, 6)), sample((5, 6), "bool"))


@pytest.mark.parametrize("ufunc", [np.add, np.multiply, np.bitwise_xor, np.bitwise_and, np.maximum, np.fmin])
def test_initial_counts_once_under_a_mask(ufunc):
    def reduced(x, m):
        return ufunc.reduce(x, axis=0, initial=3, where=m), ufunc.reduce(x, axis=(0, 1), initial=3, where=m)

    check(reduced, sample((7, 3), "int64"), sample((7, 3), "bool", seed=1))


def test_a_mask_of_another_layout():
    """NumPy's iterator looks at both."""

    def reduced(x, m):
        return x.sum(axis=1, where=m), x.min(axis=0, initial=3, where=m)

    x, m = sample((4, 3, 5), "int32"), sample((4, 3, 5), "bool", seed=1)
    for one in (x, np.asfortranarray(x), x.transpose(1, 0, 2).copy().transpose(1, 0, 2)):
        for mask in (m, np.asfortranarray(m), m.transpose(0, 2, 1).copy().transpose(0, 2, 1)):
            check(reduced, one, mask, times=1)


@pytest.mark.parametrize("name", ["add", "multiply", "logical_and", "bitwise_or", "maximum"])
def test_no_initial(name):
    """initial=None: there has to be a first element."""
    ufunc = getattr(np, name)
    for x in (sample((3, 4), "int64"), np.zeros((0, 4), "int64"), np.array([-0.0, -0.0])):
        if x.dtype.kind == "i" or name != "bitwise_or":
            check_left_to_numpy(lambda x: ufunc.reduce(x, initial=None), x)
    x, m = sample((3, 4), "int64"), sample((3, 4), "bool")
    check_left_to_numpy(lambda x, m: ufunc.reduce(x, initial=None, where=m), x, m)


def test_out():
    def into(x):
        out = np.zeros(6)
        same = np.sum(x, axis=0, out=out)
        return out, same is out

    check(into, sample((5, 6)))
    check_left_to_numpy(lambda x, out: np.sum(x, axis=0, out=out), sample((5, 6)), np.zeros(6))


def test_out_of_another_order():
    """NumPy's iterator looks at both: the axis of its inner loop may be another one."""
    x = sample((6, 301, 7)).transpose(2, 1, 0)
    for out in (np.zeros((7, 6)), np.zeros((7, 6), order="F")):
        check_left_to_numpy(lambda x, out: (x.sum(1, out=out), np.mean(x, axis=1, out=out)), x, out)
    check_in_loops(lambda x, out: x.sum(1, out=out), x, np.zeros((7, 6), order="F"))


def test_empty():
    for shape in ((0,), (3, 0), (0, 4)):
        check(lambda x: (x.sum(), x.prod(), x.any(), x.all()), sample(shape))
        check(lambda x: x.sum(0), sample(shape))
    check(lambda x: x.max(axis=1), sample((0, 4)))
    check_left_to_numpy(lambda x: x.max(), sample(0))
    check_left_to_numpy(lambda x: x.argmax(), sample(0))
    check_left_to_numpy(lambda x: x.mean(), sample(0))


def test_zeros_of_either_sign():
    check(lambda x: (x.sum(), x.sum(0), x.max(), x.prod()), np.full((3, 4), -0.0))


def test_scalars_and_zero_dimensional_arrays():
    check(lambda x: (x.sum(), x.max(), x.mean()), np.array(2.5))
    check(lambda x: (x + 1.0).sum() + x.sum().mean(), sample(5))


def test_nan():
    x = sample((5, 6))
    x[2, 3] = np.nan
    check(lambda x: (x.max(), x.min(0), x.argmax(), x.argmin(1), np.fmax.reduce(x, axis=1)), x)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.thorough
def test_positions_of_complex_numbers(dtype):
    """Real parts decide, then imaginary parts; the first NaN of either wins."""

    def positions(x):
        return x.argmin(), x.argmax(), np.argmin(x, axis=0), x.argmax(-1, keepdims=True), np.argmax(x + x, keepdims=True)

    parts = [-np.inf, -1.0, -0.0, 0.0, 1.0, np.inf]
    rng = np.random.default_rng(0)
    for values in (parts, [*parts, np.nan], [0.0, 1.0]):
        numbers = np.array([complex(a, b) for a in values for b in values], dtype)
        check_in_loops(positions, rng.choice(numbers, (1, 1)))
        for shape in ((3, 4), (300, 300)):
            for name, x in layouts(rng.choice(numbers, shape)):
                if dtype == "complex128" or name == "C":
                    check_in_loops(positions, x)
    check_sizes(lambda x: (x.argmax(), x.argmin()), *((sample(n, dtype),) for n in (1, 2, 7, 300, 20000)))


def variances(x):
    return (
        x.var(),
        x.var(0),
        x.var(-1),
        x.std(0),
        np.std(x, axis=1, keepdims=True),
        np.var(x, axis=(0, 1), ddof=1, keepdims=True),
    )


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.thorough
def test_variances_of_complex_numbers(dtype):
    """The layouts are divided among the dtypes."""
    for name, x in layouts(sample((5, 9), dtype)):
        if (dtype == "complex64") == (name in ("C", "padded")):
            check_in_loops(lambda x: (x.var(0), x.std(1, keepdims=True), np.var(x, axis=(0, 1), ddof=1)), x)
    check_in_loops(variances, sample((1, 5), dtype))
    check_in_loops(variances, sample((40, 300), dtype).T[:, ::-1])
    x, m = sample((3, 4, 5), dtype), sample((3, 4, 5), "bool", seed=2)
    m[:, 0] = True
    for array in (x, x.transpose(2, 0, 1)[::-1, :, ::-2]):
        check_in_loops(lambda x: (x.var((0, 2)), x.var(1), x.std((1, 2)), (x + x).var(), x.std(0, ddof=1)), array)
    check_in_loops(lambda x, m: (x.var(where=m), x.var((1, 2), where=m), x.std(0, where=m[:1, :1])), x, m)
    check_in_loops(lambda x: (x.var(0, mean=x.mean(0, keepdims=True)), x.var(0, dtype="complex128")), x)
    check_sizes(lambda x: (x.var(), x.std()), *((sample(n, dtype),) for n in (1, 2, 7, 300, 20000)))

    def into(x, out):
        return np.std(x, axis=1, out=out) is out, out

    part = "float32" if dtype == "complex64" else "float64"
    check_in_loops(into, sample((5, 9), dtype), np.zeros(10, part)[::2])
    x = sample((5, 9), dtype)
    x[1, 2], x[0, 0] = complex(np.nan, 1), np.inf
    for function, bads in (variances, (x, x[:, :0], x[:1, :1])), (lambda x: (x.var(), x.std()), (x[0, 0], np.array(x[0, 0]))):
        call = accel.compile(function)
        for bad in bads:
            assert_same(function, call, bad, times=2)


@pytest.mark.parametrize("dtype", ["float64", "complex128", "uint8"])
def test_positions_go_into_arrays(dtype):
    def into(x, rows, columns):
        a, b = np.argmin(x, axis=1, out=rows), x.argmax(0, columns, keepdims=True)
        total = np.zeros((), "int64")
        return a is rows, b is columns, np.argmax(x, out=total), total

    x = sample((4, 5), dtype)
    check_in_loops(into, x, np.zeros(8, int)[::-2], np.zeros((1, 5), "i2"))
    for bad in (np.zeros(4, "u8"), np.zeros(5, int), np.zeros((4, 1), int)):
        check_left_to_numpy(lambda x, out: np.argmin(x, axis=1, out=out), x, bad)
    check_left_to_numpy(lambda x: np.argmax(x, axis=1, out=x[2, :3]), sample((3, 4), "int64"))


def test_positions_in_scalars():
    def positions(x):
        return x[0].argmin(), np.argmax(x.sum(), axis=-1), x[1].argmax(keepdims=True), x + x

    check_in_loops(positions, sample(5, "complex64"))
    check_left_to_numpy(lambda x: x[0].argmin(axis=1), sample(5))


def test_axis_out_of_bounds():
    check_left_to_numpy(lambda x: x.sum(axis=2), sample((3, 4)))
    check_left_to_numpy(lambda x: x.sum(axis=(0, 0)), sample((3, 4)))


def test_one_version_for_all_sizes():
    import accel

    def total(x):
        return (x * 2.0).sum()

    call = accel.compile(total)
    for n in range(30):
        assert call(sample(n)) == total(sample(n))
    assert accel.stats(call)["recompiles"] == 0


def test_count_nonzero():
    check(lambda x: (np.count_nonzero(x > 0), np.count_nonzero(x[0] > 1), x.sum()), sample((4, 5)))


def test_other_ufuncs():
    x = sample((4, 5), "int64")
    check(lambda x: (np.bitwise_and.reduce(x), np.bitwise_xor.reduce(x, axis=None), np.logical_xor.reduce(x, axis=1)), x)
    check_left_to_numpy(lambda x: np.subtract.reduce(x), x)
    check_left_to_numpy(lambda x: np.cumsum(x), x)


@pytest.mark.parametrize(
    "shapes",
    [((4, 5), (5, 6)), ((5,), (5, 6)), ((4, 5), (5,)), ((5,), (5,)), ((3, 4, 5), (5, 6)), ((3, 1, 4, 5), (2, 5, 6))],
    ids=str,
)
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "complex128"])
def test_matmul(shapes, dtype):
    left, right = (sample(shape, dtype, k) for k, shape in enumerate(shapes))
    check(lambda x, y: x @ y, left, right)
    check(lambda x, y: np.matmul(x, y) + 1, left, right)


def test_products():
    x, y = sample((6, 7)), sample((7, 3), seed=1)
    check(lambda x, y: (np.dot(x, y), x.dot(y), np.inner(x, y.T), np.dot(x[0], y)), x, y)
    check(lambda x, y: (np.dot(x, y), np.vecdot(x, y), np.vdot(x, y)), x[0], sample(7, seed=2))
    check(lambda x: x @ x.T, x)
    check_left_to_numpy(lambda x, y: x @ y, x, x)


@pytest.mark.parametrize("shape, axis", [((0, 0), 0), ((0, 0), 1), ((0, 3, 0), 0), ((0, 3, 0), 1), ((3, 0), 0), ((0, 3), 0)])
@pytest.mark.parametrize("reduce", [np.max, np.min, np.fmax.reduce, np.argmax])
def test_no_elements_where_there_are_none_to_reduce_for(shape, axis, reduce):
    def reduced(x):
        return reduce(x * 2, axis=axis)

    call = accel.compile(reduced)
    assert_same(reduced, call, np.ones([3] * len(shape)))
    assert_same(reduced, call, np.ones(shape))
    assert_same(reduced, accel.compile(reduced), np.ones(shape))


@pytest.mark.parametrize(
    ("inner", "outer", "with_library_loops"),
    pairs(["sum", "max", "argmin", "mean"], ["sum", "max", "prod", "argmax"], [True, False]),
)
def test_rows_reduced_below_reduced_columns(inner, outer, with_library_loops):
    def of_library_loops(y, m):
        rows = getattr(y[:, None] * np.sin(y), inner)(axis=1)
        return getattr(rows[:, None] * m, outer)(axis=0)

    def of_products(y, m):
        rows = getattr(y[:, None] * y, inner)(axis=1)
        return getattr(rows[:, None] * m, outer)(axis=0)

    for size in (1, 3, 40):
        check(of_library_loops if with_library_loops else of_products, sample(size) / 4, sample(size + 1, seed=1) / 4)


@pytest.mark.parametrize("size", [16, 300, 700])
def test_extremes_of_columns_have_no_events_of_their_own(size):
    def places(y, m):
        return ((y[:, None] * y).argmax(axis=1)[:, None] * m).argmax(axis=0)

    for _ in range(3):
        check(places, sample(size), sample(size + 1, seed=1), times=1)


KEPT_AXES = [0, 1, 2, (0, 2), (0, 1, 2)]


@pytest.mark.parametrize(
    ("axis", "order", "which"), pairs(KEPT_AXES, [(0, 1, 2), (1, 0, 2), (2, 0, 1), (2, 1, 0)], [0, 1]), ids=str
)
def test_kept_axes_lie_in_the_order_of_the_operand(axis, order, which):
    def of_the_operand(x):
        y = x * 2
        return x.sum(axis=axis, keepdims=True), y.max(axis=axis, keepdims=True), (x > 1).all(axis=axis, keepdims=True)

    def used_again(x):
        y = x * 2
        return np.mean(y, axis=axis, keepdims=True), y / y.sum(axis=axis, keepdims=True)

    check((of_the_operand, used_again)[which], sample((2, 3, 4)).transpose(order))


def sums_of_turned_columns(x, k, m):
    total = 0.0
    for _ in range(3):
        y = (x[:, k:m] + 1).T
        flat = y.reshape(-1).sum()
        total = total + y.sum()
        k = k + 1
    return flat, y, total


def sums_of_turned(x):
    for _ in range(3):
        r = np.rot90(x)
        x = x + r.sum() + np.sum(np.tri(x.size))
    return x, r


def test_sums_of_nothing_that_is_turned():
    for x in (np.ones((4, 0)), np.ones((0, 4)), np.ones((4, 3)), np.ones((0, 0))):
        check(sums_of_turned, x)
    for k, m in ((1, 3), (0, 4), (4, 4), (3, 1)):
        call = accel.compile(sums_of_turned_columns)
        assert_same(sums_of_turned_columns, call, np.ones((5, 4)), k, m, times=3)
        assert facts(call)["compiled"] > 0


@pytest.mark.parametrize("dtype", ["bool", "int16", "uint64", "float32", "complex64"])
@pytest.mark.parametrize("initial", [2 + 1j, np.complex64(2 + 1j), 2.5, np.inf])
def test_initial_of_other_kinds(initial, dtype):
    """Python's complex numbers are no elements of real arrays; NumPy's are cast."""
    x = sample(5, dtype)
    for k, reduce in enumerate((np.sum, np.prod, np.max, np.any)):  # as an argument and as a constant, in turns
        as_argument = (k + np.dtype(dtype).num) % 2
        function = (lambda x, start: reduce(x, initial=start)) if as_argument else (lambda x, _: reduce(x, initial=initial))
        call = accel.compile(function)
        assert_same(function, call, x, initial, times=2)


def test_initial_that_fits_is_compiled():
    for dtype, initial in (("complex64", 2 + 1j), ("float32", 2.5), ("int16", 3)):
        check_in_loops(lambda x, start: np.sum(x, initial=start), sample(5, dtype), initial)


@pytest.mark.parametrize("dtype", ["i1", "i8", "f4"])
def test_orderless_reductions_of_all_lengths(dtype):
    """Accumulators side by side, and what remains after whole groups of them."""

    def extremes(a):
        return a.max(), a.min(), np.ptp(a), np.fmax.reduce(a)

    def bits(a):
        return a.max(), a.min(), np.bitwise_xor.reduce(a), np.bitwise_or.reduce(a), a.sum()

    function = extremes if dtype == "f4" else bits
    call = accel.compile(function)
    rng = np.random.default_rng(3)
    for length in [*range(1, 70), 127, 128, 129, 191, 255, 256, 300, 511, 512, 513, 600, 1000, 20_000]:
        data = rng.integers(-100, 100, length).astype(dtype) + (dtype == "f4") * np.float32(0.5)
        for a in (data.astype(dtype), np.repeat(data.astype(dtype), 2)[::2]):
            assert repr(call(a)) == repr(function(a)), (length, a.strides)
    assert_all_compiled(call)
