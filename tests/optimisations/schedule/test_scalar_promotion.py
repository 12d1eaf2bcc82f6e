"""Elements that inner loops read and write at one place: they are numbers of the loop, and in the array after it."""

import numpy as np
import pytest
from support.compiled import facts
from support.differential import check, check_at_exits
from support.outcome import assert_same
from support.whole_programs import load

import accel

rng = np.random.default_rng(5)
collatz = load("short_iteration").collatz


def sparse_times_vector(data, indices, starts, x):
    y = np.zeros(len(starts) - 1)
    for i in range(len(starts) - 1):
        for k in range(starts[i], starts[i + 1]):
            y[i] += data[k] * x[indices[k]]
    return y


def sparse(rows, columns):
    starts = np.concatenate([[0], np.cumsum(rng.integers(0, 5, rows))])
    return rng.standard_normal(starts[-1]), rng.integers(0, columns, starts[-1]), starts, rng.standard_normal(columns)


def test_sparse_products():
    check(sparse_times_vector, *sparse(300, 40))


def test_sums_so_far_stand_where_an_index_is_out_of_range():
    data, indices, starts, x = sparse(300, 40)
    call = accel.compile(fullgraph=True)(sparse_times_vector)
    for at in (0, 7, len(indices) - 1):
        wrong = indices.copy()
        wrong[at] = 40
        assert_same(sparse_times_vector, call, data, wrong, starts, x)
        wrong[at] = -41
        assert_same(sparse_times_vector, call, data, wrong, starts, x)
        wrong[at] = -1
        assert_same(sparse_times_vector, call, data, wrong, starts, x)
    assert facts(call)["compiled"] > 0


def add_into(y, x, indices):
    """The caller sees what was added before an index is out of range."""
    for i in range(len(y)):
        for k in indices:
            y[i] += x[k]


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, np.int8, np.int64, np.uint32, np.complex64, bool])
def test_arguments_hold_what_was_added_before_an_error(dtype):
    call = accel.compile(add_into)
    x = np.arange(1, 6).astype(dtype)
    for indices in ([0, 1, 4], [0, 5, 1], [], [-1, -5], [-6]):
        assert_same(add_into, call, np.ones(4, dtype), x, np.array(indices, dtype=int))
    assert facts(call)["compiled"] > 0


def test_arguments_in_one_memory():
    call = accel.compile(add_into)
    memory = np.arange(12.0)
    for y, x in ((memory, memory), (memory[:8], memory[4:]), (memory[::2], memory[1::2]), (memory[::-1], memory)):
        assert_same(add_into, call, y, x, np.array([0, 3, 1]))
    assert facts(call)["compiled"] > 0


def lower_upper(a):
    """Reads other elements of the array, of which the bounds say that they are others."""
    for i in range(len(a)):
        for j in range(i):
            for k in range(j):
                a[i, j] -= a[i, k] * a[k, j]
            a[i, j] /= a[j, j]
        for j in range(i, len(a)):
            for k in range(i):
                a[i, j] -= a[i, k] * a[k, j]


def prefix_by_elements(a):
    """Reads the element itself by another name."""
    for i in range(len(a)):
        for k in range(i + 1):
            a[i] += a[k]


def suffixes(a):
    for i in range(len(a)):
        for k in range(i + 1, len(a)):
            a[i] = a[i] * 0.5 + a[k]


def from_both_sides(a):
    for i in range(1, len(a) - 1):
        for k in range(3):
            a[i] += a[i - 1] * a[i + 1] - k


@pytest.mark.parametrize("function", [prefix_by_elements, suffixes, from_both_sides])
def test_other_elements_of_the_array(function):
    call = check(function, rng.standard_normal(9))
    for count in (0, 1, 2, 20):
        assert_same(function, call, rng.standard_normal(count))


def test_triangles():
    call = check(lower_upper, rng.standard_normal((7, 7)) + 4 * np.eye(7))
    for count in (0, 1, 12):
        assert_same(lower_upper, call, rng.standard_normal((count, count)) + 4 * np.eye(count))


def matrix_chain(p):
    n = len(p) - 1
    cost = np.zeros((n, n))
    for length in range(2, n + 1):
        for i in range(n - length + 1):
            j = i + length - 1
            cost[i, j] = np.inf
            for k in range(i, j):
                c = cost[i, k] + cost[k + 1, j] + p[i] * p[k + 1] * p[j + 1]
                if c < cost[i, j]:
                    cost[i, j] = c
    return cost


def test_stores_on_one_way():
    check(matrix_chain, rng.integers(1, 9, 12).astype(float))


def test_ints_that_outgrow_64_bits_leave_with_the_count():
    call = accel.compile(fullgraph=True)(collatz)
    assert_same(collatz, call, np.arange(1, 60))
    assert_same(collatz, call, np.array([2**62 - 1, 27, 2**62 + 1]))
    assert facts(call)["compiled"] == facts(call)["calls"]


def counted(a, most):
    """Ways out of two loops at once, each with its own count."""
    seen = np.zeros(3, dtype=np.int8)
    for row in a:
        for v in row:
            seen[0] += 1
            if v < 0:
                break
            if v > most:
                return seen, v
            seen[1] += 1
        else:
            seen[2] += 1
    return seen, None


def test_ways_out_of_loops():
    call = accel.compile(counted)
    for scale, most in ((1, 9.0), (3, 1.5), (0, 1.0), (1, -9.0)):
        assert_same(counted, call, np.abs(rng.standard_normal((30, 7))) * scale, most)
        assert_same(counted, call, rng.standard_normal((30, 7)) * scale, most)
    assert facts(call)["compiled"] > 0


def tallied(kinds, weights):
    """Numbers of several dtypes side by side; the sums overflow."""
    total, count = np.zeros((2, 2), np.float32), np.zeros((), np.int64)
    for i in range(len(kinds)):
        if kinds[i]:
            total[1, 0] += weights[i]
            count += 1
        else:
            total[1, 0] -= 2 * weights[i]
            total[0, 1] = total[1, 0]
    return total, count


def test_sums_with_warnings():
    kinds = rng.random(40) < 0.5
    call = accel.compile(tallied)
    for weights in (rng.standard_normal(40), np.full(40, 3e38), np.full(40, np.inf), np.full(40, np.nan)):
        assert_same(tallied, call, kinds, weights.astype(np.float32))
        assert_same(tallied, call, kinds, weights)
    assert facts(call)["compiled"] > 0


def oscillate(state, steps, dt):
    """Several elements of one array, and others that are read."""
    x = np.array([1.0, 0.0])
    for _ in range(steps):
        x[0] += dt * x[1] * state[2]
        x[1] -= dt * x[0]
        state[0] += x[0]
        state[1] = max(state[1], x[1])
    return x


def test_several_elements():
    check(oscillate, np.array([0.0, -1.0, 0.5]), 200, 0.01)
    check(oscillate, np.array([0.0, -1.0, 0.5]), 0, 0.01)
    call = accel.compile(oscillate)
    for state in (np.zeros(3), np.zeros(2), np.zeros(5)[::2], np.zeros(1)):
        assert_same(oscillate, call, state, 3, 0.5)
    check_at_exits(oscillate, np.array([0.0, -1.0, 0.5]), 2, 0.5)


def shifted(a, i, j):
    """Elements that may be one."""
    for k in range(5):
        a[i] += k
        a[j] *= 2
        a[i] -= a[j]
    return a


def test_elements_that_may_be_one():
    call = accel.compile(shifted)
    for i, j in ((0, 1), (1, 1), (2, -1), (-3, 0), (0, 3), (3, 0)):
        assert_same(shifted, call, np.arange(1.0, 4), i, j)
    assert facts(call)["compiled"] > 0


def last_of(values):
    """The loop may run no time."""
    out = np.full(3, -1, dtype=np.int64)
    i = 0
    while i < len(values) and values[i] >= 0:
        out[1] = out[1] + values[i]
        i += 1
    return out[1], out


def test_loops_that_run_no_time():
    for values in ([], [-1], [5, 6, -1, 4]):
        check(last_of, np.array(values, dtype=np.int64))


def outside(a, i, n):
    """Whether the element is there is known only where it is read."""
    for k in range(n):
        a[i] += k
    return a


def test_elements_that_may_not_be_there():
    call = accel.compile(outside)
    for i, n in ((0, 3), (4, 0), (4, 2), (-4, 2), (-5, 0), (-5, 1)):
        assert_same(outside, call, np.arange(4.0), i, n)
    assert facts(call)["compiled"] > 0


def sum_of_products(a, b, out):
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            for k in range(a.shape[1]):
                out[i, j] += a[i, k] * b[k, j]
                if out[i, j] > 50:
                    out[i, j] -= 50


def test_every_exit():
    a, b = np.abs(rng.standard_normal((5, 6))) * 9, np.abs(rng.standard_normal((6, 4))) * 9
    check_at_exits(sum_of_products, a, b, np.zeros((5, 4)))
    check_at_exits(add_into, np.ones(4), np.arange(5.0), np.array([0, 1, 4]))
    check_at_exits(tallied, rng.random(9) < 0.5, np.arange(9.0))
