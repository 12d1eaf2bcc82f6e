"""Programs of many loop nests whose inner loops are short: nests have copies for the extents of the first call."""

import numpy as np
import pytest
from support.differential import check, check_sizes

import accel


def summary(x, weights, rounds):
    """Sums of rows, of columns and of masks, in loops and branches."""
    total = np.zeros(x.shape[1], x.dtype)
    nearest = np.zeros(len(x), int)
    for k in range(rounds):
        y = x * weights + k
        nearest = (abs(y)).argmin(axis=1)
        for c in range(2):
            chosen = y[nearest == c]
            total = total + chosen.sum(axis=0)
            if len(chosen) > 3:
                total += chosen[:3].sum(axis=0)
        rows = y.sum(axis=1)
        if rows.max() > 100:
            x = x / 2
        x = x + rows[:, None] * 0
    return total, nearest, x


def arguments(dtype, n, m):
    rng = np.random.default_rng(n + m)
    return (10 * rng.standard_normal((n, m))).astype(dtype), np.ones(m, dtype), 3


@pytest.mark.parametrize(("dtype", "first"), [("float32", 2), ("complex128", 3), ("float32", 16), ("complex128", 16)])
def test_other_extents_than_at_first(dtype, first):
    cases = [arguments(dtype, 3000, first), *[arguments(dtype, n, m) for n, m in [(3000, 2), (700, 3), (40, 16), (500, 40)]]]
    check_sizes(summary, *cases)


def test_copies_are_called_for_their_extents():
    inputs = arguments("float64", 4001, 3)
    with accel.config(keep_texts=True):
        found = accel.explain(accel.compile(summary))(*inputs)
    assert " == 3) nest" in found.source
    assert "variant (s" in found.program and "nests (" in found.program


def test_work_of_strided_copies():
    """Work that decides about threads counts lines of memory, not elements."""

    def planes(x, k):
        x[:, :, k] = x[:, :, 0]
        return x

    with accel.config(keep_texts=True):
        found = accel.explain(accel.compile(planes))(np.zeros((30, 40, 9)), 1)
    assert "work [15*s0*s1]" in found.program


def test_an_extent_that_only_memory_has():
    """The memory of a temporary is provided at the start: its extents are known there even if nothing else names them."""

    def function(b, d):
        d = -d
        for _ in range(len(d)):
            b[-1] += d[0, 1]

    check(function, np.arange(20.0), np.arange(60.0).reshape(20, 3))
