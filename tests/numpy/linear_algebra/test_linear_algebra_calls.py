"""numpy.linalg inside compiled functions: its gufuncs are loops of the kernel, or called as they are, under the errstate
that its code sets."""

import numpy as np
import pytest
from support.covering import pairs
from support.differential import check, check_cases, check_in_loops, check_left_to_numpy, sample
from support.outcome import assert_same

import accel


def matrices(dtype="float64", outer=()):
    a = sample((*outer, 4, 4), dtype)
    return a @ np.conjugate(np.swapaxes(a, -1, -2)) + 4 * np.eye(4, dtype=a.dtype)


def inverse(a):
    return np.linalg.inv(a), np.linalg.det(a)


def solve(a):
    return np.linalg.solve(a, a[..., :2]), np.linalg.solve(a, a[0]) if a.ndim == 2 else None


def factors(a):
    return np.linalg.cholesky(a)


FUNCTIONS = [inverse, solve, factors]


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("dtype", ["float64", "float32", "complex64", "complex128"])
def test_results(function, dtype):
    check_in_loops(function, matrices(dtype))


@pytest.mark.parametrize("function", FUNCTIONS)
def test_integers(function):
    check_in_loops(function, np.array([[5, 1, 2], [1, 7, 3], [2, 3, 9]]))


@pytest.mark.parametrize("function", FUNCTIONS)
def test_sizes(function):
    for n in (4, 2, 3, 1) if function is solve else (4, 2, 3, 1, 0):
        check_in_loops(function, matrices()[:n, :n].copy())


def test_upper_factors():
    check_in_loops(lambda a: np.linalg.cholesky(a, upper=True), matrices())


@pytest.mark.parametrize("function", FUNCTIONS)
def test_layouts_and_stacks(function):
    check(function, np.asfortranarray(matrices()))
    check(function, matrices(outer=(3,)))
    check(function, matrices()[::-1, ::-1])


def test_in_a_loop():
    def function(a, n):
        total = np.zeros_like(a)
        for k in range(n):
            total += np.linalg.inv(a + k * np.eye(len(a)))
        return total

    check_in_loops(function, matrices(), 5)


def test_stacks_that_are_broadcast():
    check_in_loops(lambda a, b: np.linalg.solve(a, b), matrices(outer=(3,)), sample((2, 3, 4, 2)))
    check_in_loops(lambda a, b: np.linalg.solve(a, b), matrices(), sample((5, 4, 2)))
    check_in_loops(lambda a, b: np.linalg.solve(a[0], b.T), matrices(outer=(3,)), sample((2, 4)))


def test_not_square():
    check_left_to_numpy(inverse, sample((3, 4)))
    check_left_to_numpy(lambda a, b: np.linalg.solve(a, b), matrices(), sample((3, 2)))


def test_what_came_before_is_not_lost():
    """The loops of solvers clear the flags."""

    def function(a, x):
        y = x * 1e200
        return np.linalg.inv(a), y

    check(function, matrices(), np.array([1.0, 2.0]))
    check_left_to_numpy(function, matrices(), np.array([1.0, 1e200]))
    with np.errstate(all="ignore"):
        check(function, matrices(), np.array([np.inf, 1e200]))


def test_singular_where_events_are_ignored():
    with np.errstate(all="ignore"):
        check_left_to_numpy(inverse, np.ones((3, 3)))
        check_left_to_numpy(lambda a, x: np.linalg.solve(a, x / x), np.ones((3, 3)), np.array([0.0, 1.0, 2.0]))


def test_singular_in_a_loop_to_a_tolerance():
    def function(a, x, tolerance):
        error = np.inf
        while not error < tolerance:
            step = np.linalg.solve(a, x)
            error = np.abs(step).max()
            x = x - 0.5 * (a @ step)
        return x

    check(function, matrices(), sample((4,)), 1e-6)
    check_left_to_numpy(function, np.ones((4, 4)), sample((4,)), 1e-6)


def test_nan_is_no_singular_matrix():
    a = matrices()
    a[1, 1] = np.nan
    for function in (np.linalg.inv, np.linalg.cholesky, lambda a: np.linalg.solve(a, a[0])):
        check_cases(lambda a: function(a), [(matrices(),), (a,)], lambda f, c: True)


def test_singular():
    def function(a):
        try:
            return np.linalg.inv(a), True
        except np.linalg.LinAlgError:
            return np.zeros_like(a), False

    check(function, matrices())
    check_left_to_numpy(function, np.zeros((3, 3)))
    check_left_to_numpy(inverse, np.ones((3, 3)))
    check_left_to_numpy(factors, -np.eye(3))


def test_events_and_warnings_are_numpys():
    huge = np.diag(np.full(4, 1e200))
    check_left_to_numpy(inverse, huge)
    with np.errstate(all="ignore"):
        check(inverse, huge)
    with np.errstate(over="raise"):
        check_left_to_numpy(inverse, huge)


def test_events_ignored_by_the_code():
    def function(a):
        with np.errstate(over="ignore"):
            first = np.linalg.det(a)
        return first, a.sum()

    check_left_to_numpy(function, np.diag(np.full(4, 1e200)))
    check(function, matrices())


def test_evaluated_by_numpy():
    for function in FUNCTIONS:
        call = accel.compile(function, backend="numpy", fullgraph=True)
        assert_same(function, call, matrices(), times=2)
        call = accel.compile(function, backend="numpy")
        for errors in ("warn", "ignore"):
            with np.errstate(all=errors):
                assert_same(function, call, -np.ones((3, 3)), times=2)


@pytest.mark.parametrize(
    ("mode", "dtype", "turn"), pairs(["reduced", "complete", "r", "raw"], ["float32", "complex128", "int64"], [0, 1])
)
def test_orthogonal_factors(mode, dtype, turn):
    """The gufunc leaves R in its argument, which must not be the caller's."""

    def factored(a):
        b = a * 2
        return np.linalg.qr(a, mode=mode), np.linalg.qr(b, mode=mode), b

    arrays = (matrices(dtype), sample((5, 3), dtype), np.asfortranarray(matrices(dtype)), sample((3, 5), dtype))
    for a in arrays[turn::2]:
        check(factored, a)
    check(factored, matrices(dtype, outer=(2,)))


def test_eigenvalues_by_orthogonal_factors():
    def iterated(a, steps):
        for _ in range(steps):
            q, r = np.linalg.qr(a)
            a = r @ q
        return a

    check(iterated, matrices(), 12)


def test_products_of_matrices_that_are_cast():
    """matmul casts to C order, dot keeps the order."""
    rng = np.random.default_rng(3)
    for n, m in [(7, 9), (70, 90)]:
        a, b, c = rng.random((n, m)).astype("f4"), rng.random(m), rng.random(n)
        s = rng.random((3, n, m)).astype("f4")
        for f in (np.asfortranarray(a), a, (a * 9).astype(int, order="F"), np.asfortranarray(a.astype("c16"))):
            check(lambda f, b: (f @ b, np.dot(f, b), np.matvec(f, b)), f, b)
            check(lambda f, c: (c @ f, f.T @ c, np.dot(c, f)), f, c)
        check(lambda s, c: s.transpose(0, 2, 1) @ c, s, c)
        check(lambda s, r: s.transpose(2, 1, 0) @ r, s, rng.random(3))


def test_vdot_of_what_lies_backwards():
    for n in (8, 130, 1000):
        for dtype in ("f4", "f8"):
            a, b = np.linspace(0.1, 1, n, dtype=dtype), np.linspace(0.3, 2, n, dtype=dtype)
            check(lambda a, b: np.vdot(a, b), a[::2], b[::2])
            for x, y in ((a[::-1], b), (a, b[::-2][: n // 2]), (a[::-1], b[::-1])):
                check_left_to_numpy(lambda a, b: np.vdot(a, b), x[: len(y)], y)


def test_what_linalg_raises_after_an_exit():
    """numpy.linalg's functions raise by errstate's `call`, also where the interpreter goes on within it."""
    bad = np.full((3, 3), np.nan)

    def least_squares(a):
        return np.linalg.lstsq(a, np.ones(3))

    call = accel.compile(least_squares)
    for a in (np.eye(3), bad, np.eye(3), np.full((3, 3), np.inf)):
        assert_same(least_squares, call, a)
    assert accel.stats(call)["compiled"] > 0
    for function in (np.linalg.svd, np.linalg.eigvalsh, np.linalg.inv, np.linalg.cholesky):

        def decomposed(a, function=function):
            return function(a)

        for position in range(130, 230, 20):
            with accel.config(stress_exits=position):
                call = accel.compile(decomposed, backend="numpy")
            for a in (np.eye(3), bad, np.zeros((3, 3))):
                assert_same(decomposed, call, a)
            assert accel.stats(call)["side_exits"] > 0, (function, position)
