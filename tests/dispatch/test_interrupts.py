"""Exceptions of signals in compiled code: raised in the function's own frame, soon, and what was done before stays."""

import ctypes
import signal
import threading
import time
import traceback

import numpy as np
import pytest
from support.compiled import facts
from support.differential import sample
from support.endless_loops import ENDLESS, LOOPS, counted_loop, loop_of_chains, loop_of_stores
from support.interrupts import AFTER, Alarm, assert_soon, interrupted, slow_compiler

import accel
import accel.logging
from accel import _accel

# --- loops ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("function", LOOPS, ids=lambda f: f.__name__)
def test_a_loop_is_interrupted_in_the_function(function):
    call = accel.compile(function)
    for _ in range(2):
        call(sample((100,)), 2)
    found = facts(call)
    assert found["compiled"] > 0 and found["interpreted"] == 0, found

    def measure():
        late, frames = interrupted(call, sample((100,)), ENDLESS)
        assert frames[0].name == function.__name__, frames  # perhaps in a function that it calls
        lines = function.__code__.co_firstlineno + 1, max(line for _, _, line in function.__code__.co_lines() if line)
        assert lines[0] <= frames[0].lineno <= lines[1]
        return late

    assert_soon(measure)


# --- what was done before stays ---------------------------------------------------------------------------------------


def add_in_rounds(x, y, n):
    for i in range(n):
        x += 1.0
        y[i % 3] += x[0]


def fill_in_rounds(x, y, n):
    for i in range(n):
        for k in range(len(x)):
            x[k] = i
        y[i % 2] = i


def test_iterations_that_have_ended_stay():
    call = accel.compile(add_in_rounds)
    call(np.zeros(50), np.zeros(3), 2)
    x, y = np.zeros(50), np.zeros(3)
    interrupted(call, x, y, ENDLESS)
    assert x[0] > 10 and np.all(x == x[0])
    assert y.sum() == x[0] * (x[0] + 1) / 2
    assert facts(call)["interpreted"] == 0


def test_underflow_that_nobody_hears_of_undoes_nothing():
    def shrink(x, n):
        try:
            for _ in range(n):
                x[0] += 1.0
                x[1] *= 1e-200
        except KeyboardInterrupt:
            return "stopped"

    call = accel.compile(shrink)
    call(np.ones(3), 3)
    x = np.array([0.0, 1.0, 1.0])
    with Alarm():
        assert call(x, ENDLESS) == "stopped"
    assert x[0] > 1000 and x[1] == 0
    assert facts(call)["interpreted"] == 0


def test_a_counter_that_stands_still():
    def stand(x, step):
        k = 0
        while k < 10:
            x[k % 3] += 1.0
            k += step
        return k

    call = accel.compile(stand)
    assert call(np.zeros(3), 1) == call(np.zeros(3), 3) - 2 == 10
    _, frames = interrupted(call, np.zeros(3), 0)
    assert frames[0].name == "stand" and facts(call)["interpreted"] == 0


def test_an_inner_loop_ends_where_one_of_its_iterations_does():
    call = accel.compile(fill_in_rounds)
    call(np.zeros(5), np.zeros(2), 2)
    x, y = np.zeros(1000), np.zeros(2)
    interrupted(call, x, y, ENDLESS)
    assert x[0] > 10 and np.all((x == x[0]) | (x == x[0] - 1)) and np.all(np.diff(x) <= 0)
    assert y.max() in (x[0], x[0] - 1)
    assert facts(call)["interpreted"] == 0


def tick(x, y, n):
    for _ in range(n):
        x += 1.0
        y += x * 0.5


def tick_by_counter(x, y, n):
    for i in range(n):
        x += 1.0
        y += i * 0.5


@pytest.mark.parametrize("size", [1000, 300_000])
@pytest.mark.parametrize("function", [tick, tick_by_counter])
def test_iterations_of_loops_that_run_tile_by_tile_stay(function, size):
    call = accel.compile(function)
    for n in (2, 50):
        x, y, expected = np.zeros(size), np.zeros(size), (np.zeros(size), np.zeros(size))
        call(x, y, n)
        function(*expected, n)
        assert np.array_equal(x, expected[0]) and np.array_equal(y, expected[1])
    if function is tick:
        assert "runs tile by tile" in accel.explain(call)(np.zeros(5), np.zeros(5), 5).report(verbose=True)

    def measure():
        x, y = np.zeros(size), np.zeros(size)
        late, frames = interrupted(call, x, y, ENDLESS)
        assert frames[-1].name == function.__name__ and frames[-1].line.startswith("for ")
        assert x[0] > 10 and np.all(x == x[0]) and np.all(y == x[0] * (x[0] + (1 if function is tick else -1)) / 4)
        return late

    assert_soon(measure)
    assert facts(call)["interpreted"] == 0


def test_elements_that_a_loop_keeps_in_registers_are_stored():
    def count(x, n):
        for _ in range(n):
            x[0] += 1.0
            x[1] += x[0]

    call = accel.compile(count)
    call(np.zeros(3), 2)
    x = np.zeros(3)
    interrupted(call, x, ENDLESS)
    assert x[0] > 1000 and x[1] == pytest.approx(x[0] * (x[0] + 1) / 2, rel=1e-6) and x[2] == 0
    assert facts(call)["interpreted"] == 0


def test_handlers_know_the_iteration_of_a_loop_that_runs_tile_by_tile():
    def rounds(x, n):
        i, y = -1, np.zeros(len(x))
        try:
            for i in range(n):
                x += 1.0
                y = y * 0.5 + x
        except KeyboardInterrupt:
            return i, y
        return i, y * 2.0

    call = accel.compile(rounds)
    for n in (0, 1, 7):
        x, other = np.zeros(500), np.zeros(500)
        i, y = call(x, n)
        assert i == n - 1 and np.array_equal(y, rounds(other, n)[1]) and np.array_equal(x, other)
    x = np.zeros(500)
    with Alarm():
        i, y = call(x, ENDLESS)
    assert i > 10 and np.all(x == i + 1) and np.all(np.abs(y - 2 * i) < 1e-6)
    assert facts(call)["interpreted"] == 0


class Timeout(Exception):
    pass


def test_an_alarm_in_a_compiled_function_that_a_compiled_function_calls():
    def inner(x, n):
        for i in range(n):
            x[i % 9] += 1.0

    def outer(calls, x, n):
        y = x * 0.0
        try:
            calls[0](x, n)
        except Timeout:
            y += 1.0
            return y
        return y

    def expire(*_):
        raise Timeout

    compiled = accel.compile(inner)
    call = accel.compile(outer)
    assert np.array_equal(call([compiled], np.zeros(9), 5), np.zeros(9))
    x = np.zeros(9)
    before = signal.signal(signal.SIGALRM, expire)
    signal.setitimer(signal.ITIMER_REAL, AFTER)
    try:
        assert np.array_equal(call([compiled], x, ENDLESS), np.ones(9))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert x[-1] > 10 and x[0] - x[-1] in (0, 1)
    assert facts(compiled)["interpreted"] == 0


def test_finally_runs():
    ended = []

    def clean_up(x, n):
        try:
            for i in range(n):
                x[i % 20] += 1.0
        finally:
            ended.append(len(x))

    call = accel.compile(clean_up)
    call(np.zeros(20), 2)
    x = np.zeros(20)
    _, frames = interrupted(call, x, ENDLESS)
    assert frames[0].name == "clean_up" and frames[0].line == "for i in range(n):"
    assert ended == [20, 20] and x[-1] > 10 and x[0] - x[-1] in (0, 1)
    assert facts(call)["interpreted"] == 0


def test_except_runs():
    def stop_early(x, n):
        try:
            for _ in range(n):
                x += 1.0
        except KeyboardInterrupt:
            return "stopped"
        return "ended"

    call = accel.compile(stop_early)
    assert call(np.zeros(20), 2) == "ended"
    with Alarm():
        assert call(np.zeros(20), ENDLESS) == "stopped"
    assert facts(call)["interpreted"] == 0
    assert call(np.zeros(20), 2) == "ended"


def test_what_handlers_read_is_there():
    def best_so_far(x, n):
        s, i = 0.0, 0
        try:
            # Not `while i < n`: CPython 3.13 repeats the test at the end of the loop, and the jump back after it, at which
            # signals raise, is outside of the try there.
            while True:
                if i >= n:
                    break
                s = s * 0.5 + x[i % 7]
                i += 1
        except KeyboardInterrupt:
            return s, i
        return s, -1

    def known(x, n):
        s = 0.0
        for i in range(max(n - 60, 0), n):
            s = s * 0.5 + x[i % 7]
        return s

    call = accel.compile(best_so_far)
    x = sample((7,))
    assert call(x, 9) == best_so_far(x, 9)
    assert facts(call)["compiled"] == 1
    with Alarm():
        s, i = call(x, ENDLESS)
    assert i >= 0 and s == pytest.approx(known(x, i), rel=1e-12)


def test_functions_within_functions():
    def inner(x, n):
        for i in range(n):
            x[i % 9] += 1.0

    def outer(x, n):
        x *= 2.0
        inner(x, n)
        return x

    call = accel.compile(outer)
    call(np.zeros(9), 2)
    x = np.ones(9)
    _, frames = interrupted(call, x, ENDLESS)
    assert [frame.name for frame in frames] == ["outer", "inner"] and frames[0].line == "inner(x, n)"
    assert x[-1] > 10 and x[0] - x[-1] in (0, 1)
    assert facts(call)["interpreted"] == 0


def test_no_loop_but_one_operation():
    def waves(x):
        return np.sin(x) + np.cos(x) * np.exp(-x * x) + np.tanh(x)

    call = accel.compile(waves)
    call(np.ones(5))
    try:
        with Alarm(0.05):
            for _ in range(1000):
                call(np.ones(3_000_000))
        pytest.fail("not interrupted")
    except KeyboardInterrupt:
        pass
    assert np.array_equal(call(np.arange(5.0)), waves(np.arange(5.0)))


# --- signals that raise nothing, and threads --------------------------------------------------------------------------


def test_a_handler_that_returns_leaves_the_run_alone():
    seen, stop = [], threading.Event()
    call = accel.compile(counted_loop)
    call(None, 5)

    def send():
        while not stop.wait(0.05):
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    before = signal.signal(signal.SIGINT, lambda *_: seen.append(1))
    thread = threading.Thread(target=send)
    thread.start()
    begin = time.perf_counter()
    try:
        while len(seen) < 5 and time.perf_counter() - begin < 20:
            call(None, 20_000_000)
    finally:
        stop.set()
        thread.join()
        signal.signal(signal.SIGINT, before)
    assert len(seen) >= 5 and facts(call)["side_exits"] == facts(call)["interpreted"] == 0


class Sent(Exception):
    pass


@pytest.mark.parametrize("function", [counted_loop, loop_of_stores, loop_of_chains])
def test_an_exception_that_is_sent_to_another_thread(function):
    call = accel.compile(function)
    call(sample((100,)), 2)
    ended, begun = [], threading.Event()

    def run():
        try:
            begun.set()
            call(sample((100,)), ENDLESS)
        except Sent as raised:
            ended.append((time.perf_counter(), traceback.extract_tb(raised.__traceback__)))

    def measure():
        thread = threading.Thread(target=run)
        begun.clear()
        thread.start()
        assert begun.wait(20)
        time.sleep(0.1)
        sent = time.perf_counter()
        assert ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(Sent)) == 1
        thread.join(20)
        assert not thread.is_alive()
        when, frames = ended.pop()
        assert frames[-1].name == function.__name__
        return when - sent

    assert_soon(measure)
    assert facts(call)["interpreted"] == 0


def test_other_threads_run_meanwhile():
    call = accel.compile(counted_loop)
    call(None, 2)
    beats = []
    thread = threading.Thread(target=lambda: [beats.append(time.sleep(0.005)) for _ in range(20)])
    thread.start()
    interrupted(call, None, ENDLESS)
    assert len(beats) == 20  # the loop has run for longer
    thread.join()
    assert facts(call)["interpreted"] == 0


@pytest.mark.parametrize("size", [3, 1_000_000])
def test_a_function_that_a_run_calls_waits_without_the_gil(size):
    """The doctor waits for a compiler, and polls for interrupts meanwhile."""

    def examined(x):
        y = x + 1
        _accel.examine()
        return y * 2

    call = accel.compile(examined)
    for _ in range(3):
        assert np.array_equal(call(np.ones(size)), np.full(size, 4.0))
    assert facts(call)["compiled"] > 0


# --- compilation ------------------------------------------------------------------------------------------------------


def test_compilation_is_interrupted(tmp_path):
    def sums(x):
        try:
            s = 0.0
            for i in range(len(x)):
                s = s * 0.123 + x[i]
        except KeyboardInterrupt:
            return "stopped"
        return s

    plain = sums(np.ones(5))
    with accel.config(cache_dir=str(tmp_path / "cache"), compiler=slow_compiler(tmp_path, 5)):
        call = accel.compile(sums)

        def measure():
            with Alarm() as alarm:
                assert call(np.ones(5)) == "stopped"
            return alarm.late

        assert_soon(measure)
        call = accel.compile(slow := lambda x: x * 0.317 + 2.0)
        late, frames = interrupted(call, np.ones(5))
        assert frames[-1].name == slow.__name__
    call = accel.compile(sums)
    assert call(np.ones(5)) == plain and facts(call)["compiled"] == 1


def test_a_signal_that_comes_while_a_slow_compilation_is_reported(monkeypatch, tmp_path):
    def report(text):
        raise KeyboardInterrupt

    monkeypatch.setattr(accel.logging, "_say_slow", report)
    with accel.config(cache_dir=str(tmp_path / "cache"), compiler=slow_compiler(tmp_path, 5), slow_compile=0.05):
        call = accel.compile(doubled := lambda x: x * 0.5713 + 2.0)
        begin = time.perf_counter()
        with pytest.raises(KeyboardInterrupt) as raised:
            call(np.ones(5))
    assert time.perf_counter() - begin < 3
    assert [entry.name for entry in raised.traceback][-2:] == [doubled.__name__, "report"]


def test_a_thread_that_waits_for_the_compilation_of_another_is_not_interrupted_with_it(tmp_path):
    def sums(x):
        return np.sum(x * 0.771) + 3.0

    found = []
    with accel.config(cache_dir=str(tmp_path / "cache"), compiler=slow_compiler(tmp_path, 1)):
        call = accel.compile(sums)
        other = accel.compile(sums)
        thread = threading.Thread(target=lambda: (time.sleep(0.1), found.append(other(np.ones(5)))))
        thread.start()
        interrupted(call, np.ones(5))
        thread.join()
    assert found == [sums(np.ones(5))] and facts(other)["compiled"] == 1
