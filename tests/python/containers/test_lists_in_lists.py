"""Lists of lists that grow in a loop, are read, and are stored to: one version serves all sizes; names of one list stay
names of one.
"""

import numpy as np
import pytest
from support.compiled import assert_all_compiled, facts
from support.differential import check_at_exits, check_sizes
from support.outcome import assert_same

import accel


def of_two(x):
    found = []
    for i in range(len(x)):
        found.append([i, x[i] * 2])
    return found


def of_statistics(x):
    rows = []
    for row in x:
        rows.append([row.sum(), row.max(), row.min()])
    return np.array(rows), len(rows)


def table(n, m):
    rows = []
    for i in range(n):
        row = []
        for j in range(m):
            row.append(i * 0.5 + j)
        rows.append(row)
    return rows


def table_as_array(n, m):
    return np.array([[i + j * 2 for j in range(m)] for i in range(n)])


def with_ends(x, m):
    rows = []
    for v in x:
        row = [-1.0]
        for j in range(m, 0, -1):
            row.append(float(v) * j)
        row.append(0.5)
        rows.append(row)
    return rows


def filled(n, m):
    rows = []
    for i in range(n):
        row = [0.0] * m
        for j in range(m):
            row[j] = i - j * 1.5
        rows.append(row)
    return rows


def nested(n):
    rows = []
    for i in range(n):
        rows.append([[i, 1], (i * 0.5, i), [2.0]])
    return rows


def changed_after_append(x):
    rows = []
    for i in range(len(x)):
        row = [i, 0.5]
        rows.append(row)
        row[1] = x[i]
    return rows


def array_of_what_changes(n):
    rows = []
    for i in range(n):
        row = [i, 2 * i]
        rows.append(row)
        seen = np.array(rows)
        row[0] = -1
    return rows, seen


def read(n, m):
    rows = [[i * 0.5 + j for j in range(m)] for i in range(n)]
    total = 0.0
    for i in range(n):
        for j in range(m):
            total += rows[i][j] * rows[-1][-j]
    for row in rows:
        total += len(row)
        for number in row:
            total -= number
    return total, rows


def unpacked(x):
    pairs = [[v, 2 * v] for v in x]
    total = 0.0
    for a, b in pairs:
        total += a * b
    for k, (a, b) in enumerate(pairs):
        total -= k * a + b
    return total, pairs[0], pairs


def edit_distance(a, b):
    n, m = len(a), len(b)
    cost = [[0] * (m + 1) for _ in range(n + 1)]
    for i in range(n + 1):
        cost[i][0] = i
    for j in range(m + 1):
        cost[0][j] = j
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            changed = 0 if a[i - 1] == b[j - 1] else 1
            cost[i][j] = min(cost[i - 1][j] + 1, cost[i][j - 1] + 1, cost[i - 1][j - 1] + changed)
    return cost[n][m], cost


def product(a, b):
    n, m, inner = len(a), b.shape[1], b.shape[0]
    rows = [[0.0] * m for _ in range(n)]
    for i in range(n):
        for j in range(m):
            for k in range(inner):
                rows[i][j] += float(a[i, k] * b[k, j])
    return rows


def columns_stored(x):
    rows = [[float(v), 0.0, 1] for v in x]
    for i in range(len(rows)):
        rows[i][1] = rows[i][0] + rows[i - 1][0]
        rows[i][-1] += i
    return rows


SIZES = [(7, 5), (7, 5), (0, 3), (5, 0), (1, 1), (20, 30), (2, 3)]
LENGTHS = [(np.arange(float(n)) + 0.5,) for n in (7, 1, 2, 40, 3)]
WORDS = [(np.arange(n) % 5, np.arange(m)[::-1] % 4) for n, m in [(9, 7), (0, 3), (3, 0), (30, 20)]]
FACTORS = [
    (np.arange(n * k).reshape(n, k) / 7, np.arange(k * m).reshape(k, m) / 3) for n, k, m in [(4, 5, 6), (1, 3, 2), (3, 1, 1)]
]
WHOLE = [
    (of_two, LENGTHS),
    (of_statistics, [(np.arange(n * 5.0).reshape(n, 5),) for n in (6, 1, 2, 30)]),
    (table, SIZES),
    (table_as_array, [size for size in SIZES if all(size)]),
    (with_ends, [(np.arange(n), m) for n, m in SIZES if n]),
    (filled, SIZES),
    (nested, [(6,), (0,), (1,), (33,)]),
    (changed_after_append, LENGTHS),
    (array_of_what_changes, [(6,), (1,), (2,), (33,)]),
    (read, [size for size in SIZES if size[0]]),
    (unpacked, LENGTHS),
    (edit_distance, WORDS),
    (product, FACTORS),
    (columns_stored, LENGTHS),
]


@pytest.mark.parametrize(("function", "calls"), WHOLE, ids=lambda x: getattr(x, "__name__", ""))
def test_are_compiled_whole(function, calls):
    check_sizes(function, *calls)


@pytest.mark.parametrize("function", [of_two, changed_after_append, unpacked, columns_stored], ids=lambda f: f.__name__)
def test_at_every_exit(function):
    check_at_exits(function, np.arange(7.0) + 0.5)


def check_left(function, *cases):
    """Compiled, and left for the interpreter where the names of a list count."""
    call = accel.compile(function)
    for case in cases:
        assert_same(function, call, *case, times=1)
    found = facts(call)
    assert found["compiled"] + found["side_exits"] > 0, found


def lists_of_no_numbers(n, m):
    return np.array([[j for j in range(m)] for i in range(n)])


def test_arrays_of_empty_lists():
    check_left(lists_of_no_numbers, (4, 3), (0, 3), (5, 0), (1, 1), (6, 2))


def named_twice(n):
    rows, others = [], []
    for i in range(n):
        row = [i, i + 1]
        rows.append(row)
        others.append(row)
    rows[0][0] = 7
    return rows, others, rows[0] is others[0]


def one_row(x):
    rows, row = [], [0.0, 0.0]
    for _ in range(len(x)):
        rows.append(row)
    row[0] = 5.0
    return rows, rows[0] is rows[-1]


def last_is_kept(n):
    rows, last, numbers = [], None, np.arange(n) * 2
    for i in range(n):
        last = [i, 1]
        rows.append(last)
    last[0] = 99
    return rows, numbers


def of_rows_of_others(x):
    rows, others = [[v, 2 * v] for v in x], []
    for i in range(len(x)):
        others.append(rows[i])
    rows[0][0] = 99.0
    return rows, others


def changed_through_two_names(x):
    rows = [[v, 2 * v] for v in x]
    first, again = rows[0], rows[0]
    first[0] = -1.0
    return rows, again, first is again, rows[0] is first


def changed_while_another_is_used(x):
    rows = [[float(v), 2.0] for v in x]
    last = rows[-1]
    for i in range(len(rows)):
        rows[i][0] = rows[i][1] * i
    return last[0], rows


def row_that_grows(x):
    rows = [[v, 2 * v] for v in x]
    row = rows[1]
    row.append(3.0)
    return rows, row


def of_another_type(x):
    rows = [[0] * 3 for _ in x]
    rows[1][0] = 1.5
    return rows


def popped(n):
    rows = [[0, 0]]
    for i in range(n):
        rows.append([i, i])
    last = rows.pop()
    last[0] = 5
    rows.append([1, 1])
    return rows, last


def cleared(n):
    rows = []
    for i in range(n):
        rows.append([i, i])
    first = rows[0]
    rows.clear()
    return rows, first


def repeated(x):
    rows = [[0.0] * 3] * len(x)
    rows[0][0] = 1.0
    return rows, rows[0] is rows[-1], x * 2


SHARED = [
    one_row,
    of_rows_of_others,
    changed_through_two_names,
    changed_while_another_is_used,
    row_that_grows,
    of_another_type,
    repeated,
]


@pytest.mark.parametrize("function", SHARED, ids=lambda f: f.__name__)
def test_names_of_one_list(function):
    check_left(function, *[(np.arange(float(n)) + 0.5,) for n in (6, 2, 17)])


@pytest.mark.parametrize("function", [named_twice, last_is_kept, popped, cleared], ids=lambda f: f.__name__)
def test_names_of_one_list_in_loops(function):
    check_left(function, (6,), (2,), (17,))


def kept_and_returned(x, k):
    rows = [[v, 2 * v] for v in x]
    row = rows[k]
    return rows, row


def test_a_row_is_the_list_of_its_list():
    call = accel.compile(kept_and_returned, fullgraph=True)
    for n, k in [(5, 2), (8, 0), (3, -1)]:
        rows, row = call(np.arange(float(n)), k)
        assert row is rows[k] and rows == [[v, 2 * v] for v in np.arange(float(n))]
    assert_all_compiled(call)


def out_of_range(x, m):
    rows = [[0.0] * m for _ in x]
    for i in range(len(x)):
        rows[i][i] = 1.0
    return rows


def of_no_rows(n, k):
    rows = []
    for i in range(n):
        rows.append([i])
    return rows[k]


def test_indices_out_of_range():
    check_left(out_of_range, (np.arange(4.0), 4), (np.arange(9.0), 5), (np.arange(3.0), 7))
    check_left(of_no_rows, (4, 3), (0, 0), (4, 4), (3, -3), (3, -4))


def rounds_of_rounds(el):
    total = 0.0
    for _ in el:
        total += np.array([[2 * n, 2 * n + 1] for n in el]).sum()
    return total


def test_made_in_each_round():
    check_sizes(rounds_of_rounds, *[(np.arange(float(n)),) for n in (4, 9, 1)])
