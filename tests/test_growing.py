"""Arrays whose size changes from round to round of a loop, and lists that grow in one: one version serves all sizes."""

import numpy as np
import pytest
from support.compiled import compile_count, facts
from support.differential import check, check_at_exits, check_left_to_numpy
from support.outcome import assert_same

import accel

BACKENDS = ["native", "numpy"]


def check_sizes(function, *cases, compiles=1, backend="native"):
    """Captured whole, with so many versions for all cases."""
    call = accel.compile(function, fullgraph=True, backend=backend)
    for case in (*cases, cases[0]):
        assert_same(function, call, *case, times=1)
    found = facts(call)
    assert found["interpreted"] == found["side_exits"] == 0, f"{found}\n{accel.explain(call)(*cases[0])}"[:3000]
    assert compile_count(call) == compiles, accel.explain(call)(*cases[0])
    return call


# Arrays.


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


# Lists.


def halves(n):
    xs = []
    for i in range(n):
        xs.append(i * 0.5)
    return xs


def norms_of_rows(a):
    return np.array([np.sqrt(np.sum(row**2)) for row in a])


def peaks(x):
    found = []
    for i in range(1, len(x) - 1):
        if x[i - 1] < x[i] > x[i + 1]:
            found.append(i)
    return found, len(found)


def heights(x):
    found = []
    for i in range(1, len(x) - 1):
        if x[i - 1] < x[i] > x[i + 1]:
            found.append(x[i])
    return np.array(found), found


def turned(angles):
    matrices = []
    for angle in angles:
        c, s = np.cos(angle), np.sin(angle)
        matrices.append(np.array([[c, -s], [s, c]]))
    return np.array(matrices), matrices


def until_long(n):
    xs = [1.0]
    while len(xs) < n:
        xs.append(xs[-1] * 1.5 + xs[len(xs) // 2])
    return xs


def fibonacci(n):
    xs = [1, 1]
    for _ in range(n):
        xs.append(xs[-1] + xs[-2])
    return xs


def read_back(n, m):
    out = []
    for i in range(n):
        for j in range(m):
            if (i * j) % 3 == 1:
                out.append(i * j)
    total = 0
    for v in out:
        total += v
    for i, v in enumerate(out):
        total += i * v
    return out, total


def several(n):
    a, b, c = [], [], [True]
    for i in range(n):
        a.append(i)
        b.append(float(i))
        c.append(i > 2)
        if i % 2:
            a.append(-i)
    return a, b, c, a is b, bool(a), [a, a], {"b": b}


def of_each_kind(n):
    python, numpy, small, complexes = [], [], [], []
    for i in range(n):
        python.append(i + 0.5)
        numpy.append(np.float64(i) * 2)
        small.append(np.float32(i) / np.float32(3))
        complexes.append(complex(i, -i))
    return python, numpy, small, complexes, [type(x) for x in (python[0], numpy[0])] if n > 0 else None


def means_of_parts(points, labels, centres):
    for _ in range(3):
        moved = np.array([points[labels == k].mean(axis=0) for k in range(len(centres))])
        if np.allclose(moved, centres):
            break
        centres = moved
    return centres


def put_side_by_side(n, k):
    parts = []
    for i in range(n):
        parts.append(np.arange(3.0) * i + k)
    return np.concatenate(parts)


def normal(n):
    return np.random.default_rng(n).standard_normal(n)


@pytest.mark.parametrize("backend", BACKENDS)
def test_lists_of_any_length(backend):
    sizes = [(n,) for n in (5, 40, 0, 1, 200)]
    check_sizes(halves, *sizes, backend=backend)
    check_sizes(norms_of_rows, *[(normal(3 * n).reshape(n, 3),) for n in (5, 30, 1)], backend=backend)
    check_sizes(peaks, *[(normal(n),) for n in (10, 100, 3, 300)], backend=backend)
    check_sizes(heights, *[(normal(n),) for n in (10, 100, 3, 300)], backend=backend)
    check_sizes(turned, *[(normal(n),) for n in (3, 40, 1)], backend=backend)
    check_sizes(until_long, (5,), (40,), (2,), backend=backend)
    check_sizes(fibonacci, (5,), (40,), (0,), (1,), backend=backend)
    check_sizes(read_back, (5, 5), (11, 14), (2, 2), (0, 3), backend=backend)
    check_sizes(several, (5,), (40,), (0,), (1,), backend=backend)
    check_sizes(of_each_kind, (5,), (40,), backend=backend)
    check_sizes(put_side_by_side, (3, 1.0), (40, 2.0), (1, 3.0), backend=backend)


def test_an_array_of_parts():
    points = np.random.default_rng(0).random((60, 2))
    labels = np.arange(60) % 4
    check_sizes(means_of_parts, *[(points, labels, points[:k].copy()) for k in (2, 4, 3)])


@pytest.mark.parametrize(
    "function, case",
    [
        (halves, (4,)),
        (peaks, (normal(8),)),
        (turned, (normal(3),)),
        (fibonacci, (4,)),
        (several, (4,)),
        (read_back, (3, 4)),
    ],
)
def test_lists_left_at_any_instruction(function, case):
    check_at_exits(function, *case)


def test_ints_that_leave_int64():
    check_left_to_numpy(fibonacci, 120)


def test_an_empty_list_is_an_array_of_floats():
    def ints(n):
        return np.array([i for i in range(n)])

    def rows(n):
        return np.array([np.ones(2) * i for i in range(n)])

    for function in (ints, rows):
        for n in (4, 0, 30):
            check_left_to_numpy(function, n)


def test_index_out_of_range():
    def function(n, k):
        xs = []
        for i in range(n):
            xs.append(i * 0.5)
        return xs[k]

    for n, k in [(5, 4), (30, -1), (9, -9)]:
        check(function, n, k)
    for n, k in [(5, 5), (5, -6), (0, 0)]:
        check_left_to_numpy(function, n, k)


# Names of one list or array. What cannot be told apart is left to the interpreter; the result is NumPy's either way.


def changed_after_it_was_appended(n):
    rows, row = [], np.zeros(3)
    for i in range(n):
        row[0] = i
        rows.append(row)
    return rows, rows[0] is rows[-1]


def appended_twice(n):
    rows = []
    for i in range(n):
        row = np.full(2, float(i))
        rows.append(row)
        rows.append(row)
    rows[0][0] = 9.0
    return rows, rows[0] is rows[1]


def appended_and_kept(n):
    rows, last = [], None
    for i in range(n):
        last = np.full(2, float(i))
        rows.append(last)
    last[0] = -1.0
    return rows, last


def changed_next_round(n):
    rows, row = [], np.zeros(2)
    for i in range(n):
        row += i
        row = row + 1
        rows.append(row)
    return rows


def views_of_one_array(a):
    rows = []
    for row in a:
        rows.append(row)
    a[0, 0] = 7.0
    return rows


def two_names_of_a_list(n):
    xs = ys = [0.5]
    for i in range(n):
        xs.append(i * 1.0)
        if i == 2:
            ys.append(-1.0)
    return xs, ys, xs is ys


def list_of_the_caller(xs, n):
    for i in range(n):
        xs.append(i * 1.0)
    return len(xs)


def grows_while_it_is_read(n):
    xs = [1.0]
    for x in xs:
        if len(xs) < n:
            xs.append(x + 1)
    return xs


def begun_anew(n):
    total, xs = 0, []
    for i in range(n):
        if i % 4 == 0:
            xs = []
        xs.append(i)
        total += len(xs)
    return xs, total


def of_several_types(n):
    xs = []
    for i in range(n):
        xs.append(i if i % 2 else i * 0.5)
    return xs


def of_several_shapes(n):
    xs = []
    for i in range(n):
        xs.append(np.ones(i))
    return xs


def changed_otherwise(n):
    xs = [3, 1]
    for i in range(n):
        xs.append((i * 7) % 5)
        if len(xs) > 6:
            xs.pop(0)
    xs.sort()
    xs[0] = 99
    del xs[1]
    return xs, xs[1:], xs + [1], 99 in xs, sorted(xs), sum(xs), max(xs), tuple(xs)


def compared(n):
    xs, ys = [], []
    for i in range(n):
        xs.append(float(i))
        ys.append(float(i))
    return xs == ys, xs != ys, 2.0 in xs, xs.index(1.0), ys.count(1.0)


def unpacked(n):
    first, *others = [i * 0.5 for i in range(n)]
    return first, others


def nested_lists(n):
    rows = []
    for i in range(n):
        row = []
        for j in range(i):
            row.append(i * j)
        rows.append(row)
    return rows


def passed_on(n):
    def add(target, value):
        target.append(value)
        return len(target)

    xs, lengths = [], []
    for i in range(n):
        lengths.append(add(xs, i * 0.25))
    return xs, lengths


def in_a_closure(n):
    xs = []

    def add(value):
        xs.append(value)

    for i in range(n):
        add(i * 0.25)
    return xs


def two_loops(n, m):
    xs = []
    for i in range(n):
        xs.append(i)
    for i in range(m):
        xs.append(xs[i] + 1)
    ys = [x * 2 for x in xs]
    return xs, ys


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    "function, cases",
    [
        (changed_after_it_was_appended, [(4,), (30,), (1,)]),
        (appended_twice, [(4,), (30,), (1,)]),
        (appended_and_kept, [(4,), (30,), (1,)]),
        (changed_next_round, [(4,), (30,), (0,)]),
        (views_of_one_array, [(np.ones((4, 2)),), (np.ones((30, 2)),)]),
        (two_names_of_a_list, [(4,), (30,), (0,)]),
        (list_of_the_caller, [([], 4), ([1.0], 30), ([], 0)]),
        (grows_while_it_is_read, [(4,), (30,), (0,)]),
        (begun_anew, [(4,), (30,), (0,)]),
        (of_several_types, [(4,), (30,), (0,)]),
        (of_several_shapes, [(4,), (14,), (0,)]),
        (changed_otherwise, [(4,), (30,), (0,)]),
        (compared, [(4,), (30,), (2,)]),
        (unpacked, [(4,), (20,), (1,)]),
        (nested_lists, [(4,), (14,), (0,)]),
        (passed_on, [(4,), (30,), (0,)]),
        (in_a_closure, [(4,), (30,), (0,)]),
        (two_loops, [(4, 2), (30, 9), (1, 0), (2, 3)]),
    ],
)
def test_names_and_other_uses(function, cases, backend):
    call = accel.compile(function, backend=backend)
    for case in (*cases, *reversed(cases)):
        assert_same(function, call, *case, times=1)


@pytest.mark.parametrize("exit", [1, 2, 3, 5, 8, 13, 21, 34])
def test_names_left_at_an_exit(exit):
    for function in (appended_twice, appended_and_kept, changed_next_round, two_names_of_a_list, begun_anew, passed_on):
        with accel.config(stress_exits=exit):
            call = accel.compile(function, backend="numpy")
            assert_same(function, call, 4, times=2)
