"""Loops over single elements run in the order in which memory lies, where no bit depends on the order."""

import itertools

import numpy as np
import pytest
from support.compiled import assert_all_compiled, facts
from support.differential import sample
from support.outcome import assert_same

import accel


def is_reordered(call, *arguments):
    return any("runs inside of the one" in note for note in accel.explain(call)(*arguments).schedule_notes)


def product(order):
    """A product of matrices with its loops in this order."""
    loops = {"i": "range(a.shape[0])", "j": "range(b.shape[1])", "k": "range(a.shape[1])"}
    lines = ["def function(a, b, result):"]
    for depth, name in enumerate(order):
        lines.append("    " * (depth + 1) + f"for {name} in {loops[name]}:")
    lines += ["                result[i, j] += a[i, k] * b[k, j]", "    return result"]
    space = {}
    exec("\n".join(lines), space)
    return space["function"]


def check(function, *cases, reordered=True):
    call = accel.compile(function, fullgraph=True)
    for arguments in cases:
        assert_same(function, call, *arguments)
    assert_all_compiled(call)
    assert is_reordered(call, *cases[0]) == reordered
    return call


def matrices(n, m, p, dtype="float64"):
    return sample((n, m), dtype), sample((m, p), dtype, 1), sample((n, p), dtype, 2)


@pytest.mark.parametrize("order", ["".join(o) for o in itertools.permutations("ijk")])
def test_products(order):
    cases = [matrices(20, 30, 25), matrices(9, 40, 9), matrices(1, 1, 1), matrices(3, 0, 4), matrices(0, 4, 2)]
    check(product(order), *cases, reordered=order not in ("ikj", "kij"))


@pytest.mark.parametrize("dtype", ["float32", "complex128", "int64", "float16"])
def test_dtypes(dtype):
    check(product("ijk"), matrices(12, 13, 14, dtype), matrices(30, 9, 8, dtype))


def test_layouts():
    """Memory that lies the other way asks for the other order."""
    a, b, result = matrices(12, 14, 16)
    check(product("ikj"), (np.asfortranarray(a), b.copy("F"), result.copy("F")))
    check(product("ijk"), (a[::-1], b, result))
    assert_same(product("ijk"), accel.compile(product("ijk")), a[:, ::2], b[::2], result)


def shared(which):
    memory, other = sample((20, 20)), sample((20, 20), seed=1)
    return {
        "result is a": lambda: (memory, other, memory),
        "result is b": lambda: (other, memory, memory),
        "a is b": lambda: (memory, memory, other),
        "overlapping": lambda: (memory[:10, :10], other[:10, :10], memory[5:15, 5:15]),
    }[which]()


@pytest.mark.parametrize("which", ["result is a", "result is b", "a is b", "overlapping"])
def test_shared_memory(which):
    function = product("ijk")
    call = accel.compile(function)
    call(*matrices(9, 9, 9))
    for _ in range(2):
        expected, found = shared(which), shared(which)
        function(*expected)
        call(*found)
        for e, f in zip(expected, found, strict=True):
            np.testing.assert_array_equal(f, e, strict=True)
    assert facts(call)["compiled"] > 0


def column_sums(a):
    total = np.zeros(a.shape[1])
    for j in range(a.shape[1]):
        for i in range(a.shape[0]):
            total[j] += a[i, j]
    return total


def from_the_end(a):
    out = np.zeros_like(a)
    for j in range(a.shape[1] - 1, -1, -1):
        for i in range(a.shape[0] - 1, 0, -2):
            out[i, j] = a[i, j] * i - j
    return out


def spread(a):
    """A branch in the body that stores nothing."""
    out = np.zeros_like(a)
    for j in range(a.shape[1]):
        for i in range(a.shape[0]):
            x = a[i, j]
            out[i, j] = x * 2 if x > 0 else -x
    return out


def planes(a, weights):
    """Four loops."""
    n, m = a.shape[0] - 2, a.shape[1] - 2
    out = np.zeros((n, m))
    for p in range(3):
        for q in range(3):
            for j in range(m):
                for i in range(n):
                    out[i, j] += weights[p, q] * a[i + p, j + q]
    return out


@pytest.mark.parametrize("function", [column_sums, from_the_end, spread])
def test_columns_first(function):
    check(function, (sample((20, 30)),), (sample((9, 9), seed=1),), (sample((1, 5)),), (np.zeros((0, 3)),))


def test_two_chosen_of_four():
    """Where two loops meet in one element their order stays: so does that of all."""
    check(planes, (sample((20, 30)), sample((3, 3))), reordered=False)


def shortest_paths(path):
    n = path.shape[0]
    for j in range(n):
        for i in range(n):
            path[i, j] = min(path[i, j], path[i, 0] + path[0, j])
    return path


def neighbours(a):
    for j in range(1, a.shape[1]):
        for i in range(1, a.shape[0]):
            a[i, j] += a[i - 1, j] * 0.5 + a[i, j - 1]
    return a


def skewed(a):
    for j in range(1, a.shape[1] - 1):
        for i in range(1, a.shape[0] - 1):
            a[i, j] = a[i - 1, j + 1] * 2
    return a


def one_total(a):
    total = np.zeros(1)
    for j in range(a.shape[1]):
        for i in range(a.shape[0]):
            total[0] += a[i, j]
    return total


def number(a):
    total = 0.0
    for j in range(a.shape[1]):
        for i in range(a.shape[0]):
            total += a[i, j]
    return total


def triangle(a):
    out = np.zeros_like(a)
    for j in range(a.shape[1]):
        for i in range(j, a.shape[0]):
            out[i, j] = a[i, j]
    return out


def diagonals(a):
    out = np.zeros(a.shape[0] + a.shape[1])
    for j in range(a.shape[1]):
        for i in range(a.shape[0]):
            out[i + j] += a[i, j]
    return out


def counters_after(a):
    i = j = -1
    for j in range(a.shape[1]):
        for i in range(a.shape[0]):
            a[i, j] += 1
    return a, i, j


def work_between(a):
    out, last = np.zeros_like(a), np.zeros(a.shape[1])
    for j in range(a.shape[1]):
        scale = a[0, j]
        for i in range(a.shape[0]):
            out[i, j] = a[i, j] * scale
        last[j] = scale
    return out, last


def moved(a):
    b = a.T
    for j in range(a.shape[1]):
        for i in range(a.shape[0]):
            b[j, i] = a[i, j] + a[0, 0]
    return a


KEPT = [shortest_paths, neighbours, skewed, one_total, number, triangle, diagonals, counters_after, work_between, moved]


@pytest.mark.parametrize("function", KEPT)
def test_order_matters(function):
    check(function, (sample((20, 20)),), (sample((9, 9), seed=1),), reordered=False)


def test_warnings():
    """Events come from any order; NumPy's errors too."""

    def function(a, b):
        out = np.zeros_like(a)
        for j in range(a.shape[1]):
            for i in range(a.shape[0]):
                out[i, j] = a[i, j] / b[i, j]
        return out

    call = accel.compile(function)
    a, b = sample((12, 13)), sample((12, 13), seed=1)
    assert_same(function, call, a, b)
    assert is_reordered(call, a, b)
    b[3, 4] = 0
    assert_same(function, call, a, b)
    assert_same(function, call, a, b[:, :-1])
    assert_same(function, call, a[:5], b)


def swapped(n, m):
    a, b = np.zeros((20, 20)), np.zeros((20, 20))
    for i in range(n):
        for j in range(m):
            a[j, i] += 1.0
            a, b = b, a
    return a, b


def swapped_readers(b, y, x):
    for i in range(b.shape[0]):
        for j in range(b.shape[1]):
            b[j, j] = b[j, j] * 0.5 + y[j, i]
            x, y = y, x
    return b


def renamed(a, b):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            a[j, i] += 1.0
            b = a
    return a, b


def test_arrays_that_change_places():
    check(swapped, (16, 16), (9, 20), reordered=False)
    x, y, b = (sample((12, 12), seed=k) for k in range(3))
    check(swapped_readers, (b, y, x), reordered=False)
    check(renamed, (x, y), reordered=False)
