"""Values that are stacked along an axis of their own, and reductions of what another one has left."""

import numpy as np
import pytest
from support.differential import check, layouts, sample


def orbits(x, y):
    return (
        np.stack([np.sin(x) * y, x + y, np.cos(y)], axis=-1),
        np.stack([x * 2, y], axis=1),
        np.stack([x[:, None] * y, x[:, None] + y], axis=-1),
        np.column_stack([np.exp(x), y]),
    )


@pytest.mark.parametrize("count", [1, 5, 2500])
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "complex128"])
def test_numbers_side_by_side(count, dtype):
    count = min(count, 300) if dtype in ("float16", "complex128") else count
    check(orbits, sample(count, dtype), sample(count, dtype, seed=1))


def tables(m, k):
    s = np.stack([np.sin(m), k * m, m.T.copy().T, m + k], axis=-1)
    middle = np.stack([m * k, np.sqrt(np.abs(m))], axis=1)
    return s, s.sum(axis=-1), middle, np.stack([m.sum(axis=0), m.max(axis=0)], axis=-1)


def test_tables_side_by_side():
    for _, m in layouts(sample((7, 9))):
        check(tables, m, 2.0)


def column_extremes(a):
    sums = a.sum(axis=0)
    return sums.max(), sums.argmax(), a.mean(axis=0).min(), np.linalg.norm(a, 1), (~a.any(axis=0)).any()


def planes(a):
    return a.sum(axis=1).max(axis=0), a.max(axis=0).sum(), (a + a).sum(axis=(0, 1)).min(), a.argmin(axis=0).max()


@pytest.mark.parametrize("dtype", ["float64", "int8"])
def test_reductions_of_columns(dtype):
    """The sums of floats have NumPy's order in each layout; those of integers have the same values in all orders."""
    for shape in ((1, 1), (3, 5), (40, 1100), (2000, 3)):
        for name, a in layouts(sample(shape, dtype)):
            if name == "F" or dtype == "float64" and (name == "C" or shape == (40, 1100) and name != "strided"):
                check(column_extremes, a, times=1)
    for name, a in layouts(sample((5, 6, 7), dtype)) if dtype == "float64" else ():
        if name != "strided":  # "padded" has strides, too
            check(planes, a, times=1)
    check(planes, sample((3, 4, 1500), dtype))


def distances(p):
    """Few elements become one: no memory in between."""
    d = p[:, :, None] - p[:, None, :]
    return np.sqrt((d**2).sum(axis=0)).max(), (p[:3] ** 2).sum(axis=0).max()


def test_few_rows():
    check(distances, sample((3, 40)))
