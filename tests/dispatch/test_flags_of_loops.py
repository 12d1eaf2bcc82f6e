"""What signal handlers and other threads set while a loop runs ends it; what it has done so far is seen by them."""

import threading
import time

import numpy as np
import pytest
from support.compiled import facts
from support.endless_loops import ENDLESS
from support.interrupts import AFTER, Alarm, assert_soon

import accel


class State:
    def __init__(self, **values):
        self.__dict__.update(values)


def until_attribute(s, x):
    n = 0
    while not s.stop:
        x[n % 5] += 1.0
        n += 1
    return n


def until_item(s, x):
    n = 0
    while not s[0]:
        x[n % 5] += 1.0
        n += 1
    return n


def until_key(s, x):
    n = 0
    while s["stop"] == 0:
        x[n % 5] += 1.0
        n += 1
    return n


def until_element_in_counted_loop(s, x):
    for n in range(ENDLESS):
        if s[1] > 0:
            break
        x[n % 5] += 1.0
    return n


def break_of_counted_loop(s, x):
    for n in range(ENDLESS):
        if s.stop:
            break
        x[n % 5] += 1.0
    return n


def break_of_inner_loop(s, x):
    n = 0
    for _ in range(3):
        for _ in range(ENDLESS):
            if n % 2 == 0 and s[0]:
                break
            x[n % 5] += 1.0
            n += 1
    return n


def return_from_loop_over_tiles(s, x):
    for n in range(ENDLESS):
        if s.stop:
            return 5 * n
        x += 1.0


def loop_around_a_loop(s, x):
    for n in range(ENDLESS):
        if s[0]:
            break
        for _ in range(200_000):
            x[0] += 1e-9
        x[n % 5] = np.floor(x[n % 5] + 1.0)
    x[0] = np.floor(x[0])
    return n


class Stopped(Exception):
    pass


def check(s):
    if s.first and s.stop:
        raise Stopped


def raise_in_function(s, x):
    n = 0
    try:
        for n in range(ENDLESS):
            check(s)
            x[n % 5] += 1.0
    except Stopped:
        return n


def while_loop_with_two_ends(s, x):
    n = 0
    while n < ENDLESS:
        if s["stop"] is not None:
            break
        x[n % 5] += 1.0
        n += 1
    return n


STOP = False


def flag_of_module(s, x):
    for n in range(ENDLESS):
        if STOP:
            return n
        x[n % 5] += 1.0


def set_in_module(value):
    global STOP
    STOP = value


def until_number_of_array(s, x):
    n = 0
    while s == 0.0:
        for k in range(5):
            x[k] += 1.0
        n += 5
    return n


FLAGS = {
    "element": (until_item, lambda: np.zeros(1, bool), lambda s: s.__setitem__(0, True)),
    "element in a counted loop": (until_element_in_counted_loop, lambda: np.zeros(2, np.int8), lambda s: s.__setitem__(1, 3)),
    "number of an array": (until_number_of_array, lambda: np.zeros(()), lambda s: s.__setitem__((), 0.5)),
    "attribute": (until_attribute, lambda: State(stop=False), lambda s: setattr(s, "stop", True)),
    "item": (until_item, lambda: [False], lambda s: s.__setitem__(0, True)),
    "key": (until_key, lambda: {"stop": 0}, lambda s: s.__setitem__("stop", 1)),
    "attribute in a counted loop": (break_of_counted_loop, lambda: State(stop=False), lambda s: setattr(s, "stop", True)),
    "item in an inner loop": (break_of_inner_loop, lambda: [False], lambda s: s.__setitem__(0, True)),
    "item around a loop": (loop_around_a_loop, lambda: [False], lambda s: s.__setitem__(0, True)),
    "loop over tiles": (return_from_loop_over_tiles, lambda: State(stop=0), lambda s: setattr(s, "stop", 1)),
    "inlined function": (raise_in_function, lambda: State(first=False, stop=True), lambda s: setattr(s, "first", True)),
    "key and end of its own": (while_loop_with_two_ends, lambda: {"stop": None}, lambda s: s.__setitem__("stop", "now")),
    "global": (flag_of_module, lambda: set_in_module(False), lambda s: set_in_module(True)),
}


@pytest.mark.parametrize("by", ["signal", "thread"])
@pytest.mark.parametrize("kind", FLAGS)
def test_a_loop_ends_when_somebody_sets_its_flag(kind, by):
    function, make, set_flag = FLAGS[kind]
    call = accel.compile(function)
    compiled = []

    def compile_first():
        state, x = make(), np.zeros(5)

        def set_when_it_runs():
            while x[0] == 0:
                time.sleep(0.01)
            set_flag(state)

        thread = threading.Thread(target=set_when_it_runs)
        thread.start()
        call(state, x)
        thread.join()

    def measure(after=AFTER):
        state, x = make(), np.zeros(5)
        if by == "thread":
            timer = threading.Timer(after, set_flag, (state,))
            timer.start()
            begin = time.perf_counter()
            n = call(state, x)
            late = time.perf_counter() - begin - after
            timer.join()
        else:
            with Alarm(after, lambda *_: set_flag(state)) as alarm:
                n = call(state, x)
            late = alarm.late
        assert n > 100 and x.sum() == n and x.max() - x.min() <= 1
        compiled.append(facts(call)["compiled"])
        return late

    compile_first()
    assert_soon(measure)
    assert compiled[-1] > 0 and facts(call)["interpreted"] == 0


def test_a_loop_that_threads_share_ends_when_its_flag_is_set():
    def fill(s, x, index, n):
        for i in range(n):
            if s.stop:
                break
            y = 1.0
            for _ in range(1_000_000):
                y = y * 0.5 + 1.0
            x[index[i]] = y
        return i

    def fill_in_order(s, x, n):
        for i in range(n):
            if s.stop:
                return i
            y = 1.0
            for _ in range(1_000_000):
                y = y * 0.5 + 1.0
            x[i] = y

    call = accel.compile(fill_in_order)
    call(State(stop=False), np.zeros(5), 5)

    def measure():
        state, x = State(stop=False), np.zeros(20_000)
        with Alarm(AFTER, lambda *_: setattr(state, "stop", True)) as alarm:
            n = call(state, x, len(x))
        assert 10 < n == np.count_nonzero(x) and np.all(x[:n] == 2)
        return alarm.late

    assert_soon(measure)
    assert facts(call)["interpreted"] == 0


def test_progress_is_seen_while_a_loop_runs():
    def walk(s, n):
        y = 0.0
        for i in range(n):
            y = y * 0.5 + i
            s.done = i
            s.value = y
        return y

    call = accel.compile(walk)
    assert call(s := State(done=0, value=0.0), 5) == s.value and s.done == 4
    s, seen = State(done=-1, value=0.0), []

    def watch():
        for _ in range(6):
            time.sleep(0.1)
            seen.append(s.done)

    thread = threading.Thread(target=watch)
    thread.start()
    alarm = Alarm(1.0)
    with alarm, pytest.raises(KeyboardInterrupt):
        call(s, ENDLESS)
    thread.join()
    assert seen[-1] > seen[0] >= -1 and len(set(seen)) >= 3, seen
    assert s.done >= seen[-1] and s.done < s.value < 2 * s.done + 1
    assert facts(call)["interpreted"] == 0


def test_what_was_seen_of_a_run_that_is_undone_is_put_back():
    def total(s, x, y, n):
        for _ in range(n):
            s.done = s.done + 1
            y = np.sin(y)
        x *= 1e300
        return y

    call = accel.compile(total)
    call(State(done=0), np.ones(3), np.ones(9), 5)
    state, seen, ended = State(done=0), [], threading.Event()

    def watch():
        while not ended.wait(0.01):
            seen.append(state.done)

    thread = threading.Thread(target=watch)
    thread.start()
    with pytest.warns(RuntimeWarning, match="overflow"):
        call(state, np.full(3, 1e300), np.ones(200_000), 300)
    ended.set()
    thread.join()
    assert state.done == 300 and any(0 < done < 300 for done in seen)
    assert facts(call)["compiled"] > 0
