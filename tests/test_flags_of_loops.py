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
        assert n > 1000 and x.sum() == n and x.max() - x.min() <= 1
        compiled.append(facts(call)["compiled"])
        return late

    compile_first()
    assert_soon(measure)
    assert compiled[-1] > 0 and facts(call)["interpreted"] == 0


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
