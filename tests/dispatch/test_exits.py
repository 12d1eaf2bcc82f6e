"""Kernels with several exits: early returns, exits in the middle of loops, failed checks, events; what they count and
explain.
"""

import threading
import time
import warnings

import numpy as np
import pytest
from support.compiled import facts
from support.differential import check, check_left_to_numpy, sample
from support.outcome import assert_same as assert_same_outcome

import accel

X = sample((6,), seed=1)
SEEN = []


def see(*values):
    """Something that only the interpreter can do."""
    SEEN.append([v.copy() if isinstance(v, np.ndarray) else v for v in values])


def assert_same(function, call, *arguments, times=1):
    assert_same_outcome(function, call, *arguments, times=times)


def seeing(function):
    """The function, and what it showed to see()."""

    def run(*values):
        SEEN.clear()
        return function(*values), [list(entry) for entry in SEEN]

    return run


def compiled_with(function, *calls):
    """Compares all calls, in this order, with one compiled function; returns it."""
    call = accel.compile(function)
    for arguments in calls:
        assert_same(seeing(function), seeing(call), *arguments, times=1)
    return call


# --- returns


def sign_word(x):
    total = x.sum()
    if total > 0:
        return "positive", x * 2
    if total < 0:
        return x[::2] + 1
    return None


def test_returns_of_other_types():
    call = compiled_with(sign_word, (X,), (-X,), (X * 0,), (X,))
    assert facts(call)["compiled"] == 4 and facts(call)["compiles"] == 1
    assert facts(call)["side_exits"] == 0


def first_above(x, limit):
    for i in range(x.shape[0]):
        if x[i] > limit:
            return i, x[i], x[i:]
    return -1


@pytest.mark.parametrize("limit", [-10.0, 0.5, 1.5, 10.0])
def test_returns_out_of_a_loop(limit):
    check(first_above, X, limit)


def run_time_sizes(x, y):
    k = x.shape[0]
    for i in range(x.shape[0]):
        if x[i] > y:
            k = i
            break
    head, tail = x[:k] * 2, x[k:]
    if x[0] > 0:
        return head, tail
    return tail, head, k


@pytest.mark.parametrize("y", [-10.0, -1.0, 2.0, 10.0])
def test_results_of_sizes_found_at_run_time(y):
    check(run_time_sizes, np.sort(X), y)
    check(run_time_sizes, np.sort(X)[::-1], y)


# --- exits


def log_when_large(x, limit):
    total, kept = 0.0, x * 0
    for i in range(x.shape[0]):
        total += x[i]
        if total > limit:
            see(i, total, kept)
        kept[i] = total
    return kept, total


@pytest.mark.parametrize("limit", [-10.0, 1.0, 100.0])
def test_exits_in_the_middle_of_a_loop(limit):
    call = compiled_with(log_when_large, (X, limit), (X, limit), (-X, limit))
    assert facts(call)["compiled"] == 3


def look_when_large(x, limit):
    total, kept = 0.0, x * 0
    for i in range(x.shape[0]):
        total += x[i]
        if total > limit:
            locals()
        kept[i] = total
    return kept, total


def test_side_exits_count_and_are_explained():
    call = compiled_with(look_when_large, (X, 100.0), (X, 100.0))
    found = facts(call)
    assert (found["calls"], found["compiled"], found["side_exits"]) == (2, 2, 0)
    compiled_calls = compiled_with(look_when_large, (X, -100.0), (X, -100.0))
    found = facts(compiled_calls)
    assert (found["compiled"], found["side_exits"], found["interpreted"]) == (2, 2, 0)
    explanation = accel.explain(compiled_calls)(X, -100.0)
    taken = [exit for exit in explanation.exits if exit.times > 0]
    assert [(exit.times, exit.total) for exit in taken] == [(1, 3)]
    assert taken[0].lineno == look_when_large.__code__.co_firstlineno + 5
    assert "1 in this call, 3 since the start" in explanation.report(verbose=True)


def test_fullgraph_names_the_exit():
    call = accel.compile(look_when_large, fullgraph=True)
    with pytest.raises(accel.UnsupportedError) as error:
        call(X, 100.0)
    assert f"exits.py:{look_when_large.__code__.co_firstlineno + 5}" in str(error.value)


def checked_rows(x, n):
    if x.ndim != 1:
        raise ValueError("one axis")
    total = 0.0
    for i in range(n):
        if x[i] > 100:
            raise ArithmeticError("too large")
        total += x[i]
    return total


def test_raising_is_no_reason_to_refuse_a_whole_graph():
    call = accel.compile(checked_rows, fullgraph=True)
    assert_same(checked_rows, call, X, 5, times=2)
    assert facts(call)["side_exits"] == 0
    large = X.copy()
    large[3] = 1000
    assert_same(checked_rows, call, large, 5)
    assert_same(checked_rows, call, X, 7)  # IndexError
    found = facts(call)
    assert (found["compiled"], found["side_exits"]) == (4, 2)
    with accel.set_stance("fail_on_fallback"):
        assert_same(checked_rows, call, large, 5)


def powers_of(x, n):
    value = 1
    for _ in range(n):
        value = value * 3
    return x * 2.0, value


def test_python_ints_that_grow():
    call = compiled_with(powers_of, (X, 5), (X, 39), (X, 40), (X, 60), (X, 39))
    assert facts(call)["compiles"] == 1


def until_the_end(x, n):
    total = 0.0
    try:
        for i in range(n):
            total = total + x[i]
    except IndexError:
        pass
    return total


def test_checks_that_always_fail_are_not_tried_for_ever():
    call = accel.compile(until_the_end)
    assert_same(until_the_end, call, X, 5, times=2)
    assert facts(call)["side_exits"] == 0
    for _ in range(40):
        assert_same(until_the_end, call, X, 7)
    found = facts(call)
    assert found["interpreted"] > 0 and found["side_exits"] < 20
    assert_same(until_the_end, call, X, 5, times=40)
    assert facts(call)["compiled"] > found["compiled"]


# --- writes and events


def scale_rows(x, out):
    for i in range(x.shape[0]):
        out[i] = x[i] * 2
        if out[i] > 50:
            return i
    return out


def test_writes_up_to_a_return():
    check(scale_rows, X, np.zeros(6))
    check(scale_rows, X * 100, np.arange(6.0))
    check(scale_rows, X, np.zeros(12)[::2])
    check(scale_rows, X, np.zeros(12)[::-2])


def inverses(x, out):
    for i in range(x.shape[0]):
        out[i] += 1.0 / x[i]
    return out.sum()


def test_an_event_leaves_no_trace_of_what_was_written():
    holes = X.copy()
    holes[3] = 0.0
    call = check(inverses, X, np.ones(6))
    assert_same(inverses, call, holes, np.ones(6), times=2)
    found = facts(call)
    assert found["side_exits"] == 1 and found["interpreted"] == 1, "later calls record their events"
    before = facts(call)
    with np.errstate(divide="ignore"):
        assert_same(inverses, call, holes, np.ones(6), times=2)
    assert facts(call)["compiled"] == before["compiled"] + 2
    with np.errstate(divide="raise"):
        check_left_to_numpy(inverses, holes, np.ones(6))
        assert_same(inverses, call, holes, np.ones(6), times=2)


def newton(x, steps):
    for _ in range(steps):
        y = x - (x * x - 2.0) / (2.0 * x)
        if np.abs(y - x).max() < 1e-12:
            return y
        x = y
    return x


def test_events_in_loops():
    call = check(newton, np.abs(X), 20)
    zero = np.array([1.0, 0.0])
    with np.errstate(all="ignore"):
        assert_same(newton, call, zero, 5, times=2)
    assert_same(newton, call, zero, 5, times=2)
    with np.errstate(all="raise"):
        assert_same(newton, call, zero, 5, times=2)


@pytest.mark.parametrize("starts", [(0, 6), (0, 3), (0, 0), (1, 0), (0, 1)])
def test_arguments_that_share_memory(starts):
    call = accel.compile(scale_rows)
    for _ in range(2):
        ours, theirs = np.arange(12.0), np.arange(12.0)
        returned = call(*[ours[s : s + 6] for s in starts])
        expected = scale_rows(*[theirs[s : s + 6] for s in starts])
        np.testing.assert_array_equal(ours, theirs)
        np.testing.assert_array_equal(returned, expected)
        assert np.shares_memory(ours, returned)


def first_set(x):
    x[0] = 5.0
    return x


def test_stores_that_numpy_warns_of():
    for other in (np.ones(4), np.ones((1, 3, 4))):
        with np.errstate(all="ignore"):
            arrays = [np.broadcast_arrays(np.ones((3, 4)), other) for _ in range(2)]
        for ours, theirs in zip(*arrays, strict=True):
            outcomes = []
            for function, array in ((first_set, ours), (accel.compile(first_set), theirs)):
                with warnings.catch_warnings(record=True) as caught:
                    warnings.simplefilter("always")
                    outcomes.append((function(array).tolist(), [str(w.message) for w in caught]))
            assert outcomes[0] == outcomes[1]


# --- threads


def spin(x, n):
    total = x[0]
    for i in range(n):
        total = total * 0.5 + x[0]
    return total


def test_other_threads_run_meanwhile():
    x = np.ones(1)
    call = accel.compile(spin)
    call(x, 10)
    ticks, done = [], threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    begun = time.perf_counter()
    call(x, 100_000_000)
    ended = time.perf_counter()
    done.set()
    thread.join()
    assert facts(call)["compiled"] == 2
    assert sum(begun < t < ended for t in ticks) > 3
