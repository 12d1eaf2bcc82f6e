"""numpy.linalg inside compiled functions: its gufuncs are called as they are, under the errstate that its code sets."""

import numpy as np
import pytest
from support.differential import check, check_left_to_numpy, sample
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
@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128"])
def test_results(function, dtype):
    check(function, matrices(dtype))


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

    check(function, matrices(), 5)


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
