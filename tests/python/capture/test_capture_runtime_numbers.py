"""Bounds of loops and slices that are read from arrays or computed at run time."""

import numpy as np
import pytest
from support.compiled import facts
from support.differential import check, check_at_exits, check_left_to_numpy, sample
from support.outcome import assert_same

import accel

X = sample(12)
ENDS = np.array([0, 3, 3, 7, 12])


def rows_of(ends, x):
    """Compressed rows: both bounds of the inner loop are elements."""
    sums = np.zeros(len(ends) - 1)
    for i in range(len(ends) - 1):
        for k in range(ends[i], ends[i + 1]):
            sums[i] += x[k]
    return sums


def down_to(ends, x):
    total = 0.0
    for i in range(len(ends)):
        for k in range(len(x) - 1, ends[i] - 1, -1):
            total += x[k] * k
    return total


def triangle(n):
    """The round of the outer loop bounds the inner one, and that one the innermost."""
    count = 0
    for i in range(n):
        for j in range(i + 1):
            for k in range(j):
                count += k
    return count


def crossed_out(most):
    left = np.ones(most + 1, dtype=bool)
    for p in range(2, int(most**0.5) + 1):
        if left[p]:
            left[p * p :: p] = False
    return left


def in_steps(x, limit):
    """The step of a range doubles."""
    size = 1
    while size <= limit:
        for start in range(0, len(x), 2 * size):
            x[start : start + size] += x[start + size : start + 2 * size].sum()
        size *= 2
    return x


def backwards_in_steps(x, steps):
    seen = np.zeros(len(x), dtype=int)
    for i in range(len(steps)):
        for k in range(len(x) - 1, -1, -int(steps[i])):
            seen[k] += k
    return seen


def sliced_in_steps(x, steps):
    totals = np.zeros(len(steps))
    for i in range(len(steps)):
        totals[i] = x[:: steps[i]].sum() + x[steps[i] :: steps[i]].sum() + x[2 : steps[i] : steps[i]].sum()
        x[steps[i] : -1 : steps[i]] *= 0.5
    return totals


def eliminated(a):
    """What is left of a row and of a column: np.outer gets views or copies of them."""
    for k in range(len(a)):
        a[k + 1 :, k] /= a[k, k] + 3
        a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])
    return a


def rolled(a, shifts, weights):
    """Elements of arrays as arguments of NumPy's Python code."""
    total = np.zeros(a.shape)
    for i, shift, weight in zip(range(5), shifts, weights):
        total += weight * np.roll(np.roll(a, shift, axis=1), i - 2, axis=0)
    return total


def padded(a, width):
    return np.pad(a, width, mode="edge"), np.pad(a[0], (width, 2 * width))


def grids(x, count):
    """NumPy's own code branches on what is computed."""
    rows, columns = np.ogrid[-1.5 : 1.5 : count * 1j, 0 : count : int(x[0]) * 1j]
    return rows, columns, np.mgrid[0:count:2, 1:2:3j]


def of_small_dtype(ends, x):
    total = 0.0
    for i in range(len(ends) - 1):
        for k in reversed(range(ends[i], ends[i + 1])):
            total = total * 0.5 + x[k]
    return total


@pytest.mark.parametrize(
    "function, arguments",
    [
        (rows_of, (ENDS, X)),
        (down_to, (ENDS, X)),
        (triangle, (6,)),
        (crossed_out, (40,)),
        (in_steps, (sample(16), 8)),
        (backwards_in_steps, (X, np.array([1, 3, 5, 12, 40]))),
        (sliced_in_steps, (X, np.array([1, 3, 5, 12, 40]))),
        (eliminated, (sample((5, 5)),)),
        (eliminated, (np.asfortranarray(sample((5, 7))),)),
        (rolled, (sample((4, 6)), np.array([0, 1, -2, 7, -13]), np.array([0.5, 2.0, 1.0, -1.0, 0.25]))),
        (padded, (sample((3, 4)), 2)),
        (grids, (np.array([5]), 4)),
        (grids, (np.array([1]), 1)),
        (of_small_dtype, (ENDS.astype(np.int16), X)),
        (of_small_dtype, (ENDS.astype(np.uint8), X)),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_bounds_from_data(function, arguments):
    check_at_exits(function, *arguments)


def test_one_version_for_all_bounds():
    call = check(rows_of, ENDS, X)
    for ends in [np.array([0, 0]), np.array([5, 2, 9]), np.array([12, 0])]:
        assert_same(rows_of, call, ends, X, times=1)
    assert facts(call)["recompiles"] == facts(call)["side_exits"] == 0


@pytest.mark.parametrize("ends", [[0, 2**62], [-(2**63), 2**63 - 1], [2**46 - 1, 2**46 + 1], [-(2**46) - 2, -(2**46)]])
def test_huge_bounds(ends):
    """The interpreter has them: their differences are no int64."""

    def first(ends):
        seen = 0
        for k in range(ends[0], ends[1]):
            seen += 1
            if seen == 3:
                return k
        return seen

    call = check(first, np.array([3, 9]))
    assert_same(first, call, np.array(ends), times=2)
    check_left_to_numpy(first, np.array(ends))


@pytest.mark.parametrize("step", [0, -1, -3])
def test_steps_of_another_sign(step):
    def function(x, step):
        n = int(step[0])
        total = x[1:9:n].sum()
        for k in range(1, 9, n):
            total += x[k]
        return total

    call = check(function, X, np.array([2]))
    assert_same(function, call, X, np.array([step]), times=2)
    check_left_to_numpy(function, X, np.array([step]))


def test_sizes_in_arrays():
    """An element of an array that was made of a size is that size: one version for all of them."""
    call = check(padded, sample((3, 4)), 1)
    for width in [3, 5, 2]:
        assert_same(padded, call, sample((3, 4)), width, times=1)
    assert facts(call)["recompiles"] == facts(call)["side_exits"] == 0


def test_what_may_be_a_view():
    """Whether ravel() gives a view is known at run time only: here NumPy's own code stores to it, or to what it shows."""

    def function(a):
        for k in range(len(a)):
            np.put(a[k:, k], [0], 7.0)
            np.copyto(a[k, k:], np.ravel(a[k:, k])[::-1])
        return a

    check_left_to_numpy(function, sample((4, 4)))


def stencil_of_empty_rounds(a, b, c, k):
    for _ in c:
        c[1:-1] = 0.5 * (a[2:] + a[:-2])
    for x in range(0, len(b), 2):
        c -= a
        b[x, 0] += 1
    return a[k:]


@pytest.mark.parametrize("sizes", [(0, 3), (3, 1, 0), (1, 0, 3)])
def test_what_is_learnt_of_a_size_changes_which_sizes_are_met(sizes):
    call = accel.compile(stencil_of_empty_rounds)
    for n in sizes:
        assert_same(stencil_of_empty_rounds, call, np.ones(n), np.ones((n, 3)), np.ones(n), 5)
    assert facts(call)["compiled"] > 0


def named_on_some_ways(a, c, s, k):
    """The bound of the last loop becomes a run-time extent on each way to it."""
    n = 0
    for _ in range(c):
        for ey in (0.5, 1.5):
            for _ in range(a):
                s += 0.25
            for _ in range(n):
                t = s if ey == min(k, 3) else s
        n += 1
    return t, n


def test_a_bound_with_a_name_on_some_ways():
    check(named_on_some_ways, 5, 4, 1, 2)
    check(named_on_some_ways, 0, 2, 1, 2)
