"""Floating sums and products with where=: NumPy's inner loop gets each sequence of elements that count on its own."""

import numpy as np
import pytest
from support.compiled import assert_all_compiled, facts
from support.differential import check_in_loops, check_left_to_numpy
from support.outcome import assert_same

import accel

SHARES = [0.0, 0.02, 0.5, 0.97, 1.0]
SIZES = [1, 2, 7, 8, 63, 64, 65, 127, 128, 129, 300, 8192, 8200, 20000]


def mask(shape, share, seed=0):
    return np.random.default_rng(seed).random(shape) < share


def numbers(shape, dtype, seed=1):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(shape) * 10.0 ** rng.integers(-3, 4, shape)
    return (x + 1j * x[..., ::-1]).astype(dtype) if np.dtype(dtype).kind == "c" else x.astype(dtype)


def total(x, m):
    return x.sum(where=m)


def check_called(function, *arguments):
    """NumPy is called for the sum, by the kernel once it is known what it gives."""
    call = check_left_to_numpy(function, *arguments)
    assert_all_compiled(call, *arguments)
    assert accel.explain(call)(*arguments).calls


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "complex128"])
def test_one_axis(dtype):
    """One compile for all sizes."""
    call = None
    for size in SIZES:
        for share in SHARES:
            x, m = numbers(size, dtype), mask(size, share)
            call = check_in_loops(total, x, m) if call is None else call
            got, expected = call(x, m), total(x, m)
            assert got.tobytes() == expected.tobytes() and type(got) is type(expected), (size, share)
    assert facts(call)["interpreted"] == 0


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("axis", [0, 1, 2, (0, 1), (1, 2), (0, 2), None])
def test_several_axes(dtype, axis):
    def reduced(x, m):
        return x.sum(axis=axis, where=m), np.add.reduce(x, axis=axis, where=m, keepdims=True, initial=3)

    # Long rows in one dtype, many short ones in the other.
    for shape in ((3, 4, 5), (2, 3, 300) if dtype == "float64" else (70, 2, 9)):
        x = numbers(shape, dtype)
        call = check_in_loops(reduced, x, mask(shape, 0.5))
        for share in SHARES:
            assert_same(reduced, call, x, mask(shape, share), times=1)
        assert facts(call)["interpreted"] == facts(call)["side_exits"] == 0


@pytest.mark.parametrize("axis", [0, 1, None])
def test_masks_that_are_repeated(axis):
    def reduced(x, row, column):
        return x.sum(axis=axis, where=row), x.sum(axis=axis, where=column)

    x, row, column = numbers((40, 90), "float64"), mask(90, 0.7), mask((40, 1), 0.6)
    (check_called if axis is None else check_in_loops)(reduced, x, row, column)


@pytest.mark.parametrize("axis", [0, 1, 2, (0, 2), None])
def test_layouts(axis):
    """NumPy's iterator looks at both arrays; what has no plan is a call of NumPy. Axes take turns over the pairs of layouts."""

    def reduced(x, m):
        return x.sum(axis=axis, where=m)

    def layouts(a):
        yield a
        yield np.asfortranarray(a)
        yield np.repeat(a, 2, axis=1)[:, ::2]
        yield a.transpose(1, 0, 2).copy().transpose(1, 0, 2)
        yield a[::-1, :, ::-1]
        yield a[:, :, ::-1]

    turn = axis is None or isinstance(axis, int) and axis % 2
    pairs_of_layouts = [(i, j) for i in range(6) for j in range(6) if (i + j) % 2 == turn]
    arrays, masks = list(layouts(numbers((20, 13, 30), "float64"))), list(layouts(mask((20, 13, 30), 0.8)))
    for i, j in pairs_of_layouts:
        x, m = arrays[i], masks[j]
        call = check_left_to_numpy(reduced, x, m)
        assert_all_compiled(call, x, m)


def test_products():
    def reduced(x, m):
        return x.prod(where=m), x.prod(axis=0, where=m), x.prod(axis=1, where=m, initial=2)

    for dtype in ("float32", "float64"):
        for share in SHARES:
            check_in_loops(reduced, numbers((30, 50), dtype), mask((30, 50), share))


def near_one(shape, dtype="float16", seed=1):
    return (2 ** np.random.default_rng(seed).uniform(-0.2, 0.2, shape)).astype(dtype)


def test_products_of_halves():
    """In float32 while elements count, then rounded."""

    def reduced(x, m):
        return x.prod(where=m), x.prod(axis=0, where=m), np.multiply.reduce(x, axis=1, where=m, initial=2, keepdims=True)

    call = None
    for size in (1, 2, 7, 300, 9000):
        for share in SHARES:
            x, m = near_one(size), mask(size, share)
            call = check_in_loops(lambda x, m: x.prod(where=m), x, m) if call is None else call
            assert call(x, m).tobytes() == x.prod(where=m).tobytes(), (size, share)
    assert facts(call)["interpreted"] == 0
    for share in SHARES:
        check_in_loops(reduced, near_one((30, 50)), mask((30, 50), share))
        check_in_loops(lambda x, m: x.prod(where=m, dtype="float16"), near_one(20000, "int8"), mask(20000, share))
        check_in_loops(lambda x, m: x.prod(axis=(0, 2), where=m), near_one((3, 4, 50)), mask((3, 4, 50), share))
    x = np.array([300.0, 300.0, 0.001, 0.001] * 5, "float16")  # beyond float16 within a sequence alone
    check_in_loops(lambda x, m: x.prod(where=m), x, np.ones(20, bool))
    check_left_to_numpy(lambda x, m: x.prod(where=m), x, np.arange(20) % 4 != 1)
    check_left_to_numpy(lambda x, m: x.prod(where=m), x, np.arange(20) % 4 != 2)


def test_computed_masks_and_elements():
    check_in_loops(lambda x: (x * 2).sum(where=x > 0), numbers(1000, "float64"))
    check_in_loops(lambda x: (x * 2 + 1).sum(axis=1, where=np.isfinite(x) & (x > 0)), numbers((50, 70), "float32"))
    check_in_loops(lambda x: np.sin(x).sum(axis=1, where=np.sin(x) > 0), numbers((50, 70), "float64"))
    check_in_loops(lambda x: x.sum(axis=1, where=(x > 0).T[:, :50].T[:, :50]), numbers((50, 50), "float64"))


def test_mean_and_variance():
    def statistics(x, m):
        return x.mean(where=m), x.mean(axis=1, where=m), x.var(axis=0, where=m), np.std(x, where=m)

    for dtype in ("float32", "float64", "complex64", "complex128"):
        check_in_loops(statistics, numbers((30, 50), dtype), mask((30, 50), 0.7))


def test_casts():
    check_in_loops(lambda x, m: x.sum(where=m, dtype="float64"), numbers(20000, "float32"), mask(20000, 0.9))
    check_in_loops(lambda x, m: x.sum(axis=1, where=m, dtype="float64"), numbers((3, 20000), "float32"), mask((3, 20000), 0.9))
    check_in_loops(lambda x, m: x.sum(where=m, dtype="float64"), np.arange(20000), mask(20000, 0.9))
    x = np.array([1e300, 1.0, 2.0] * 30)
    check_called(lambda x, m: x.sum(where=m, dtype="float32"), x, x < 1e100)  # the cast overflows where nothing counts, too


def check_events(function, x, *others):
    """Calls with events are run again by NumPy: the kernel has to notice."""
    check_left_to_numpy(function, x, *others)
    check_in_loops(function, np.abs(np.nan_to_num(x, posinf=2)) % 7 + 1, *others)


def test_events_where_nothing_counts():
    """What is computed before the sum has its events whatever the mask says."""
    x = np.array([1.0, -1.0, 0.0, 4.0] * 40)
    check_events(lambda x: np.log(x).sum(where=x > 0), x)
    check_events(lambda x: (1 / x).sum(where=x != 0), x)
    check_events(lambda x: (1 / x).reshape(4, -1).sum(axis=1, where=x.reshape(4, -1) != 0), x)
    check_events(lambda x: (1 / x).reshape(-1, 4).sum(axis=0, where=x.reshape(-1, 4) != 0), x)


def test_events_of_the_sum():
    x = np.array([1e308, 1e308, np.inf, -np.inf, np.nan] * 20)
    for m in (np.ones(100, bool), np.isfinite(x), x > 0, ~np.isnan(x), np.isnan(x)):
        check_events(lambda x, m: x.sum(where=m), x, m)


def test_means_of_nothing_warn():
    """The branch to the warning is in NumPy's code: such calls leave before it."""

    def statistics(x, m):
        return x.mean(axis=1, where=m), x.var(axis=1, where=m)

    call = check_in_loops(statistics, numbers((4, 6), "float64"), mask((4, 6), 0.9))
    m = mask((4, 6), 0.9)
    m[2] = False
    assert_same(statistics, call, numbers((4, 6), "float64"), m, times=2)
    assert facts(call)["side_exits"] > 0


def test_zeros_of_either_sign():
    x = np.full((3, 40), -0.0)
    for share in SHARES:
        check_in_loops(lambda x, m: (x.sum(where=m), x.sum(0, where=m), x.sum(1, where=m)), x, mask((3, 40), share))
    check_in_loops(lambda x, m: x.sum(1, where=m, initial=-0.0), x, mask((3, 40), 0.3))


def test_no_elements():
    for shape in ((0,), (3, 0), (0, 4)):
        check_in_loops(
            lambda x, m: (x.sum(where=m), x.sum(axis=-1, where=m), x.prod(where=m)), np.zeros(shape), np.zeros(shape, bool)
        )


def test_bools_of_other_bytes():
    flags = (np.arange(300, dtype="u1") * 7 % 5).view(bool)
    check_in_loops(total, numbers(300, "float64"), flags)
    check_in_loops(lambda x, m: x.sum(axis=0, where=m), numbers((10, 30), "float64"), flags.reshape(10, 30))


def test_out_and_views():
    def into(x, m, y):
        np.sum(x, axis=1, out=y[::2], where=m)
        return y

    check_in_loops(into, numbers((5, 60), "float64"), mask((5, 60), 0.5), np.zeros(10))


def test_in_loops():
    def relax(x, steps):
        history = np.zeros(steps)
        for k in range(steps):
            inside = np.abs(x) < 3
            history[k] = x.sum(where=inside)
            x = x * 0.9 + x.mean(where=inside)
        return x, history

    check_in_loops(relax, numbers((20, 30), "float64"), 12)


def test_threads():
    with accel.config(threads=2, parallel_threshold=0):
        check_in_loops(lambda x, m: x.sum(axis=1, where=m), numbers((3000, 300), "float64"), mask((3000, 300), 0.9))
