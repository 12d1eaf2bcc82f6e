"""Straight-line functions whose parts meet in unusual ways: compiled as a whole, they give what NumPy gives."""

import numpy as np
import pytest
from support.compiled import assert_all_compiled
from support.differential import check, check_left_to_numpy
from support.outcome import assert_same

import accel


def test_both_results_of_an_operation_on_a_scalar():
    def function(x, y):
        fraction, whole = np.modf(x)
        return np.where(np.isnan(whole), y, fraction)

    check(function, 0.5, np.arange(700.0))
    check(function, -2.75, np.arange(6.0).reshape(2, 3))


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "c8", "c16"])
@pytest.mark.parametrize(
    "shape, axis", [((0,), 0), ((0, 3), 0), ((3, 0), 1), ((2, 0, 3), 1), ((0, 3, 2), (0, 2)), ((0, 4), None)]
)
def test_the_sum_of_nothing_is_positive(dtype, shape, axis):
    """Sums of nothing are 0.0."""
    call = check(lambda x: (x.sum(axis=axis), (x * 2).sum(axis=axis)), np.zeros([n + 2 for n in shape], dtype))
    for result in call(np.zeros(shape, dtype)):
        assert not np.signbit(np.real(result)).any()


def test_many_loops_in_one_kernel():
    """Variables of loops have names of their own, however many there are."""

    def function(x):
        y = np.concatenate([x, x[:1], x])
        z = np.concatenate([y, y[::-1]])
        total = z.astype(np.int16).sum(dtype=np.int8) + z.astype(np.int8).prod(axis=0)
        return total, np.concatenate([z, z, y]).astype(np.int16), np.concatenate([y, z]).astype(np.int8)

    check(function, np.array([1, -1, 2], np.int32))


def test_rows_of_several_axes():
    def function(x):
        spread = np.std(x, axis=(1, 2))
        return spread[::-1] / spread

    call = check(function, np.random.default_rng(1).standard_normal((3, 4, 2)))
    check(call.__wrapped__, np.random.default_rng(2).standard_normal((5, 30, 41)))


@pytest.mark.parametrize("dtype", ["f4", "f8", "c16"])
def test_dot_of_vectors_that_numpy_copies(dtype):
    """np.dot copies vectors with strides that BLAS cannot have, np.matmul does not."""
    rng = np.random.default_rng(3)
    x = (rng.standard_normal(40) * (1 + 1j if dtype == "c16" else 1)).astype(dtype)
    once = np.broadcast_to(x[:1], 40)
    for left, right in [(x, x), (x[::-1], x), (x[::2], x[::-2]), (once, x), (once, once)]:
        check(lambda a, b: (a.dot(b), np.inner(b, a)), left, right)
        check_left_to_numpy(lambda a, b: a @ b, left, right)


@pytest.mark.parametrize("dtype", ["f4", "f8", "c16"])
def test_dot_of_matrices_that_numpy_copies(dtype):
    rng = np.random.default_rng(4)
    a = (rng.standard_normal((30, 40)) * (1 + 1j if dtype == "c16" else 1)).astype(dtype)
    v = a[0]
    for matrix in [a[:, ::-1], a[::-1], a[:, :25], a[::2, ::3], np.broadcast_to(v, (7, 40)), a.T[::2]]:
        check(lambda m, v: m.dot(v), matrix, v[: matrix.shape[1]])
        check(lambda m, v: m.dot(v), matrix, v[::-1][: matrix.shape[1]])
        check(lambda m, v: v.dot(m), matrix, a[: matrix.shape[0], 0])
        check(lambda m, n: m.dot(n), matrix, matrix.T)
        check(lambda m, n: m.dot(n), matrix, np.ascontiguousarray(matrix.T))
    for matrix in [a[:, :1], a[:1, ::2], a[::-1, :1], a[:1, ::-1]]:
        check_left_to_numpy(lambda m, v: m.dot(v), matrix, v[: matrix.shape[1]])
        check_left_to_numpy(lambda m, v: v.dot(m), matrix, np.ascontiguousarray(a[: matrix.shape[0], 0]))


@pytest.mark.parametrize("ufunc", ["exp", "tan", "cbrt", "log10", "arctan2", "sin", "power"])
@pytest.mark.thorough
def test_library_loops_on_reversed_memory(ufunc):
    """Loops that have other bits for negative strides get them where NumPy passes them."""
    ufunc = getattr(np, ufunc)

    def function(x, y):
        return ufunc(*(x, y)[: ufunc.nin])

    x, y = np.random.default_rng(4).uniform(0.1, 3, (2, 30, 40))
    for at in [np.s_[:, ::-1], np.s_[::-1], np.s_[:, ::-2], np.s_[0, ::-1], np.s_[:, 0]]:
        check(function, x[at], y[at])
    for at in [np.s_[::-1, ::-1], np.s_[:1, ::-1], np.s_[::-1, :1], np.s_[:, ::-3]]:
        call = accel.compile(function)
        # Whether the axes are one is a matter of each call.
        for shape in [(5, 7), (1, 37), (2, 4200), (30, 40)]:
            u, v = np.random.default_rng(5).uniform(0.1, 3, (2, *shape)).astype("f4")
            assert_same(function, call, u[at], v[at], times=1)
            assert_same(function, call, u[at].T, v[at].T, times=1)
            assert_same(function, call, u[at], v[at][:, :1], times=1)
        assert_all_compiled(call)


@pytest.mark.parametrize("dtype", ["c8", "c16"])
def test_moduli_of_reversed_memory(dtype):
    rng = np.random.default_rng(6)
    for shape in [(37,), (1, 37), (5, 7), (3, 4, 5)]:
        z = (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(dtype)
        for at in [np.s_[::-1], np.s_[..., ::-1], (np.s_[::-1],) * len(shape), np.s_[..., ::-2]]:
            check(lambda z: (np.abs(z), np.abs(z).sum()), z[at])
            check(lambda z: (np.abs(z), np.abs(z).sum()), z[at].T)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "c8", "c16"])
def test_sums_over_no_axis_start_from_zero(dtype):
    for x in (np.array(-0.0, dtype), np.array([-0.0, 1, -0.0], dtype), np.array([[-0.0], [2]], dtype, order="F")):
        check(lambda x: (np.sum(x, axis=()), np.add.reduce(x * 1, axis=())), x)
    check(lambda x: x.sum(), np.array(-0.0, dtype))
    check(lambda x: np.mean(x), np.dtype(dtype).type(-0.0))


@pytest.mark.parametrize("first", [True, False])
def test_views_are_writeable_as_the_argument_of_the_call(first):
    def function(x):
        return x[-1], x.T, x.reshape(-1), np.sin(x)

    call = accel.compile(function)
    for writeable in (first, not first, first):
        x = np.ones((3, 4))
        x.flags.writeable = writeable
        assert_same(function, call, x, times=1)
    assert_all_compiled(call)


def test_events_of_constants():
    """The C++ compiler may not work them out: it knows no events, and other NaNs."""

    def constants(x):
        low = np.fmin(np.inf, 0)
        return np.inf * low.T, x

    call = accel.compile(constants)
    assert_same(constants, call, np.ones(3), times=2)


def test_values_that_are_used_twice_by_values_that_are_used_twice():
    """Whoever asks what they are computed from without noting whom has been asked never ends."""

    def chain(x):
        values = [x]
        for _ in range(60):
            values.append(values[-1] - 0.1 * values[-1])
        return np.array(values), values[-1]

    check(chain, 2.5)
    check(lambda x: chain(x[0] * 1.5), np.ones(3))
