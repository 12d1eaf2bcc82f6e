"""Lists of tuples that grow in a loop, and lists from which a loop takes items: one version serves all lengths."""

import numpy as np
import pytest
from support.compiled import facts
from support.differential import check, check_at_exits, check_sizes
from support.outcome import assert_same

import accel

BACKENDS = ["native", "numpy"]


def history(x, n):
    steps = []
    for i in range(n):
        x = x * 0.5 + i
        steps.append((i, x.sum(), i % 2 == 0))
    return steps, len(steps), bool(steps)


def of_types(n):
    found = []
    for i in range(n):
        found.append((i, float(i), np.float32(i), np.int64(i), complex(i, -1)))
    return found


def nested(n):
    found = [((0, 0), 0.5)]
    for i in range(n):
        found.append(((i, i + 1), i * 0.25))
    return found, found[-1], found[n // 2]


def read_back(n):
    pairs = []
    for i in range(n):
        if i % 3 != 1:
            pairs.append((i, i * i))
    total = 0
    for a, b in pairs:
        total += a * b
    for k, (a, b) in enumerate(pairs):
        total += k * (b - a)
    for k in range(len(pairs)):
        total -= pairs[k][0] + pairs[-k][1]
    return total, pairs[1:-1], pairs[::-2]


def stored(n):
    pairs = [(0, 0.5)]
    for i in range(n):
        pairs.append((i, 1.5))
        pairs[i // 2] = (-i, pairs[-1][1] + i)
        pairs[-1] = (pairs[-1][0], 2.5)
    pairs.reverse()
    return pairs


def as_array(n):
    points = []
    for i in range(n):
        points.append((i, i * 0.5))
    return np.array(points), np.array(points, dtype=np.complex128)


def path_to(before, end):
    path = []
    while end >= 0:
        path.append((end, before[end]))
        end = int(before[end])
    path.reverse()
    return path, path[0], path[-1]


def region(grid, i, j):
    seen = np.zeros(grid.shape, dtype=bool)
    stack = [(i, j)]
    count = 0
    while stack:
        i, j = stack.pop()
        if i < 0 or j < 0 or i >= grid.shape[0] or j >= grid.shape[1]:
            continue
        if seen[i, j] or not grid[i, j]:
            continue
        seen[i, j] = True
        count += 1
        stack.append((i + 1, j))
        stack.append((i - 1, j))
        stack.append((i, j + 1))
        stack.append((i, j - 1))
    return count, seen


def tree(x, n):
    open_nodes, order = [0], []
    while open_nodes:
        k = open_nodes.pop()
        order.append(k)
        x[k] += len(open_nodes)
        for child in (2 * k + 1, 2 * k + 2):
            if child < n:
                open_nodes.append(child)
    return order


def distances(edges, start):
    out = np.full(edges.shape[0], -1)
    out[start] = 0
    queue = [start]
    while len(queue) > 0:
        u = queue.pop(0)
        for v in range(edges.shape[0]):
            if edges[u, v] and out[v] < 0:
                out[v] = out[u] + 1
                queue.append(v)
    return out


def quicksort(a):
    a = a.copy()
    stack = [(0, len(a) - 1)]
    while stack:
        low, high = stack.pop()
        if low >= high:
            continue
        pivot, i = a[high], low
        for j in range(low, high):
            if a[j] < pivot:
                a[i], a[j] = a[j], a[i]
                i += 1
        a[i], a[high] = a[high], a[i]
        stack.append((low, i - 1))
        stack.append((i + 1, high))
    return a


def pushes_and_pops(moves):
    kept, taken = [(-1, -1.0)], []
    for move in moves:
        if move > 0:
            kept.append((int(move), float(move) * 0.5))
        elif len(kept) > 1:
            whole, half = kept.pop()
            taken.append(whole)
    return kept, taken


def parts_before_pops(n):
    numbers = []
    for i in range(n):
        numbers.append(i * 0.5)
    before = numbers[:]
    array = np.array(numbers)
    while len(numbers) > 2:
        numbers.pop()
    numbers.append(-1.0)
    return numbers, before, array


def normal(n):
    return np.random.default_rng(n).standard_normal(n)


def grid(n):
    return np.random.default_rng(n).random((n, n + 1)) < 0.7


@pytest.mark.parametrize("backend", BACKENDS)
def test_tuples_of_any_number(backend):
    check_sizes(history, *[(normal(8), n) for n in (5, 40, 0, 1)], backend=backend)
    check_sizes(of_types, (5,), (40,), (1,), backend=backend)
    check_sizes(nested, (5,), (40,), (1,), backend=backend)
    check_sizes(read_back, (9,), (40,), (4,), backend=backend)
    check_sizes(stored, (5,), (40,), (1,), backend=backend)
    check_sizes(as_array, (5,), (40,), (1,), backend=backend)


@pytest.mark.parametrize("end", [5, 6, 1])
def test_a_path_of_pairs(end):
    check(path_to, np.array([-1, 0, 1, 1, 3, 4, 2]), end)


@pytest.mark.parametrize("backend", BACKENDS)
def test_stacks_and_queues(backend):
    check_sizes(region, *[(grid(n), n // 2, n // 2) for n in (6, 30, 3)], backend=backend)
    check_sizes(tree, *[(normal(n), n) for n in (7, 100, 1)], backend=backend)
    check_sizes(distances, *[(grid(n)[:, :n].copy(), 1) for n in (6, 30, 2)], backend=backend)
    check_sizes(quicksort, *[(normal(n),) for n in (9, 60, 2)], backend=backend)
    check_sizes(pushes_and_pops, *[(normal(n),) for n in (9, 60, 2)], backend=backend)
    check_sizes(parts_before_pops, (9,), (60,), (3,), backend=backend)


@pytest.mark.parametrize(
    "function, case",
    [
        (history, (normal(3), 3)),
        (nested, (3,)),
        (stored, (3,)),
        (read_back, (6,)),
        (region, (grid(3), 1, 1)),
        (tree, (normal(5), 5)),
        (pushes_and_pops, (normal(8),)),
        (parts_before_pops, (5,)),
    ],
)
def test_left_at_any_instruction(function, case):
    check_at_exits(function, *case)


def test_pop_of_an_empty_list():
    def drains(x, n):
        stack = []
        for i in range(len(x)):
            stack.append((i, x[i]))
        x[0] = 7.0
        total = 0.0
        for _ in range(n):
            i, value = stack.pop()
            total += value
            x[i] = 0.0
        return total

    call = accel.compile(drains)
    for n in (3, 9, 0, 10, 12):
        assert_same(drains, call, np.arange(10.0), n)
    assert facts(call)["compiled"] >= 9


def test_items_of_several_kinds():
    """Where a tuple is of another type than those before it, the interpreter goes on with all of them."""

    def mixed(n, kind):
        found = []
        for i in range(n):
            if i == 4 and kind == 1:
                found.append((i, i))
            elif i == 4 and kind == 2:
                found.append((i, 0.5, 1))
            elif i == 4 and kind == 3:
                found.append(i)
            elif i == 4 and kind == 4:
                found.append(None)
            else:
                found.append((i, i * 0.5))
        return found

    call = accel.compile(mixed)
    for kind in (0, 1, 2, 3, 4, 0):
        for n in (3, 8):
            assert_same(mixed, call, n, kind)
    assert facts(call)["compiled"] > 0


def test_names_of_the_list_and_of_its_tuples():
    def named(n):
        first = (0, 0.5)
        found = [first]
        other = found
        for i in range(n):
            last = (i, i * 1.5)
            found.append(last)
            if i % 2:
                other.append(last)
        copied, joined = list(found), found + [(1, 1.0)]
        return found is other, found, other, last, found[0], copied, joined, (1, 1.5) in found, found == copied

    call = accel.compile(named)
    for n in (3, 8, 1, 30):
        assert_same(named, call, n)
    assert facts(call)["compiled"] > 0


def test_stacks_of_nested_loops():
    def rounds(x, n):
        total = 0
        for r in range(n):
            stack = [(r, 0)]
            while stack:
                k, depth = stack.pop()
                total += k * depth
                if depth < 3:
                    for step in range(2):
                        stack.append((k + step, depth + 1))
            x[r % len(x)] += total
        return total, x

    check(rounds, np.zeros(4), 6)


def test_a_stack_that_a_call_gets():
    def push(stack, i):
        stack.append((i, i + 1))
        return stack

    def called(n):
        stack = []
        for i in range(n):
            push(stack, i)
            if len(stack) > 3:
                stack.pop()
        return push(stack, 5)

    check(called, 9)


def snapshots(x, n):
    kept = []
    for t in range(n):
        x = x * 0.5 + t
        if t % 3 == 0:
            kept.append((t, x.copy()))
    return kept


def named_snapshots(x, n):
    kept, all_of = [], []
    for t in range(n):
        x = x * 0.5 + t
        pair = (t, x)
        kept.append(pair)
        all_of.append(pair)
    return kept, all_of, pair


def windows(x, width):
    """The last `width` numbers, and the ends of each full row of five added up."""
    last, row, sums = [], [], []
    for value in x:
        last.insert(0, float(value))
        if len(last) > width:
            last.pop()
        row.append(float(value))
        if len(row) == 5:
            sums.append(row[0] + row[-1])
            row.clear()
    return last, row, sums


def inserted(n):
    numbers, pairs = [0], [(0, 0.5)]
    for i in range(n):
        numbers.insert(i // 2, i)
        numbers.insert(-2, -i)
        numbers.insert(1, 7)
        pairs.insert(1, (i, i * 0.5))
    return numbers, pairs


@pytest.mark.parametrize("backend", BACKENDS)
def test_tuples_with_arrays(backend):
    check_sizes(snapshots, *[(normal(4), n) for n in (5, 40, 1)], backend=backend)


def test_arrays_of_tuples_that_have_other_names():
    call = accel.compile(named_snapshots)
    for n in (5, 40, 1):
        assert_same(named_snapshots, call, normal(4), n)
    assert facts(call)["compiled"] > 0


def test_arrays_of_tuples_that_change_later():
    def changed(x, n):
        kept = []
        for t in range(n):
            y = x * t
            kept.append((t, y))
            y[0] = -1.0
            kept[0][1][1] += 1.0
        kept[-1][1][0] = 5.0
        return kept

    call = accel.compile(changed)
    for n in (5, 40, 1):
        assert_same(changed, call, normal(4), n)
    assert facts(call)["compiled"] > 0


@pytest.mark.parametrize("backend", BACKENDS)
def test_insert_and_clear(backend):
    check_sizes(windows, *[(normal(n), 4) for n in (9, 40, 3)], backend=backend)
    check_sizes(inserted, (5,), (40,), (1,), backend=backend)


@pytest.mark.parametrize("function, case", [(snapshots, (normal(3), 5)), (windows, (normal(7), 2)), (inserted, (3,))])
def test_more_left_at_any_instruction(function, case):
    check_at_exits(function, *case)


def test_insert_after_the_end():
    def function(n):
        numbers = [0]
        for i in range(n):
            numbers.insert(9, i)
            numbers.insert(-9, -i)
        return numbers

    call = accel.compile(function)
    for n in (3, 40, 0, 5):
        assert_same(function, call, n)
    assert facts(call)["compiled"] > 0


def test_one_array_in_several_tuples():
    def function(x, n):
        y = x * 2
        kept = []
        for t in range(n):
            kept.append((t, y))
        return kept

    call = accel.compile(function)
    for n in (5, 9, 1):
        kept = call(normal(4), n)
        assert_same(function, call, normal(4), n)
        assert all(array is kept[0][1] for _, array in kept)
    assert facts(call)["calls"] == 12
