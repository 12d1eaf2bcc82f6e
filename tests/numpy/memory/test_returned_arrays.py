"""Arrays that loops fill, element by element, and that are returned: in the result's own memory or not, nobody can tell."""

import threading

import numpy as np
import pytest
from support.compiled import assert_all_compiled, compile_count, facts
from support.differential import check_at_exits
from support.outcome import assert_same

import accel


def running(x):
    out = np.zeros(len(x))
    total = 0.0
    for i in range(len(x)):
        total += x[i]
        out[i] = total
    return out


def returned_twice(x):
    out = np.zeros(len(x))
    for i in range(len(x)):
        out[i] = x[i] * 2
    return out, out, {"again": out}


def two_arrays(x):
    low, high = np.zeros(len(x)), np.ones(len(x), dtype=np.int64)
    for i in range(len(x)):
        low[i] = min(x[i], 0.5)
        high[i] += i
    return high, low


def a_view(x):
    out = np.zeros((len(x), 2))
    for i in range(len(x)):
        out[i, 0], out[i, 1] = x[i], i
    return out.T, out[1:, 0]


def columns_first(x):
    out = np.zeros((len(x), 3), order="F")
    for i in range(len(x)):
        for j in range(3):
            out[i, j] = x[i] + j
    return out


def read_again(x):
    out = np.ones(len(x) + 1)
    for i in range(len(x)):
        out[i + 1] = out[i] * x[i] + 1
    return out, out.sum(), out.reshape(-1, 1)


def early_return(x):
    out = np.zeros(len(x))
    for i in range(len(x)):
        if x[i] > 0.9:
            return out
        out[i] = x[i]
    return out + 1


def replaced(x):
    out, other = np.zeros(len(x)), np.ones(len(x))
    for i in range(len(x)):
        out[i] = x[i] + other[i - 1]
        out, other = other, out
    return out


def raises_late(x):
    out = np.zeros(len(x))
    for i in range(len(x) + 1):
        out[i] = x[i]
    return out


FUNCTIONS = [running, returned_twice, two_arrays, a_view, columns_first, read_again, early_return, replaced]


def values(n, seed=0):
    return np.random.default_rng(seed).random(n)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_results(function):
    call = accel.compile(function)
    for n in (5, 40, 3, 1000):
        assert_same(function, call, values(n, n), share=True)
    assert compile_count(call) == 1
    assert_all_compiled(call)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_exits(function):
    check_at_exits(function, values(7))


@pytest.mark.parametrize("function", FUNCTIONS)
def test_results_that_are_kept_stay(function):
    call = accel.compile(function)
    given = [values(300, seed) for seed in range(5)]
    kept = [call(x) for x in given]
    for x, result in zip(given, kept, strict=True):
        np.testing.assert_equal(result, function(x))
    assert_all_compiled(call)


def test_an_error_after_stores():
    call = accel.compile(raises_late)
    for _ in range(2):
        assert_same(raises_late, call, values(6))
    assert facts(call)["compiled"] > 0


def test_a_call_that_sees_the_array():
    seen = []

    def function(x, watch):
        out = np.zeros(len(x))
        for i in range(len(x)):
            out[i] = x[i]
            watch(out)
        return out

    def watch(array):
        seen.append(array.copy())

    call = accel.compile(function)
    for _ in range(3):
        seen.clear()
        result = call(values(4), watch)
        compiled = list(seen)
        seen.clear()
        np.testing.assert_equal(result, function(values(4), watch))
        np.testing.assert_equal(compiled, seen)
    assert facts(call)["compiled"] > 0


def test_threads():
    call = accel.compile(running)
    call(values(10))
    found = {}

    def work(seed):
        found[seed] = [call(values(2000, seed)) for _ in range(5)]

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for seed, results in found.items():
        for result in results:
            np.testing.assert_equal(result, running(values(2000, seed)))
    assert_all_compiled(call)


def quotients(x, n):
    rest = [n % 8, n // 8, n % 1, n // 1, n % 2**31, n // 2**40, n % 2**62, n // 2**62, n % 3, n // 3]
    return x % 16, x // 16, x % 1, x // 1, x % 64, x // 64, rest


@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "i8", "u1", "u8"])
def test_remainders_by_powers_of_two(dtype):
    call = accel.compile(quotients)
    info = np.iinfo(dtype)
    x = np.array([info.min, info.min + 1, 0, 1, 15, 16, 17, 63, 64, 65, info.max - 1, info.max], dtype)
    for n in (0, 1, 7, 8, -1, -7, -8, -9, 2**62, -(2**62), 2**63 - 1, -(2**63)):
        assert_same(quotients, call, x, n)
    assert_all_compiled(call)


def by_cases(x, m):
    if m > 2.5:
        y = x * m
    elif m < 0:
        y = -x
    else:
        y = x + 1.0
    return y


def with_numbers(x, m):
    if x[0] > m:
        y, n = x * 2, 1
    else:
        y, n = x * 3, 2
    return y, n, y


@pytest.mark.parametrize("function", [by_cases, with_numbers])
def test_ways_that_meet_to_return(function):
    call = accel.compile(function, fullgraph=True)
    for x in (np.arange(5.0), np.arange(3000.0), np.arange(8.0)[::2], np.arange(6.0).reshape(2, 3)[0]):
        for m in (3.5, -1.0, 1.0):
            assert_same(function, call, x, m)
    assert_all_compiled(call)
