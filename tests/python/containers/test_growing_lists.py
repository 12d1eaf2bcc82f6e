"""Lists that grow in a loop, and lists of a run-time number of items: one version serves all lengths."""

import numpy as np
import pytest
from support.compiled import facts
from support.differential import check, check_at_exits, check_left_to_numpy, check_sizes, sample
from support.outcome import assert_same

import accel

BACKENDS = ["native", "numpy"]


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


@pytest.mark.thorough
def test_a_loop_that_is_left_at_once():
    """The inner list is another one after each round: the way back leads to another version of the loop."""

    def function(n, a):
        xs, ys = [], [1.0]
        zs = ys
        for i in range(n):
            zs.append(0.5)
            for _ in range(len(a)):
                xs.append(i * 2)
                zs = []
        return xs, ys, zs, ys is zs

    for n, m in [(4, 3), (9, 5), (0, 3), (1, 2), (3, 0)]:
        check_left_to_numpy(function, n, np.arange(m) * 0.5)


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


# More uses of such lists.


def counted(values, n):
    counts = [0] * n
    for v in values:
        counts[v] += 1
    return counts


def grown_counts(values):
    counts = [0, 0]
    for i in range(len(values)):
        if values[i] >= len(counts):
            counts.append(0)
        counts[values[i] % 2] += 1
        counts[-1] -= 1
    return counts


def extended(n):
    xs = []
    for i in range(n):
        xs += [i]
        xs.extend((i, i + 1))
        xs.extend([-i])
    return xs


def as_operands(n):
    xs = [i * 0.5 for i in range(n)]
    a = np.zeros(n)
    a[:] = xs
    a[1:] += xs[0]
    return a + xs, xs * np.ones(n), np.dot(xs, a), np.sum(xs), np.maximum(a, xs)


def as_indices(n):
    xs = [(i * 3) % n for i in range(n)]
    a = np.arange(n) * 2.0
    a[xs] += 1
    return a[xs], xs


def stores_of_another_type(n):
    xs = [0] * n
    for i in range(n):
        xs[i] = i * 0.5 if i == 3 else i
    return xs


def table(n):
    """The number of ways to give change."""
    ways = [0] * (n + 1)
    ways[0] = 1
    for coin in (1, 2, 5):
        for amount in range(coin, n + 1):
            ways[amount] += ways[amount - coin]
    return ways[n], ways


def primes(n):
    """Numbers that no earlier prime divides."""
    found = []
    for k in range(2, n):
        for p in found:
            if k % p == 0:
                break
        else:
            found.append(k)
    return found


@pytest.mark.parametrize("backend", BACKENDS)
def test_items_are_stored_and_read(backend):
    check_sizes(counted, (np.array([0, 2, 1, 2, -1]), 4), (np.arange(30) % 7, 9), (np.arange(0), 3), backend=backend)
    check_sizes(grown_counts, *[(np.arange(n) % 5,) for n in (7, 30)], backend=backend)
    check_sizes(extended, (5,), (30,), (0,), backend=backend)
    check_sizes(as_operands, (5,), (30,), (4,), backend=backend)
    check_sizes(as_indices, (5,), (31,), backend=backend)
    check_sizes(table, (11,), (100,), (30,), backend=backend)
    check_sizes(primes, (20,), (300,), (3,), (0,), backend=backend)


def test_items_that_cannot_be_stored():
    for n in (5, 30, 2, 0):
        check_left_to_numpy(stores_of_another_type, n)
    check_left_to_numpy(counted, np.array([0, 5]), 4)
    check_left_to_numpy(counted, np.array([0, -5]), 4)
    check_left_to_numpy(counted, np.array([0, 1]), -1)


@pytest.mark.thorough
def test_more_lists_left_at_any_instruction():
    check_at_exits(table, 6)
    check_at_exits(primes, 12)
    check_at_exits(grown_counts, np.arange(5))


def path_to(before, end):
    path = []
    while end >= 0:
        path.append(int(end))
        end = before[end]
    return path[::-1]


def parts_of(x, k):
    positive = [0.5]
    for value in x:
        if value > 0:
            positive.append(float(value))
    rest = positive[k:]
    rest.append(1.0)
    positive.reverse()
    positive.append(7.0)
    return positive, rest, positive[1:-1], positive[:k], positive[-2:], positive[::2], positive[5:1:-2], sum(rest)


def reversed_while_it_grows(x):
    kept = [1]
    for value in x:
        kept.append(int(value))
        if value > 3:
            kept.reverse()
    other = kept
    kept.reverse()
    return kept, other is kept, kept[:] is kept, len(kept[::3])


@pytest.mark.parametrize("end", [5, 6, 1])
def test_a_path_backwards(end):
    check(path_to, np.array([-1, 0, 1, 1, 3, 4, 2]), end)


def test_slices_of_lists():
    call = accel.compile(parts_of)
    for k in (0, 1, 2, -1, 5, 100, -100):
        for n in (9, 0, 3, 30):
            assert_same(parts_of, call, np.arange(n) - 3.0, k)
    assert facts(call)["compiled"] > facts(call)["side_exits"]
    check(parts_of, np.arange(30) - 3.0, 2)


def test_lists_that_are_reversed():
    call = accel.compile(reversed_while_it_grows)
    for n in (9, 0, 3, 30):
        assert_same(reversed_while_it_grows, call, np.arange(n) - 3.0)
    check(reversed_while_it_grows, np.arange(12.0))


def test_lists_of_arrays_are_not_cut():
    def function(x, n):
        rows = []
        for k in range(n):
            rows.append(x * k)
        last = rows[::-1]
        last[0][0] = 7.0
        return rows, last

    call = accel.compile(function)
    for n in (3, 5, 2):
        assert_same(function, call, sample(4), n)
    assert facts(call)["compiled"] > 0


@pytest.mark.thorough
def test_sums_of_lists_in_lists():
    """Each turn of the outer loop tells much of the sizes that the inner one counts."""

    def sums(x):
        found = []
        for i in range(len(x)):
            row = []
            for j in range(i + 1):
                row.append(x[j] * (i - j))
            found.append(sum(row))
        return np.array(found)

    call = accel.compile(sums)
    for n in (5, 9, 30, 70, 100, 12):
        assert_same(sums, call, normal(n))
    found = facts(call)
    assert found["compiled"] > found["side_exits"] and found["interpreted"] == 0, found
