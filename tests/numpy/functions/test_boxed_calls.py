"""NumPy's C functions that compiled code calls as they are."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from support.compiled import facts
from support.differential import check, check_left_to_numpy, layouts, sample
from support.outcome import assert_same

import accel


def sort(a):
    return np.sort(a), np.sort(a, axis=0), np.sort(a, axis=None)


def sort_in_place(a):
    a.sort()
    total = a[0].sum()
    a[:, ::2].sort(axis=0)
    return total


def argsort(a):
    return np.argsort(a), a.argsort(axis=0), np.argsort(a, axis=None, kind="stable")


def partition(a):
    a.partition(1, axis=0)
    return np.partition(a, 2), np.argpartition(a, (1, 2), axis=-1), np.argpartition(a, 3, axis=None)


def search(a):
    a.sort()
    return a[0].searchsorted(a), np.searchsorted(a[1], 0.5), np.searchsorted(a[2], a[0, 0], side="right")


def interpolate(a):
    return np.interp(a, [0.0, 1.0, 2.0], np.array([5.0, 3.0, 1.0])), np.interp(a[0, 0], np.sort(a[1]), a[2], left=-1.0)


def lexsort(a):
    return np.lexsort((a, -a)), np.lexsort(a), np.lexsort([a[0], a[1]])


def indices(a):
    i, j = np.unravel_index(np.argmax(a), a.shape)
    return a[i, j], i, np.ravel_multi_index((i, j), a.shape), np.ravel_multi_index((i, np.arange(3)), a.shape)


def convolve(a):
    return np.convolve(a[0], a[1, :2]), np.convolve(a[0], a[1, :2], "same"), np.convolve(a[0], a[1, :2], "valid")


def statistics(a):
    return np.median(a, axis=0), np.median(a), np.histogram(a, bins=5, range=(-4.0, 4.0))


def digitize(a):
    return np.digitize(a[0], np.array([0.0, 1.0, 2.0]))


def in_a_loop(a, n):
    total = 0.0
    for i in range(n):
        row = np.sort(a[i])
        total += row[0] * row[-1]
        a[i, 0] = total
        a[i].sort()
    return total


FUNCTIONS = [
    sort,
    sort_in_place,
    argsort,
    partition,
    search,
    interpolate,
    lexsort,
    indices,
    convolve,
    statistics,
    digitize,
]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_in_every_memory_layout(function):
    """Each function meets C order, Fortran order and one of the other layouts; together they meet all layouts."""
    others = ("strided", "reversed", "padded")
    for name, array in layouts(sample((4, 5))):
        if name in ("C", "F", others[FUNCTIONS.index(function) % 3]):
            check(function, array)


@pytest.mark.parametrize("function", [sort, sort_in_place, argsort, partition])
@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64", "float16", "float32", "complex128"])
def test_of_other_dtypes(function, dtype):
    check(function, sample((4, 5), dtype))


@pytest.mark.parametrize("function", [sort, argsort, partition, search, statistics])
def test_nan(function):
    array = sample((4, 5))
    array[1, 2] = np.nan
    check_left_to_numpy(function, array)


def test_one_kernel_serves_all_sizes():
    call = check(sort, sample((4, 5)))
    for shape in [(3, 7), (9, 2), (40, 50)]:
        assert_same(sort, call, sample(shape), times=1)
    assert facts(call)["compiles"] == 1


def test_small_and_large_results_in_several_threads():
    """A run gives the GIL away after a call that gives much."""

    def function(x, counts):
        y = np.repeat(x, counts)
        return np.sqrt(y) + y.sum(), np.bincount(counts)

    call = accel.compile(function, fullgraph=True)

    def compare(n):
        return assert_same(function, call, np.linspace(1, 2, n), np.arange(n) % 4, times=3)

    compare(3)
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(compare, [1, 60000, 100, 40000, 3, 200000]))
    assert facts(call)["interpreted"] == 0


def test_a_call_gets_memory_that_the_function_has_written():
    def function(x, counts):
        x += 1.0
        counts[0] = 2
        return np.repeat(x, counts), np.repeat(x[::-1], counts[1:2]), x

    check(function, np.arange(4.0), np.array([1, 2, 0, 1]))


def test_in_a_loop():
    check(in_a_loop, sample((6, 5)), 4)


@pytest.mark.parametrize("weights", [None, "float64", "int64"])
def test_bincount(weights):
    def function(x, weights, least):
        counts = np.bincount(x, weights, minlength=least)
        return counts, counts[counts > 0], counts.sum()

    call = accel.compile(function, fullgraph=True)
    for n, least in [(10, 3), (50, 100), (0, 4), (1, 1)]:
        x = np.random.default_rng(n).integers(0, 20, n)
        given = None if weights is None else sample(n, weights)
        assert_same(function, call, x, given, least, times=1)
    assert facts(call)["interpreted"] == 0


def test_a_result_that_is_never_used_raises_all_the_same():
    def function(x):
        np.bincount(x)
        return 1

    check(function, np.array([1, 2, 3]))
    check_left_to_numpy(function, np.array([1, -2, 3]))


def test_memory_is_as_before_when_a_call_raises():
    """The interpreter does the whole call again: what compiled code has stored is undone."""

    def function(a, x):
        a += 1
        a.sort()
        a *= 2
        return np.bincount(x)

    call = accel.compile(function)
    for x in [[1, 2], [1, -2], [3, 3]]:
        assert_same(function, call, np.arange(5.0)[::-1].copy(), np.array(x), times=2, share=False)


def test_events_before_and_after_a_call():
    def function(a, b):
        c = a / b
        d = np.sort(c)
        return np.argsort(d * 1e300 * 1e300), d

    check(function, np.arange(1.0, 5), np.arange(2.0, 6) * 1e300)
    check_left_to_numpy(function, np.arange(1.0, 5), np.arange(4.0))
    check_left_to_numpy(function, np.arange(1.0, 5), np.arange(1.0, 5))
    with np.errstate(all="ignore"):
        check(function, np.arange(1.0, 5), np.arange(4.0))


def test_a_view_of_a_sorted_array_is_stored_to():
    def function(a):
        b = a.copy()
        part = b[1:]
        part.sort()
        order = part.argsort()
        part[0] = 7.0
        return b, part, order, np.sort(b)

    check(function, sample(9))


def test_a_read_only_array_is_not_sorted():
    array = sample(5)
    array.flags.writeable = False

    def function(a):
        a.sort()

    check_left_to_numpy(function, array)


@pytest.mark.parametrize("exit", range(1, 12))
def test_exits(exit):
    with accel.config(stress_exits=exit):
        call = accel.compile(in_a_loop, backend="numpy")
        assert_same(in_a_loop, call, sample((6, 5)), 4, times=2, share=False)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_evaluated_by_numpy(function):
    call = accel.compile(function, backend="numpy", fullgraph=True)
    assert_same(function, call, sample((4, 5)), times=2)


def test_explain_names_the_calls():
    def ordered(x):
        return np.sort(x * 2) + 1

    found = accel.explain(accel.compile(ordered))(sample(5))
    [call] = found.calls
    assert call.startswith(f"{__file__}:{ordered.__code__.co_firstlineno + 1}: ") and call.endswith("ndarray.sort")
    assert call in str(found)


def test_a_result_handed_over_is_of_its_own():
    """The array that NumPy's function made is the result itself."""

    def function(a, b):
        b[0] = 5.0
        return np.sort(a), np.argsort(b), b

    call = check(function, sample(7), sample(8))
    a, b = sample(7), sample(8)
    first, second = call(a, b)[0], call(a, b)[0]
    assert first.flags.owndata and first.base is None and not np.may_share_memory(first, second)
    second[:] = 0
    assert_same(function, call, a, b, times=2)


def columns_of_draws(n, k):
    w = np.random.rand(n, k)
    v = np.random.normal(size=(n, k))
    sums = w.sum(axis=0), w.mean(0), v.std(0), np.linalg.norm(w, axis=0), np.add.reduce(v, 0), w.T.sum(1), (w * 1j).sum(0)
    return *sums, np.einsum("ij,jk->ik", w, np.ones((k, 1))).sum(0)


@pytest.mark.parametrize("k", [1, 3])
def test_sums_of_results_of_one_column(k):
    """NumPy adds a single column in pieces. Its extent is known only after the call that gives it."""
    call = accel.compile(columns_of_draws)
    for n in (129, 8, 33, 129, 20, 300):
        np.random.seed(n)
        expected = columns_of_draws(n, k)
        np.random.seed(n)
        found = call(n, k)
        for wanted, got in zip(expected, found, strict=True):
            assert wanted.tobytes() == got.tobytes(), (n, k)
            assert wanted.shape == got.shape
    assert facts(call)["compiled"] >= 4


def test_counts_bits_and_subscripts():
    def numbers(x, j, m, b):
        first = np.repeat(x, j), np.repeat(x[: j.size].reshape(2, -1), j[:2], axis=0) * 2, x.repeat(j[:1])
        bits = np.packbits(m), np.packbits(m, bitorder="little"), np.packbits(j), np.unpackbits(b[::2]), np.unpackbits(b) + 1
        sums = np.einsum("i,i->i", x, j), np.einsum("i,i->", x, x * 2), np.einsum("ij,j->i", x.reshape(2, -1), x[: x.size // 2])
        return first, bits, sums, np.dot(x, 3.5), np.dot(j[2], x), np.dot(j, 2) - 1

    call = accel.compile(numbers)
    rng = np.random.default_rng(4)
    for n in (12, 6, 40):
        j = rng.integers(0, 5, n)
        assert_same(numbers, call, rng.normal(size=n), j, j > 2, j.astype(np.uint8), times=1)
    found = facts(call)
    assert (found["compiled"], found["interpreted"], found["side_exits"]) == (3, 0, 0)
    assert not accel.explain(call)(np.ones(4), np.arange(4), np.ones(4, bool), np.ones(4, np.uint8)).fallbacks


def test_counts_that_numpy_refuses():
    def spread(x, counts):
        return np.repeat(x, counts)

    call = accel.compile(spread)
    for counts in ([1, 2, 3], [-1, 2, 0], [1, 2]):
        assert_same(spread, call, np.arange(3.0), np.array(counts), times=1)
    assert facts(call)["compiled"] > 0


def test_items_of_arrays():
    def items(x, k):
        y, z = x.reshape(2, -1)[:, ::-1], x > 2
        return x.item(k), y.item(1, k), y.item((0, -1)), z.item(k), x.astype(np.float32).item(1), (x * 1j).item(k)

    call = check(items, np.arange(8.0) + 0.1, 2)
    for k in (-3, 0, 3, 9):
        assert_same(items, call, np.arange(8.0), k, times=1)


@pytest.mark.parametrize("number", [3, 2**63, 2**64 - 1, 2**64, -(2**63) - 1])
def test_searches_of_large_integers(number):
    def of_constant(a):
        return np.searchsorted(a, number), np.searchsorted(a, number, side="right")

    def of_argument(a, v):
        return np.searchsorted(a, v)

    a = np.array([1, 2**63 - 1, 2**63, 2**63 + 5, 2**64 - 1], np.uint64)
    for function, arguments in ((of_constant, (a,)), (of_argument, (a, number)), (of_argument, (a.astype(float), number))):
        call = accel.compile(function)
        assert_same(function, call, *arguments)
        assert facts(call)["interpreted"] == 0


@pytest.mark.parametrize("text", ["left", "LEFT", "r", "\ud800", "lef\0t"])
def test_arguments_that_are_no_words(text):
    for function in (
        lambda a: np.searchsorted(a, a, side=text),
        lambda a: np.sort(a, kind=text),
        lambda a: np.argsort(a, kind=text),
    ):
        assert_same(function, accel.compile(function), np.array([1.0, 2.0, 3.0]))


def test_counts_weighted_by_themselves():
    def function(x):
        return np.bincount(x, x), np.bincount(x, weights=x, minlength=9)

    call = accel.compile(function)
    for dtype in ("int64", "int32", "bool"):
        assert_same(function, call, (np.arange(20) % 5).astype(dtype))
    assert facts(call)["interpreted"] == 0


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
@pytest.mark.parametrize("scale", [1.0, 1e37])
def test_transforms_in_the_width_that_numpy_chooses(dtype, scale):
    def complex_ones(x):
        return np.fft.fft(x), np.fft.ifft(x), np.fft.fft(x, norm="ortho"), np.fft.irfft(x), np.fft.irfft(x, norm="ortho")

    def real_ones(x):
        return np.fft.rfft(x), np.fft.rfft(x, norm="ortho"), np.fft.rfft(x, norm="forward")

    x = (np.arange(7) / 3 * scale).astype(dtype)
    for function in (complex_ones,) if dtype == "complex64" else (complex_ones, real_ones):
        call = accel.compile(function)
        assert_same(function, call, x)
        assert facts(call)["interpreted"] == 0


def test_gufuncs_of_transforms_without_their_arguments():
    from numpy.fft import _pocketfft_umath as gufuncs

    x, out = np.arange(3.0), np.zeros(3, complex)
    for function in (
        lambda x, out: gufuncs.fft(x, out=out),
        lambda x, out: gufuncs.fft(out=out),
        lambda x, out: gufuncs.fft(x[0], 1, out=out),
        lambda x, out: gufuncs.fft(x, 1, 2, out=out),
        lambda x, out: gufuncs.fft(x, 1, out=out),
    ):
        assert_same(function, accel.compile(function), x, out)
