"""Membership and equality of numbers that are computed at run time, alone and in tuples; ranges where NumPy takes sequences."""

import numpy as np
import pytest
from support.differential import check, check_cases, check_left_to_numpy

NAN = float("nan")


def counted(p, k):
    count = 0
    for i in range(p.shape[0]):
        for j in range(p.shape[1]):
            if p[i, j] in [2, 5, 6, 9]:
                count += 1
            if int(p[i, j]) in (1, 3):
                count += 2
            if p[i, j] not in (7, NAN, k, "a"):
                count += 4
            if p[i, j] in {0, 4, 11}:
                count += 8
            if (i, j) in [(0, 1), (2, 2)] or (i, int(p[i, j])) in ((0, 1), (2, 6)):
                count += 32
            if (i, int(p[i, j])) == (1, k) or (i, p[i, j]) != (i, k + 1):
                count += 16
    return count


def in_rows(p, k):
    found = []
    for row in p:
        found.append(k in row)
        found.append(k + 1 not in row)
    return found, p[0, 0] in (p[0, 0],), [p[0, 1], k] == [p[-1, 0], k]


def walk(p, k):
    place = (0, 0)
    steps = 0
    while place != (p.shape[0] - 1, k):
        i, j = place
        place = (i + 1, j) if i < p.shape[0] - 1 and p[i, j] in (0, 1, 2, 3, 4, 8) else (i, j + 1)
        if place[1] == p.shape[1]:
            break
        steps += 1
    return steps, place


@pytest.mark.parametrize("function", [counted, in_rows, walk], ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", ["int64", "float64", "int8"])
def test_whole(function, dtype):
    p = np.arange(12).astype(dtype).reshape(4, 3)
    check_cases(function, [(p, 2), (p, 1), (p[::-1] % 5, 2)], lambda f, case: True)


def test_nan_in_data():
    check(in_rows, np.array([[NAN, 2.0], [np.inf, 5.0]]), 2)


def picked(x, y):
    x[range(len(y)), y] -= 1
    return x[range(2)], x[range(len(y)), y], x[:, range(0, x.shape[1], 2)], x[range(len(y) - 1, -1, -1)]


def filled(x, y):
    d = np.zeros((len(y) + 1, len(y) + 1))
    d[:, 0] = range(len(y) + 1)
    d[0] = range(len(y), -1, -1)
    return d, np.array(range(3)), np.array(range(len(y)), float), np.asarray(range(0)), np.sum(range(len(y))), x + range(3)


def spread(x, y):
    return np.meshgrid(np.array(range(len(y))), range(3)), np.array([range(3), range(len(y) - 1, len(y) + 2)])


@pytest.mark.parametrize("function", [picked, filled, spread], ids=lambda f: f.__name__)
def test_ranges_as_arrays(function):
    x = np.arange(12.0).reshape(4, 3)
    check_cases(function, [(x.copy(), np.array([0, 2, 1, 1])), (x.copy(), np.array([2, 0, 1, 0]))], lambda f, case: True)


def test_ranges_that_numpy_rejects():
    check_left_to_numpy(lambda x: x[range(5)], np.arange(3.0))


def sets_in_order(x):
    filled = set()
    for v in (16, 1, 2, 3, 4, 8, 40):
        filled.add(v)
    filled.discard(2)
    literal = {16, 1, 2, 3, 4}
    return x * 2, list(filled), [v for v in literal], list(literal | {32, 0}), sorted(literal), sum(filled)


def test_sets_have_pythons_order():
    """Which depends on how they have come about."""
    check_left_to_numpy(sets_in_order, np.ones(3))
    check(lambda x: (x * 2, [x[k] for k in {2, 0, 1}], len({5, 16, 1}), sorted({16, 3})), np.arange(3.0))
