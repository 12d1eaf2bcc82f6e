"""Calls of the process see what a compiled function has set before them, and may change it."""

import pytest
from support.changed_state import X, parameters, state
from support.compiled import facts
from support.outcome import assert_same, describe
from support.python_calls import Opaque

import accel

SEEN = []


class Watch:
    """A callee that capture cannot look into: it sees what the objects hold meanwhile."""

    @Opaque
    def __call__(self, *objects):
        SEEN.append([describe(each) for each in objects])


watch = Watch()


def watched_steps(s, x):
    for k in range(4):
        s.energy += k * x.sum()
        s.x = s.x * 0.5 + x
        watch(s)
    s.energy *= 2
    return s.energy


def watched_once(s, x):
    s.energy = x.sum()
    s.x = x + 1
    watch(s)
    s.x = s.x * 2
    return s.x.sum()


def watched_and_set_back(s, x):
    before = s.x
    for _ in range(3):
        s.x = x * 2
        watch(s)
        s.x = before
        watch(s, s.x)
    return x.sum()


def watched_dict(d, x):
    for k in range(3):
        d["b"] += k
        d["w"] = d["w"] * x
        watch(d)
    return d["b"]


def watched_new(s, x):
    s.new = x.sum()
    watch(s)
    s.newer = x + s.new
    watch(s)
    return s.new


def logged(s, x):
    for k in range(3):
        s.x = s.x * 0.5 + x
        s.log.append(float(s.x.sum()))
        s.steps = k
    return s.steps


def assert_same_and_seen(function, *arguments):
    call = accel.compile(function)
    for _ in range(4):
        SEEN.clear()
        assert_same(function, call, *arguments, times=1)
        assert len(SEEN) % 2 == 0
        assert SEEN[: len(SEEN) // 2] == SEEN[len(SEEN) // 2 :]
    SEEN.clear()
    found = facts(call)
    assert found["interpreted"] == 0 and found["side_exits"] <= 1, accel.explain(call)(*arguments)


@pytest.mark.parametrize("function", [watched_steps, watched_once, watched_and_set_back, watched_new])
def test_calls_see_stores(function):
    assert_same_and_seen(function, state(), X)


def test_calls_see_items():
    assert_same_and_seen(watched_dict, parameters(), X)


def test_appending_to_a_list_of_an_object():
    assert_same_and_seen(logged, state_with_log(), X)


def state_with_log():
    s = state()
    s.log, s.steps = [1.0], 0
    return s


@pytest.mark.parametrize("change", ["value", "array", "other", "kept"])
def test_calls_that_change_what_was_set(change):
    kept = []

    def meddle(s, k):
        if k != 2:
            return
        if change == "value":
            s.energy = -1.0
        elif change == "array":
            s.x[0] = 7
        elif change == "other":
            s.v = s.v + 1
        else:
            kept.append(s.x)

    def function(s, x):
        for k in range(4):
            s.x = s.x + x
            s.energy += s.x.sum()
            meddle(s, k)
        s.x = s.x + s.v
        return s.energy

    call = accel.compile(function)
    for _ in range(4):
        kept.clear()
        assert_same(function, call, state(), X, times=1)
        assert len(kept) in (0, 2) and (not kept or describe(kept[0]) == describe(kept[1]))
    assert facts(call)["compiled"] == 4


def test_a_call_that_raises_after_stores():
    def fail_at(s, k):
        if k == 2:
            raise ValueError("no more")

    def function(s, x):
        for k in range(4):
            s.x = s.x + x
            s.energy = float(k)
            fail_at(s, k)
        return s.energy

    call = accel.compile(function)
    for _ in range(4):
        assert_same(function, call, state(), X, times=1)
    assert facts(call)["interpreted"] == 0


def test_calls_see_items_of_lists():
    def function(layers, x):
        for k in range(3):
            layers[0] = layers[0] * x
            layers[1] += k
            watch(layers)
        return layers[1]

    assert_same_and_seen(function, [X, 1.5], X)
