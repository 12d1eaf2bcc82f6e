"""itertools.product of ranges, numpy.ndindex and numpy.ndenumerate, of lengths known at run time only."""

import itertools

import numpy as np
import pytest
from support.differential import check, check_at_exits, check_cases, check_left_to_numpy

import accel


def by_index(a, n):
    total = 0.0
    for at in np.ndindex(a.shape):
        total += a[at] * (sum(at) + n)
    return total


def by_index_of_rows(a, n):
    out = np.zeros_like(a)
    for i in np.ndindex(a.shape[:1]):
        out[i] = a[i] * n
    return out


def by_two_indices(a, n):
    out = np.zeros(a.shape)
    for i, j in np.ndindex(*a.shape[:2]):
        if (i + j) % 3 == 2:
            continue
        if i * j > 40 * n:
            break
        out[i, j] = a[i, j].sum() + i * 10 - j
    else:
        out[:] += 1
    return out


def by_element(a, n):
    """The array changes in the loop."""
    last, count = None, 0
    for at, value in np.ndenumerate(a):
        if value > 0.5:
            count += at[0]
            a[at] = -value
            a[tuple(reversed([k % a.shape[0] for k in at]))[:1]] *= 0.5
        last = value
    return last, count


def of_ranges(a, n):
    found = []
    for i, j in itertools.product(range(1, len(a), 2), range(len(a) - 1, -1, -n)):
        found.append(a[i, j].sum() + i - j)
    return found


def repeated(a, n):
    total = 0
    for i, j, k in itertools.product(range(n), repeat=3):
        total += i * j - k
    for bits in itertools.product((0, 1), repeat=3):
        total += bits[0] * 4 + bits[1] * 2 + bits[2]
    return total


def beside_others(a, n):
    out = []
    for k, (i, j) in enumerate(np.ndindex(n, len(a))):
        out.append(a[j].sum() * k - i)
    for at, v in zip(np.ndindex(n, n), a.ravel()):
        out.append(v * at[0] + at[1])
    return out


def nested(a, n):
    out = np.zeros(len(a))
    for i, j in itertools.product(range(len(a)), range(n)):
        for k in np.ndindex(j):
            out[i] += k[0] + a[i].sum()
    return out


FUNCTIONS = [by_index, by_index_of_rows, by_two_indices, by_element, of_ranges, repeated, beside_others, nested]


def matrix(n, m, seed=0):
    return np.random.default_rng(seed).standard_normal((n, m))


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_whole(function):
    cases = [(matrix(4, 5), 2), (matrix(7, 9), 3), (matrix(1, 6), 1), (matrix(12, 12), 2), (np.asfortranarray(matrix(5, 5)), 4)]
    check_cases(function, cases, lambda f, case: True)


@pytest.mark.parametrize("function", [by_index, by_two_indices, by_element, of_ranges, nested], ids=lambda f: f.__name__)
def test_exits(function):
    check_at_exits(function, matrix(4, 5), 2)


def test_other_ranks():
    for shape in [(), (3,), (2, 3, 4), (2, 0, 3)]:
        a = np.arange(np.prod(shape, dtype=int), dtype=float).reshape(shape)
        check(lambda a: sum([sum(at) * a[at] for at in np.ndindex(a.shape)]), a)
        check(lambda a: sum([sum(at) * v for at, v in np.ndenumerate(a)]), a)


def test_the_iterator_goes_on_after_the_loop():
    def first_rows(a, n):
        places = np.ndindex(a.shape)
        for i, j in places:
            if a[i, j] > n:
                break
        return next(places), next(places)

    check_left_to_numpy(first_rows, np.arange(20.0).reshape(4, 5), 7)


def test_bad_shapes():
    call = accel.compile(lambda n: list(np.ndindex(n, 2)))
    with pytest.raises(ValueError, match="negative dimensions"):
        call(-1)
    assert call(1) == [(0, 0), (0, 1)]
