"""What masks select and how many there are: 64 elements at a time, rows of any length, all layouts."""

import numpy as np
import pytest
from support.differential import check, layouts

SIZES = [15, 16, 17, 63, 64, 65, 127, 128, 129, 1000, 4099]
DENSITIES = [0.0, 0.02, 0.5, 0.98, 1.0]


def selected(a, m):
    return a[m], np.nonzero(m), np.flatnonzero(m), np.count_nonzero(m), m.sum(), m.mean(), (a > 0.5).mean(dtype="f8")


@pytest.mark.parametrize("density", DENSITIES)
def test_sizes(density):
    rng = np.random.default_rng(1)
    for n in SIZES:
        a = rng.random(n)
        check(selected, a, a[::-1] < density)
    for n in (0, 1, 2):
        with np.errstate(all="ignore"):
            check(lambda a, m: (a[m], np.nonzero(m), m.sum(), np.count_nonzero(m)), rng.random(n), rng.random(n) < density)


@pytest.mark.parametrize("shape", [(5, 3), (3, 70), (40, 2, 9), (2, 3, 64), (7, 1)], ids=str)
def test_layouts(shape):
    rng = np.random.default_rng(2)
    a = rng.random(shape)
    for k, density in enumerate(DENSITIES):  # each density meets every other layout
        for _, m in list(layouts(rng.random(shape) < density))[k % 2 :: 2]:
            check(lambda a, m: (a[m], np.nonzero(m), np.argwhere(m), m.sum(axis=0), m.sum(axis=-1), m.mean(axis=-1)), a, m)
            check(lambda a, m: (a[m & (a > 0.3)], np.nonzero(a > 0.9)), a, m)


def test_in_loops():
    def rings(data, radius, count):
        means = np.zeros(count)
        farthest = radius.max()
        for i in range(count):
            inside = np.logical_and(farthest * i / count <= radius, radius < farthest * (i + 1) / count)
            means[i] = data[inside].mean()
        return means

    rng = np.random.default_rng(3)
    check(rings, rng.random(3000), rng.random(3000), 20)


def test_sums_of_bools_as_floats():
    m = np.random.default_rng(4).random((37, 130)) < 0.5
    check(lambda m: (m.sum(dtype="f8"), m.sum(axis=1, dtype="f8"), m.sum(axis=0, dtype="f8"), m.mean(axis=1)), m)
    check(lambda m, w: (np.sum(m, dtype="f8", where=w), np.mean(m, where=w), np.sum(m, where=w)), m, m[::-1].copy())
    check(lambda m: (m.sum(dtype="f4"), m.sum(dtype="c16"), m.mean(dtype="f4"), m.sum(dtype="i1")), m)
    empty = m[:, :0]
    check(lambda m: (m.sum(axis=1, dtype="f8", initial=-0.0), m.sum(dtype="f8", initial=-0.0)), empty)
