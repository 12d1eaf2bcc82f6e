"""Products of two vectors: their bits are those of NumPy's BLAS, also where kernels work them out themselves."""

import itertools

import numpy as np
import pytest
from support.compiled import facts
from support.differential import check, check_left_to_numpy, sample
from support.outcome import assert_same

import accel

LENGTHS = [*range(21), 31, 32, 33, 64, 100, 1000, 1024, 1025, 5000]


def products(a, b, lengths):
    out = np.empty((len(lengths), 4))
    for k, n in enumerate(lengths):
        out[k, 0] = a[0, :n] @ b[:n, 1]
        out[k, 1] = b[:n, 1] @ a[0, :n]
        out[k, 2] = b[:n, 1] @ b[:n, 0]
        out[k, 3] = a[0, :n] @ a[1, :n]
    return out


def test_all_lengths():
    check(products, sample((2, 5000)), sample((5000, 3), seed=1), np.array(LENGTHS))


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e160, 1e300])
def test_tiny_and_huge_numbers(scale):
    a, b = sample((2, 40)) * scale, sample((40, 3), seed=1) * scale
    lengths = np.arange(41)
    with np.errstate(all="ignore"):
        check(products, a, b, lengths)
    if scale > 1:
        check_left_to_numpy(products, a, b, lengths)


@pytest.mark.parametrize("value", [0.0, -0.0, np.inf, np.nan, 5e-324])
def test_special_numbers(value):
    a, b = np.ones((2, 20)), -np.ones((20, 3))
    a[:, ::3] = value
    check(products, a, b, np.arange(21))
    check(products, np.full((2, 20), value), b, np.arange(21))


@pytest.mark.parametrize("n", [0, 1, 7, 16, 40])
def test_vecdot(n):
    a, b = sample((2, 40)), sample((40, 3), seed=1)
    check(lambda a, b: (np.vecdot(a[0], b[:, 1]), np.vecdot(a[0], a[1])), a[:, :n], b[:n])


def test_stored_vecdot():
    def function(a, b, out):
        out[0] = np.vecdot(a, b)
        for k in range(1, len(out)):
            out[k] = np.vecdot(a[:k], b[:k]) + a[:k] @ b[:k]
        out[-1] = a[:3] @ b[:3]
        return out

    check(function, sample(20), sample(20, seed=1), np.zeros(8))


def test_other_layouts():
    def function(a, b):
        return a[::2] @ b[::-2], a[::-1] @ b, a[3:9] @ b[3:9], b[::2] @ a[1::2], a[:1] @ b[::-1][:1]

    check(function, sample(24)[::2], sample(12, seed=1))
    check(lambda a, b: a[0] @ b[:, 1], np.broadcast_to(sample(1), (2, 9)), sample((9, 2), seed=1))


def rows_times_columns(a, b, out):
    for i in range(len(a)):
        for j in range(b.shape[1]):
            out[i, j] = a[i] @ b[:, j]
    return out


@pytest.mark.parametrize("depth", [0, 3, 15, 16, 17, 40, 1030])
@pytest.mark.parametrize("width", [1, 15, 16, 17, 33, 50])
def test_columns_that_follow_each_other(depth, width):
    out = np.zeros((3, width))
    check(rows_times_columns, sample((3, depth)), sample((depth, width), seed=1), out)
    check(rows_times_columns, sample((depth, 3)).T, np.asfortranarray(sample((depth, width), seed=1)), out)
    check(rows_times_columns, sample((3, depth)), sample((2 * depth, 2 * width), seed=1)[::2, ::2], out)


def test_columns_times_rows():
    def function(a, b, out):
        for j in range(b.shape[1]):
            out[j] = b[:, j] @ a
        return out

    check(function, sample(30), sample((30, 40), seed=1), np.zeros(40))


def elimination(a):
    for i in range(len(a)):
        for j in range(i):
            a[i, j] -= a[i, :j] @ a[:j, j]
            a[i, j] /= a[j, j]
        for j in range(i, len(a)):
            a[i, j] -= a[i, :i] @ a[:i, j]


@pytest.mark.parametrize("n", [1, 16, 17, 33, 60, 131])
def test_what_is_stored_is_multiplied_later(n):
    check(elimination, sample((n, n)) + 4 * n * np.eye(n))


@pytest.mark.parametrize("row,column", [(0, 0), (0, 5), (20, 1), (29, 15), (29, 16), (30, 3), (39, 40)])
def test_stores_to_columns_ahead(row, column):
    def function(a, row, column):
        total = 0.0
        for j in range(40):
            total += a[40, :30] @ a[:30, j]
            a[row, min(j + column, 79)] = total
        return total

    check(function, sample((41, 80)), row, column)


def test_stores_to_the_row():
    def function(a, b):
        total = 0.0
        for j in range(40):
            total += a[0] @ b[:, j]
            a[0, j % 20] = total
        return total

    check(function, sample((2, 20)), sample((20, 60), seed=1))


def test_whole_array_stores_between():
    def function(a, b):
        total = 0.0
        for j in range(40):
            total += a[0] @ b[:, j]
            if j % 5 == 3:
                b *= 0.5
            if j % 7 == 3:
                b[3, :] = a[0, 3]
        return total

    check(function, sample((2, 20)), sample((20, 60), seed=1))


def test_calls_that_write():
    def function(a, b, write):
        total = 0.0
        for j in range(40):
            total += a[0] @ b[:, j]
            if j % 5 == 3:
                write(b, j)
        return total

    def write(b, j):
        b[:, j:] *= 0.5

    check_left_to_numpy(function, sample((2, 20)), sample((20, 60), seed=1), write)


def test_events_of_columns_that_nobody_asks_for():
    def function(a, b, columns):
        total = 0.0
        for j in range(columns):
            total += a[0] @ b[:, j]
        return total

    a, b = sample((2, 20)), sample((20, 60), seed=1)
    a[0, 4], b[4, 30] = 0.0, np.inf
    with np.errstate(all="raise"):
        check(function, a, b, 30)
    check_left_to_numpy(function, a, b, 31)


def test_another_row_of_the_same_place():
    def function(a, b):
        total = 0.0
        for k in range(3):
            for j in range(0, 20):
                total += a[k % 2, : 16 + j] @ b[: 16 + j, j]
            for j in range(20, 0, -1):
                total += a[k % 2, : 16 + j] @ b[: 16 + j, j]
        return total

    check(function, sample((2, 40)), sample((40, 60), seed=1))


def test_float32_and_complex_products():
    for dtype in ("float32", "complex128", "int64"):
        check(rows_times_columns, sample((3, 20), dtype), sample((20, 40), dtype, seed=1), np.zeros((3, 40), dtype))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex128])
@pytest.mark.parametrize(
    "function",
    [
        pytest.param(lambda a, b: np.dot(a, b), id="dot"),
        pytest.param(lambda a, b: a.dot(b), id="method"),
        pytest.param(lambda a, b: np.inner(a, b), id="inner"),
        pytest.param(lambda a, b: np.tensordot(a, b, 1), id="tensordot"),
    ],
)
def test_a_single_element(function, dtype):
    """BLAS is asked for another product then: zero times a NaN may be zero, and negative zeros stay."""
    call = accel.compile(function)
    assert_same(function, call, np.ones(3, dtype), np.ones(3, dtype))
    values = (-0.0, 0.0, 1.0, 5e-324, -1e-308, np.inf, np.nan)
    shapes = [((1,), (1,)), ((1, 1), (1,)), ((1, 1), (1, 1)), ((1,), (1, 3)), ((3, 1), (1,)), ((3, 1), (1, 2)), ((2,), (2,))]
    for left, right in itertools.product(values, values):
        for one, other in shapes:
            a, b = np.full(one, left, dtype), np.full(other, right, dtype)
            with np.errstate(all="ignore"):
                assert_same(function, call, a, b, times=1)
    assert facts(call)["compiled"] > 0


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_length_known_at_run_time(dtype):
    def prefixes(a, b, lengths):
        out = np.empty((len(lengths), 3), a.dtype)
        for k, n in enumerate(lengths):
            out[k, 0] = np.dot(a[:n], b[:n])
            out[k, 1] = a[:n].dot(b[::-1][:n])
            out[k, 2] = np.inner(b[:n], a[:n])
        return out

    lengths = np.array([0, 1, 2, 1, 3, 7, 8])
    for scale in (1.0, 0.0, -0.0, 1e-30, 1e-160):
        check(prefixes, sample((9,)).astype(dtype) * dtype(scale), -np.abs(sample((9,), seed=1)).astype(dtype), lengths)


def beside_sums(x, w):
    y, z = x[:, ::2], x[:, ::-1]
    parts = y @ y[0], y[:, 0] @ y, y @ y.T, y.T @ y, np.dot(y[0], y[1]), np.vdot(y[1], y[2]), (z @ w) / np.abs(z.sum())
    return parts, y.sum(), np.abs(y).mean(), np.inner(y[0], y), x[::2].T @ y[::2], z.max()


def in_a_loop(x, w):
    y = x[:, ::-1]
    for _ in range(3):
        w = y @ (y.T @ w) / (1 + np.abs(y.sum()) + np.abs(y).sum())
    return w


@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128", "complex64"])
def test_views_that_are_summed_too(dtype):
    """The sum of all elements may want the view in memory: the products must not see that memory."""
    first, second = accel.compile(beside_sums), accel.compile(in_a_loop)
    for seed in range(3):
        x = sample((8, 24), dtype, seed=seed)
        assert_same(beside_sums, first, x, x[0].copy(), times=2)
        assert_same(in_a_loop, second, x, x[:, 0].copy(), times=2)
    assert facts(first)["compiled"] > 3
    assert facts(second)["compiled"] > 3


def multiply_in_place(a, b):
    a @= b
    return a


def square_in_place(a):
    a @= a
    return a


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.int64])
def test_matrix_product_in_place(dtype):
    for a, b in [((5, 5), (5, 5)), ((3, 5), (5, 5)), ((2, 4, 4), (4, 4)), ((2, 4, 4), (2, 4, 4))]:
        check(multiply_in_place, sample(a, dtype), sample(b, dtype, seed=1))
    check(square_in_place, sample((4, 4), dtype))


def test_matrix_product_in_place_that_numpy_refuses():
    call = accel.compile(multiply_in_place)
    for a, b in [((4, 4), (4,)), ((4,), (4, 4)), ((3, 4), (4, 3)), ((4, 4), (2, 4, 4)), ((4, 4), (3, 3))]:
        assert_same(multiply_in_place, call, sample(a), sample(b, seed=1))
    assert_same(multiply_in_place, call, sample((4, 4), "int64"), sample((4, 4)))
