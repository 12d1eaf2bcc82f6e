"""Arrays whose size changes from round to round of a loop: one version serves all sizes."""

import numpy as np
import pytest
from support.differential import check, check_at_exits, check_left_to_numpy, check_sizes

BACKENDS = ["native", "numpy"]


def backward(v, p, q):
    while len(v) > 1:
        v = v[1:] * p + v[:-1] * q
    return v[0]


def joined(n):
    v = np.zeros(1)
    for i in range(n):
        v = np.concatenate([v, v + i])
    return v


def rows_added(n):
    v = np.zeros((0, 2))
    for i in range(n):
        v = np.concatenate([v, np.full((1, 2), float(i))])
    return v, v.shape


def above_mean(v, k):
    v = v * 1.0
    while len(v) > k:
        v = v[v > v.mean()]
    return v


def triangle(n, m):
    total = 0.0
    for j in range(m):
        v = np.zeros(n + 1) + j
        for _ in range(j):
            v = np.cos(v[1:]) + v[:-1]
        total += v.sum()
    return total


def two_that_shrink(n):
    v, w = np.ones(n), np.ones((n, 3))
    for _ in range(n - 2):
        v = v[1:] + 1
        w = w[:-1] * 2 + v[:, None]
    return v, w


def stored_to_while_it_grows(n):
    v = np.arange(3.0)
    for i in range(n):
        v[i] = -1.0
        v = np.concatenate([v, v[:2]])
        v[-1] += i
    return v


def two_names(n):
    """The other name keeps the array of the round before."""
    v = w = np.ones(2)
    for i in range(n):
        w = v
        v = np.concatenate([v, [float(i)]])
        w[0] += 1
    return v, w, v is w


def padded(n):
    a = np.ones((1, 1))
    for _ in range(n):
        b = np.zeros((a.shape[0] + 2, a.shape[1] + 2))
        b[1:-1, 1:-1] = a
        a = b + 1
    return a


def kept_in_a_tuple(n):
    pair = (np.zeros(1), 0)
    for _ in range(n):
        v, count = pair
        pair = (np.append(v, count), count + 1)
    return pair


@pytest.mark.parametrize("backend", BACKENDS)
def test_sizes_that_change(backend):
    spread = [(np.arange(n + 2.0), 0.4, 0.6) for n in (5, 30, 0, 200)]
    check_sizes(backward, *spread, backend=backend)
    check_sizes(joined, (3,), (9,), (0,), (1,), backend=backend)
    check_sizes(rows_added, (3,), (20,), (0,), (1,), backend=backend)
    check_sizes(two_that_shrink, (5,), (40,), (3,), backend=backend)
    check_sizes(padded, (3,), (9,), (0,), (1,), backend=backend)
    check_sizes(kept_in_a_tuple, (3,), (9,), (0,), (1,), backend=backend)


@pytest.mark.parametrize("backend", BACKENDS)
def test_sizes_found_at_run_time(backend):
    check_sizes(above_mean, *[(np.random.default_rng(n).random(n), 2) for n in (50, 300, 3)], backend=backend)


def test_nested_loops():
    for case in [(10, 5), (20, 9), (3, 2)]:
        check(triangle, *case)


def test_names_of_arrays_that_grow():
    for n in (3, 9, 1):
        check(stored_to_while_it_grows, n)
        check(two_names, n)


def test_growing_left_at_any_instruction():
    check_at_exits(backward, np.arange(6.0), 0.4, 0.6)
    check_at_exits(joined, 3)
    check_at_exits(two_that_shrink, 5)


def test_errors_in_the_last_round():
    """The arrays get too short for the index."""

    def function(v, n):
        total = 0.0
        for _ in range(n):
            v = v[1:] + 1
            total += v[2]
        return total, v

    check(function, np.arange(20.0), 15)
    check_left_to_numpy(function, np.arange(20.0), 19)


def ranges_of_floats(n):
    """Whole bounds and steps that are floats."""
    total = 0.0
    for i in range(n - 1, -1, -1):
        total += np.sum(np.arange(i, -i - 1, -2.0)) + np.sum(np.arange(0.0, i, 3))
    return total


def test_ranges_of_floats():
    check_sizes(ranges_of_floats, (5,), (40,), (1,))
    check_left_to_numpy(lambda n: np.arange(-0.0, n) * np.ones(n), 3)


def selected(z, c, n):
    for _ in range(n):
        z = z * z + c
        left = abs(z) <= 2
        z, c = z[left], c[left]
    return z, c


def escape_of_those_left(c, n):
    z = np.zeros(c.shape, complex)
    count = np.zeros(len(c), int)
    place = np.arange(len(c))
    for i in range(n):
        if not len(z):
            break
        np.multiply(z, z, z)
        np.add(z, c, z)
        out = abs(z) > 2
        count[place[out]] = i + 1
        np.logical_not(out, out)
        z, c, place = z[out], c[out], place[out]
    return z, c, count


def test_arrays_that_are_selected_round_by_round():
    c = (np.linspace(-2, 1, 9) + 1j * np.linspace(-1, 1, 7)[:, None]).ravel()
    check(selected, c * 0, c, 30)
    check(escape_of_those_left, c, 30)
    check(escape_of_those_left, c + 10, 30)
    check(lambda z: [z := z[z < 1 + k] * 2 for k in range(20)][-1], np.linspace(0, 1, 20))


def test_arrays_that_are_selected_while_a_list_grows():
    def history(z, n):
        sizes = []
        for k in range(n):
            z = z * 1.5
            z = z[z < 50]
            sizes.append(float(k))
        return z, np.array(sizes)

    check(history, np.arange(1.0, 10), 20)
