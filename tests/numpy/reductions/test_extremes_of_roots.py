"""argmin and argmax of square roots: told from the squares where those differ enough, else from the roots, as NumPy tells
them.
"""

import numpy as np
import pytest
from support.compiled import facts
from support.differential import check, check_cases, check_left_to_numpy
from support.outcome import assert_same

import accel


def nearest(points, centres):
    return np.linalg.norm(points[:, None, :] - centres, axis=-1).argmin(axis=1)


def farthest(points, centres):
    return np.linalg.norm(points[:, None, :] - centres, axis=-1).argmax(axis=1)


def least_root(x):
    return np.sqrt(x).argmin(axis=1)


def greatest_root(x):
    return np.sqrt(x).argmax(axis=1)


def least_root_of_columns(x):
    return np.sqrt(x).argmin(axis=0)


def least_root_of_all(x):
    return np.sqrt(x).argmin()


FUNCTIONS = [least_root, greatest_root, least_root_of_columns, least_root_of_all]


def neighbours(value, dtype, steps):
    """Numbers `steps` units in the last place away from value."""
    bits = np.dtype(dtype).str.replace("f", "i")
    return (np.full(len(steps), value, dtype).view(bits) + np.asarray(steps)).astype(bits).view(dtype)


def near_ties(rng, shape, dtype):
    """Squares at most 40 units apart, around numbers where the distance of neighbours changes."""
    tiny = np.finfo(dtype).tiny
    values = [1.0, 4.0, 2.0, 1e-3, 3.7e5, tiny * 4, np.finfo(dtype).max / 2]
    rows = [neighbours(rng.choice(values), dtype, rng.integers(-40, 41, shape[1])) for _ in range(shape[0])]
    return np.array(rows, dtype).reshape(shape)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("columns", [1, 2, 3, 7, 8, 9, 50, 200])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_near_ties(function, columns, dtype):
    rng = np.random.default_rng(columns)
    for rows in (1, 5, 16, 600):
        check(function, near_ties(rng, (rows, columns), dtype))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("columns", [2, 7, 50])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_special_squares(function, columns, dtype):
    rng = np.random.default_rng(columns)
    smallest, tiny = np.finfo(dtype).smallest_subnormal, np.finfo(dtype).tiny
    special = np.array([0.0, -0.0, np.inf, np.nan, smallest, 5 * smallest, tiny, tiny - smallest, 1.0], dtype)
    for rows in (1, 20, 700):
        for share in (0.02, 0.5, 1.0):
            x = rng.random((rows, columns)).astype(dtype)
            chosen = rng.random(x.shape) < share
            x[chosen] = rng.choice(special, chosen.sum())
            check(function, x)


@pytest.mark.parametrize("columns", [2, 50])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_negative_squares_warn(function, columns):
    rng = np.random.default_rng(3)
    call = accel.compile(function)
    for rows in (1, 20, 700):
        for first in (0, -1):
            x = rng.random((rows, columns))
            assert_same(function, call, x)
            x[0, 0] = np.nan
            x[-1, first] = -1.0
            assert_same(function, call, x)
    assert facts(call)["compiled"] > 0


@pytest.mark.parametrize("function", [nearest, farthest])
@pytest.mark.parametrize(("count", "dims"), [(1, 1), (2, 2), (3, 2), (40, 3), (300, 2), (5, 20)])
def test_points_between_centres(function, count, dims):
    """On a grid most distances tie, or nearly."""
    rng = np.random.default_rng(count)
    wide, single = [], []
    for points in (513, 0, 1, 15, 17, 511, 512, 2000):
        grid = rng.integers(0, 4, (points, dims)) / 3
        wide.append((grid, rng.integers(0, 4, (count, dims))))
        single.append((grid.astype("float32")[::-1], (rng.integers(0, 4, (count, dims)) / 3).astype("float32")))
    check_cases(function, wide, lambda function, case: True)
    check_cases(function, single, lambda function, case: True)


def test_one_compile_for_all_sizes():
    call = accel.compile(nearest, fullgraph=True)
    rng = np.random.default_rng(0)
    for points, count in ((100, 2), (3, 2), (1000, 50), (5, 700), (0, 3), (4000, 9)):
        assert_same(nearest, call, rng.random((points, 2)), rng.random((count, 2)))
    assert facts(call)["recompiles"] == 0


def least_of_rows(x):
    return (x * 2).argmin(axis=1), (x * 2).argmax(axis=1)


@pytest.mark.parametrize("dtype", ["uint16", "int64", "float64", "float16"])
def test_extremes_side_by_side(dtype):
    rng = np.random.default_rng(1)
    for rows, columns in ((1, 40), (40, 1), (700, 3), (700, 40)):
        x = rng.integers(0, 20, (columns, rows)).astype(dtype)
        check(least_of_rows, x.T)
        if np.dtype(dtype).kind == "f":
            x[rng.integers(0, columns), rng.integers(0, rows, rows // 5)] = np.nan
            check_left_to_numpy(least_of_rows, x.T)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("columns", [4_194_304, 4_200_001])
@pytest.mark.thorough
def test_large_results_are_stored_past_the_caches(columns, threads):
    x = np.random.default_rng(0).random((3, columns))
    x[:, ::7] = 0.5
    with accel.config(threads=threads):
        check(least_root_of_columns, x, times=1)
