"""Python loops whose iterations are independent: threads share them. Dependence is found, and side exits are exact."""

import itertools
import math
import os
import signal
import threading
import time
import warnings

import numpy as np
import pytest
from support.compiled import assert_all_compiled, facts
from support.differential import check, sample
from support.outcome import assert_same

import accel


@pytest.fixture(autouse=True, params=[(1, 0), (2, 0), (5, 0), (2, 1 << 40)], ids=lambda p: f"{p[0]}-threads-from-{p[1]}")
def threads(request):
    count, threshold = request.param
    with accel.config(threads=count, parallel_threshold=threshold):
        yield


def is_shared(function, *arguments):
    return "are independent" in "\n".join(accel.explain(function)(*arguments).schedule_notes)


# --- loops that threads share -------------------------------------------------------------------------------------------


def element_loops(a, b):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            x = a[i, j]
            steps = 0
            while x < 100.0 and steps < 20:
                x = x * x + 0.5
                steps += 1
            b[i, j] = steps


def made_inside(a):
    out = np.zeros((len(a), 3), dtype=np.int64)
    for i in range(len(a)):
        for j in range(3):
            if a[i, 0] > j - 1:
                out[i, j] = i * 10 + j
            else:
                out[i, j] -= 1
    return out


def columns(a, b):
    for j in range(a.shape[1]):
        for i in range(1, a.shape[0]):
            b[i, j] = b[i - 1, j] + a[i, j]


def rows_of_arrays(a, b):
    for i in range(len(a)):
        row = a[i] * 2 + 1
        b[i] = row / row.sum()


def own_arrays(a, b):
    for i in range(len(a)):
        work = np.zeros(a.shape[1])
        for j in range(a.shape[1]):
            work[j] = a[i, j] * j
            work[0] += work[j]
        b[i] = work


def shifted(a, b):
    for i in range(len(a) - 1):
        b[i + 1, 0] = a[i, 1]


def backwards(a, b):
    for i in range(len(a) - 1, -1, -2):
        b[i, 1] = a[i, 0] + i


def every_third(a, b):
    for i in range(1, len(a), 3):
        b[i, 1] = a[i, 0] + i


def triangle(a, b):
    for i in range(len(a)):
        for j in range(i + 1, a.shape[1]):
            b[i, j] = a[i, j] - a[i, i % a.shape[1]]


def reads_its_own(a, b):
    for i in range(len(b)):
        b[i] += a[i]
        b[i, 0] = math.sin(b[i, 1])


def last_values(a, b):
    x = 0.0
    k = 0
    for i in range(len(a)):
        x = a[i, 0] * 2
        k = i
        b[i, 0] = x
    return x, k, i


def around_others(a, b):
    total = 0.0
    for _ in range(3):
        for i in range(len(a)):
            b[i, 0] = a[i, 1] + b[i, 0]
        total += b[0, 0]
    return total


def several_stores(a, b):
    c = np.empty(len(a))
    d = np.ones((2, len(a)), dtype=np.float32)
    for i in range(len(a)):
        c[i] = a[i, 0]
        d[1, i] = a[i, 1]
        b[i, 0] = c[i] + d[1, i]
    return c, d


def transposed_store(a, b):
    t = b.T
    for i in range(len(a)):
        t[0, i] = a[i, 1]
        t[1, i] = t[0, i] * 2


def one_place(a, b):
    """What all iterations store is the last one's, which runs by itself."""
    for i in range(len(a)):
        b[0, 0] = a[i, 0]


SHARED = [
    element_loops,
    columns,
    rows_of_arrays,
    own_arrays,
    shifted,
    backwards,
    every_third,
    triangle,
    reads_its_own,
    last_values,
    around_others,
    several_stores,
    transposed_store,
    one_place,
]


@pytest.mark.parametrize("function", SHARED)
def test_shared(function):
    assert is_shared(function, sample((7, 5)), sample((7, 5)))
    call = check(function, sample((7, 5)), sample((7, 5)))
    for rows in (40, 1, 2, 3, 4, 0):
        if rows > 0 or function is not last_values:
            assert_same(function, call, sample((rows, 5)), sample((rows, 5)), times=1)
    assert facts(call)["compiled"] >= 7


@pytest.mark.parametrize("rows", [1, 2, 3, 50])
def test_result_made_inside(rows):
    assert is_shared(made_inside, sample((7, 2)))
    check(made_inside, sample((rows, 2)))


def test_strided_arguments():
    check(element_loops, sample((40, 10))[::2, ::-2], sample((5, 20)).T)
    check(columns, np.asfortranarray(sample((9, 8))), sample((9, 16))[:, ::2])


# --- loops that hand something on -------------------------------------------------------------------------------------


def recurrence(a, b):
    for i in range(1, len(a)):
        b[i, 0] = b[i - 1, 0] + a[i, 0]


def carried_scalar(a, b):
    s = 0.0
    for i in range(len(a)):
        s += a[i, 0]
        b[i, 0] = s


def two_places(a, b):
    for i in range(len(a) // 2):
        b[i, 0] = a[i, 0]
        b[2 * i, 0] = a[i, 1]


def halved(a, b):
    for i in range(len(a)):
        b[i // 2, 0] = a[i, 0]


def placed_by_data(a, b):
    for i in range(len(a)):
        b[int(abs(a[i, 0])) % len(b), 0] = i


def reads_ahead(a, b):
    for i in range(len(a) - 1):
        b[i, 0] = b[i + 1, 1]


def reads_all(a, b):
    for i in range(len(a)):
        b[i, 0] = b.sum() + a[i, 0]


def stops(a, b):
    for i in range(len(a)):
        if a[i, 0] > 1e9:
            break
        b[i, 0] = a[i, 0]


def returns(a, b):
    for i in range(len(a)):
        if a[i, 0] > 1e9:
            return i
        b[i, 0] = a[i, 0]
    return -1


def swapped(a, b):
    c = np.zeros(len(a))
    d = np.zeros(len(a))
    for i in range(len(a)):
        c[i] = a[i, 0]
        c, d = d, c
    return c, d


def diagonal_of_both(a, b):
    for i in range(min(b.shape)):
        b[i, 0] = a[i, 0]
        b[0, i] = a[i, 1]


DEPENDENT = [
    recurrence,
    carried_scalar,
    two_places,
    halved,
    placed_by_data,
    reads_ahead,
    reads_all,
    stops,
    returns,
    swapped,
    diagonal_of_both,
]


@pytest.mark.parametrize("function", DEPENDENT)
def test_not_shared(function):
    assert not is_shared(function, sample((40, 5)), sample((40, 5)))
    check(function, sample((40, 5)), sample((40, 5)))


def test_draws_are_not_shared():
    def draws(rng, b):
        for i in range(len(b)):
            b[i] = rng.random()

    assert not is_shared(draws, np.random.default_rng(3), np.zeros(40))
    call, expected, found = accel.compile(draws), np.zeros(40), np.zeros(40)
    draws(np.random.default_rng(3), expected)
    call(np.random.default_rng(3), found)
    assert (found == expected).all()
    assert_all_compiled(call)


@pytest.mark.parametrize("function", SHARED + DEPENDENT)
def test_one_array_as_both_arguments(function):
    """The array itself, and its transpose or neighbouring rows in turns."""
    call = accel.compile(function)
    other = (lambda x: (x, x.T), lambda x: (x[1:], x[:-1]))[(SHARED + DEPENDENT).index(function) % 2]
    for views in (lambda x: (x, x), other):
        expected = sample((9, 9))
        found = expected.copy()
        function(*views(expected))
        call(*views(found))
        assert np.array_equal(found, expected)
    assert facts(call)["compiled"] > 0


# --- side exits, warnings, errors, interrupts -----------------------------------------------------------------------------


def indexed(a, index, b):
    for i in range(len(a)):
        b[i] += 1
        b[i] = a[index[i]] + b[i]


@pytest.mark.parametrize("bad", [0, 1, 20, 38, 39])
def test_an_index_out_of_range(bad):
    a, b = sample((40,)), sample((40,))
    index = np.arange(40)[::-1].copy()
    assert is_shared(indexed, a, index, b.copy())
    call = check(indexed, a, index, b)
    index[bad] = 40
    assert_same(indexed, call, a, index, b, times=2)
    index[bad] = -40
    before = facts(call)["compiled"]
    assert_same(indexed, call, a, index, b, times=2)
    assert facts(call)["compiled"] > before


def counted(a, b):
    for i in range(len(a)):
        n = int(a[i])
        n = n * n + i
        b[i] = n % 1000


@pytest.mark.parametrize("bad", [0, 17, 39])
def test_an_int_beyond_64_bits(bad):
    a = np.arange(40)
    assert is_shared(counted, a, np.zeros(40))
    call = check(counted, a, np.zeros(40))
    a[bad] = 2**62
    assert_same(counted, call, a, np.zeros(40), times=2)
    assert facts(call)["side_exits"] > 0


def divided(a, b, c):
    for i in range(len(a)):
        c[i] = a[i] / b[i]


@pytest.mark.parametrize("how", ["warn", "ignore", "raise"])
@pytest.mark.parametrize("bad", [0, 25, 39])
def test_floating_point_events(how, bad):
    a, b, c = sample((40,)), sample((40,)) + 100, np.zeros(40)
    assert is_shared(divided, a, b, c)
    call = accel.compile(divided)
    with np.errstate(all=how):
        assert_same(divided, call, a, b, c, times=2)
        assert_all_compiled(call)
        b[bad] = 0
        assert_same(divided, call, a, b, c, times=3)


def test_events_before_an_exit_only():
    """What iterations after the exit raise has not happened."""

    def both(a, index, b):
        for i in range(len(a)):
            b[i] = a[index[i]] / a[i]

    a, index, b = np.ones(40), np.arange(40), np.zeros(40)
    call = check(both, a, index, b)
    a[30] = 0.0
    index[10] = 99
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_same(both, call, a, index, b, times=2)
    a[5] = 0.0
    assert_same(both, call, a, index, b, times=2)


def test_an_error_that_the_program_catches():
    def caught(a, index, b):
        try:
            for i in range(len(a)):
                b[i] = a[index[i]]
        except IndexError:
            return -1, b.sum()
        return 1, b.sum()

    a, b = sample((40,)), np.zeros(40)
    for bad in (0, 12, 39):
        index = np.arange(40)
        call = accel.compile(caught)
        assert_same(caught, call, a, index, b, times=2)
        index[bad] = 40
        assert_same(caught, call, a, index, b, times=2)


def test_ctrl_c_in_one_iteration():
    def endless(a, b):
        for i in range(len(a)):
            x = a[i]
            while x < 1.0:
                x = x * 0.999999 + a[i] * 1e-9
            b[i] = x

    a, b = np.full(64, 2.0), np.zeros(64)
    assert is_shared(endless, a, b)
    call = check(endless, a, b)
    slow = a.copy()
    for place in (0, 10, 40, 63):
        slow[place] = 0.5
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        timer = threading.Timer(0.15, lambda: os.kill(os.getpid(), signal.SIGINT))
        timer.start()
        begin, raised = time.perf_counter(), False
        try:
            call(slow, b)
        except KeyboardInterrupt:
            raised = True
        finally:
            signal.signal(signal.SIGINT, before)
        assert raised and time.perf_counter() - begin < 5
        slow[place] = 2.0
    assert_same(endless, call, a, b, times=1)


def test_two_python_threads():
    def fill(a, b):
        for i in range(len(a)):
            for j in range(a.shape[1]):
                b[i, j] = a[i, j] * i - j

    a = sample((200, 30))
    expected = np.zeros_like(a)
    fill(a, expected)
    call = accel.compile(fill)
    call(a, np.zeros_like(a))
    wrong = []

    def work():
        for _ in range(20):
            b = np.zeros_like(a)
            call(a, b)
            wrong.extend(itertools.islice(np.flatnonzero(b != expected), 1))

    workers = [threading.Thread(target=work) for _ in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not wrong
    assert_all_compiled(call)


def last_found(a, out):
    """What is returned is of the last iteration that went through the inner loop."""
    t = 0.0
    for i in range(len(a)):
        k = 0
        while a[i] > k and k < 3:
            t = a[i] + k
            k += 1
        out[i] = a[i] * 2
    return t


def test_numbers_of_earlier_iterations():
    a = np.array([0.5, 2.5, -1.0, 1.5] + [-3.0] * 60)
    with accel.config(threads=2, parallel_threshold=0):
        call = accel.compile(last_found, fullgraph=True)
        for case in (a, -a, a[::-1].copy(), np.zeros(40)):
            assert_same(last_found, call, case, np.zeros(len(case)))


def test_ways_out_that_never_end():
    def function(a):
        for k in range(len(a)):
            a[k] *= 2
            if a[k] > 1e9:
                while True:
                    pass
        return a

    check(function, np.arange(100.0))
    assert not is_shared(function, np.arange(100.0))
