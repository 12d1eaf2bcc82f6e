"""`searchsorted` and `bincount` by kernels: NumPy's positions and counts; sums of weights within their rounding."""

import numpy as np
import pytest
from support.device_arrays import DTYPES, layouts

import accel


def on_device(value):
    return accel.to_device(value) if isinstance(value, np.ndarray) else value


def computed(function, compiled, *arguments, by_numpy=False):
    """The result, which the device computes, or NumPy: then the operands come from the device."""
    why = accel.explain(compiled)(*map(on_device, arguments))
    assert why.compiled and why.device["name"] == "cuda:0" and why.exception is None, str(why)
    words = 8 * 2 * 256  # of limits, and of results that are numbers
    assert by_numpy == (why.device["bytes_down"] > words), why.device["bytes_down"]
    return why.result, function(*arguments)


def check(found, expected, *, close=False):
    assert type(found) is (accel.DeviceArray if isinstance(expected, np.ndarray) else type(expected))
    assert (found.dtype, found.shape, found.strides) == (expected.dtype, expected.shape, expected.strides)
    found = found.numpy() if isinstance(found, accel.DeviceArray) else found
    if close:
        np.testing.assert_allclose(found, expected, rtol=1e-13)
    else:
        np.testing.assert_array_equal(found, expected)


def of_dtype(values, dtype):
    with np.errstate(all="ignore"):
        return np.asarray(values).astype(dtype)


def drawn(rng, size, dtype):
    """Numbers of which many are equal; NaN and infinities where the dtype has them."""
    values = of_dtype(np.round(rng.normal(size=size) * 50), dtype)
    if values.dtype.kind in "fc" and values.size > 8:
        values.flat[::7] = np.nan
        values.flat[1::9] = -np.inf
    return values


# --- searchsorted ---------------------------------------------------------------------------------------------------------

SIDES = ["", "'left'", "side='right'"]


def searches(side):
    def left(a, v):
        return np.searchsorted(a, v)

    def positional(a, v):
        return a.searchsorted(v, "left")

    def right(a, v):
        return np.searchsorted(a, v, side="right")

    return [left, positional, right][side]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("side", range(3))
def test_searches_arrays(dtype, side):
    rng = np.random.default_rng(1)
    function = searches(side)
    compiled = accel.compile(function)
    for length in (1, 2, 1000):
        for _, sorted_array in layouts(np.sort(drawn(rng, length, dtype))):
            a = np.sort(sorted_array)
            for shape in ((40,), (3, 50), (0,), (2, 3, 4)):
                for name, v in layouts(drawn(rng, shape, dtype)):
                    if name != "column":
                        check(*computed(function, compiled, a, v))


@pytest.mark.parametrize("layout", [np.s_[::2], np.s_[::-1]])
def test_searches_in_views(layout):
    def function(a, v):
        return np.searchsorted(a[layout], v)

    rng = np.random.default_rng(2)
    a = np.sort(rng.normal(size=999))
    a = a if layout.step > 0 else a[::-1].copy()
    compiled = accel.compile(function)
    check(*computed(function, compiled, a, rng.normal(size=300)))


@pytest.mark.parametrize("of_array", ["int8", "int64", "uint64", "float16", "float32", "complex64"])
@pytest.mark.parametrize("of_wanted", ["bool", "int32", "uint64", "float16", "float64", "complex128"])
def test_searches_in_the_common_dtype(of_array, of_wanted):
    rng = np.random.default_rng(3)
    function = searches(0)
    compiled = accel.compile(function)
    a, v = np.sort(drawn(rng, 700, of_array)), drawn(rng, 90, of_wanted)
    check(*computed(function, compiled, a, v))


NUMBERS = [3, -1, True, 0.5, np.inf, np.nan, 2**53 + 1, 1 + 2j, np.int8(4), np.uint64(2**63), np.float16(0.3), np.float32(0.1)]


@pytest.mark.parametrize("number", NUMBERS, ids=repr)
@pytest.mark.parametrize("dtype", ["int16", "int64", "float32", "float64"])
def test_searches_numbers(number, dtype):
    def of_constant(a, v):
        return np.searchsorted(a, number)

    rng = np.random.default_rng(4)
    a = np.sort(np.concatenate([of_dtype([0.1, 0.3, 0.5, 3, 4], dtype), drawn(rng, 700, dtype)]))
    for function in (searches(0), searches(2), of_constant):
        check(*computed(function, accel.compile(function), a, number))


@pytest.mark.parametrize("number", [2**63, 2**64 - 1, 2**64, -(2**63) - 1])
def test_numpy_searches_python_ints_beyond_int64(number):
    def of_constant(a):
        return np.searchsorted(a, number)

    a = np.array([1, 2**63 - 1, 2**63, 2**63 + 5, 2**64 - 1], np.uint64)
    for array in (a, a.astype(float)):
        for function, arguments in ((of_constant, (array,)), (searches(0), (array, number))):
            why = accel.explain(accel.compile(function))(accel.to_device(array), *arguments[1:])
            assert why.compiled and why.exception is None, str(why)
            assert why.result == function(*arguments)


def test_searches_a_result_of_the_device():
    def function(a, x):
        edges = np.sort(a * 2)
        return np.searchsorted(edges, x + 1), np.searchsorted(edges, x.sum()), np.searchsorted(edges, np.abs(x) * x)

    rng = np.random.default_rng(5)
    a, x = rng.normal(size=900), rng.normal(size=(40, 30))
    compiled = accel.compile(function)
    for _ in range(2):
        found, expected = computed(function, compiled, a, x)
        for one, other in zip(found, expected, strict=True):
            check(one, other)


def test_numpy_searches_what_is_not_sorted():
    function = searches(0)
    rng = np.random.default_rng(6)
    a, v = rng.normal(size=2000), rng.normal(size=3000)
    check(*computed(function, accel.compile(function), a, v, by_numpy=True))


def test_numpy_searches_by_a_sorter():
    def function(a, v, order):
        return np.searchsorted(a, v, sorter=order)

    rng = np.random.default_rng(7)
    a, v = rng.normal(size=3000), rng.normal(size=100)
    compiled = accel.compile(function)
    why = accel.explain(compiled)(*map(on_device, (a, v, np.argsort(a))))
    assert why.compiled and why.exception is None, str(why)
    np.testing.assert_array_equal(why.result.numpy(), function(a, v, np.argsort(a)))


@pytest.mark.parametrize("right", [False, True])
def test_digitize(right):
    def function(x, bins):
        return np.digitize(x, bins, right=right)

    rng = np.random.default_rng(8)
    x, bins = rng.normal(size=500), np.linspace(-2, 2, 12)
    compiled = accel.compile(function)
    for edges in (bins, bins[::-1].copy()):
        found, expected = computed(function, compiled, x, edges)
        np.testing.assert_array_equal(found.numpy(), expected)


# --- bincount -------------------------------------------------------------------------------------------------------------


def counts(x):
    return np.bincount(x)


def counts_of_many(x, least):
    return np.bincount(x, minlength=least)


def sums(x, weights, least):
    return np.bincount(x, weights, least)


SIZES = [(1, 1), (100, 3), (5000, 1), (5000, 700), (20_000, 9000), (300, 100_000)]


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int16", "uint32", "int64"])
def test_counts(dtype):
    compiled = accel.compile(counts)
    for n, bins in SIZES:
        most = 2 if dtype == "bool" else min(bins, np.iinfo(dtype).max)
        x = np.random.default_rng(n).integers(0, most, 2 * n).astype(dtype)
        check(*computed(counts, compiled, x))
        check(*computed(counts, compiled, x[::2]))
        check(*computed(counts, compiled, x[::-1]))


@pytest.mark.parametrize("least", [0, 1, 50, 5000])
def test_at_least_so_many_bins(least):
    def of_constant(x):
        return np.bincount(x, minlength=least)

    compiled, of_constant_compiled = accel.compile(counts_of_many), accel.compile(of_constant)
    for n in (0, 1, 700):
        x = np.random.default_rng(n).integers(0, 60, n)
        check(*computed(counts_of_many, compiled, x, least))
        check(*computed(of_constant, of_constant_compiled, x))


@pytest.mark.parametrize("dtype", ["bool", "int8", "int64", "float16", "float32", "float64"])
def test_sums_of_weights(dtype):
    compiled = accel.compile(sums)
    for n, bins in SIZES:
        rng = np.random.default_rng(n)
        x, weights = rng.integers(0, bins, n), of_dtype(rng.random(2 * n) * 100, dtype)
        check(*computed(sums, compiled, x, weights[:n], 5), close=True)
        check(*computed(sums, compiled, x, weights[::-2], 5), close=True)


def test_sums_are_the_same_in_each_run():
    compiled = accel.compile(sums)
    rng = np.random.default_rng(11)
    for bins in (4, 5000):
        x, weights = accel.to_device(rng.integers(0, bins, 30_000)), accel.to_device(rng.normal(size=30_000))
        assert len({compiled(x, weights, 0).numpy().tobytes() for _ in range(4)}) == 1
    assert accel.stats(compiled)["interpreted"] == 0


def test_weights_that_are_no_numbers():
    compiled = accel.compile(sums)
    x, weights = np.array([2, 0, 2, 1, 2]), np.array([1.0, -0.0, np.inf, np.nan, 1.0])
    check(*computed(sums, compiled, x, weights, 0))
    check(*computed(sums, compiled, np.repeat(x, 2000), np.repeat(weights, 2000), 4000))


def test_no_elements():
    compiled = accel.compile(sums)
    check(*computed(sums, compiled, np.zeros(0, int), np.zeros(0), 3))
    check(*computed(sums, compiled, np.zeros(0, int), np.zeros(0), 0))


def test_weights_that_are_the_elements():
    def function(x):
        return np.bincount(x, x), np.bincount(x, weights=x)

    for dtype in ("int64", "int32", "bool"):
        x = (np.arange(100) % 7).astype(dtype)
        for found, expected in zip(*computed(function, accel.compile(function), x), strict=True):
            check(found, expected)


BAD = {
    "a negative element": (np.array([1, -1, 2]), np.ones(3), 0),
    "fewer weights": (np.array([1, 1, 2]), np.ones(2), 0),
    "a negative minlength": (np.array([1, 1, 2]), np.ones(3), -1),
    "floats": (np.array([1.0, 2.0]), np.ones(2), 0),
    "two axes": (np.ones((2, 2), int), np.ones(2), 0),
    "complex weights": (np.array([1, 2]), np.ones(2, complex), 0),
}


@pytest.mark.parametrize("arguments", BAD.values(), ids=BAD)
def test_errors_are_numpys(arguments):
    compiled = accel.compile(sums)
    good = np.array([1, 0, 2]), np.ones(3), 0
    check(*computed(sums, compiled, *good))
    with pytest.raises((TypeError, ValueError)) as expected:
        sums(*arguments)
    with pytest.raises(type(expected.value)) as found, accel.device("cuda"):
        compiled(*arguments)
    assert str(found.value) == str(expected.value)
    check(*computed(sums, compiled, *good))


def test_means_of_labels():
    def function(points, labels, k):
        sizes = np.bincount(labels, minlength=k)
        means = np.zeros((k, points.shape[1]))
        for d in range(points.shape[1]):
            total = np.bincount(labels, weights=points[:, d], minlength=k)
            means[sizes > 0, d] = total[sizes > 0] / sizes[sizes > 0]
        return means, sizes

    rng = np.random.default_rng(12)
    points, labels = rng.normal(size=(3000, 3)), rng.integers(0, 7, 3000)
    compiled = accel.compile(function)
    for _ in range(2):
        (means, sizes), (wanted_means, wanted_sizes) = computed(function, compiled, points, labels, 9)
        check(means, wanted_means, close=True)
        check(sizes, wanted_sizes)
