"""Versions of dicts and types, and whether somebody watches a function."""

import sys

import accel_frames_test as frames
import pytest


def version(dict_):
    return frames.dict_version(dict_)[0]


CHANGES = {
    "insert": lambda d: d.__setitem__("new", 1),
    "replace": lambda d: d.__setitem__("a", object()),
    "delete": lambda d: d.__delitem__("a"),
    "pop": lambda d: d.pop("a"),
    "popitem": lambda d: d.popitem(),
    "clear": lambda d: d.clear(),
    "update": lambda d: d.update(b=2),
    "setdefault": lambda d: d.setdefault("z", 0),
    "merge": lambda d: d.__ior__({"k": 1}),
    "copy into empty": lambda d: (d.clear(), d.update({"k": 1})),
}


@pytest.mark.parametrize("change", CHANGES)
def test_every_change_of_a_dict_counts(change):
    d = {"a": 1, "b": 1}
    before = version(d)
    assert version(d) == before
    d.get("a"), list(d), d.copy(), d == {}
    assert version(d) == before
    CHANGES[change](d)
    assert version(d) != before


def test_globals_of_a_module():
    before = version(globals())
    globals()["a_new_name"] = 1
    assert version(globals()) != before


def test_a_dict_that_dies_takes_its_version_along():
    """A dict at the same address is another dict."""
    seen = set()
    for _ in range(200):
        d = {"x": 1}
        found = frames.dict_version(d)
        assert found not in seen or sys.version_info < (3, 12)
        seen.add(found)
        del d


def test_type_versions():
    class A:
        x = 1

    class B(A):
        pass

    first = frames.assign_type_version(B)
    assert first and frames.type_version(B) == first
    A.x = 2
    assert frames.type_version(B) != first
    second = frames.assign_type_version(B)
    assert second not in (0, first)
    B().instance_attribute = 1
    assert frames.type_version(B) == second
    assert frames.assign_type_version(int)


def watched_function(a):
    return a


def test_nobody_watches():
    watched_function(1)
    assert not frames.is_watched(watched_function.__code__)


def test_tracing_and_profiling_are_seen():
    for start in (sys.settrace, sys.setprofile):
        watched_function(1)
        start(lambda *a: None)
        try:
            watched_function(1)
            seen = frames.is_watched(watched_function.__code__)
        finally:
            start(None)
        watched_function(1)
        assert seen and not frames.is_watched(watched_function.__code__)


def monitor_globally_and_locally():
    m, code = sys.monitoring, watched_function.__code__
    for start in (m.set_events, lambda tool, events: m.set_local_events(tool, code, events)):
        start(1, m.events.LINE)
        yield frames.is_watched(code)
        watched_function(1)
        yield frames.is_watched(code)
        start(1, 0)
        watched_function(1)
        yield not frames.is_watched(code)


def test_monitoring_is_seen():
    if sys.version_info < (3, 12):
        assert not hasattr(sys, "monitoring")
        return
    sys.monitoring.use_tool_id(1, "test")
    sys.monitoring.register_callback(1, sys.monitoring.events.LINE, lambda code, line: None)
    try:
        assert all(monitor_globally_and_locally())
    finally:
        sys.monitoring.register_callback(1, sys.monitoring.events.LINE, None)
        sys.monitoring.free_tool_id(1)


@pytest.mark.skipif(sys.version_info < (3, 15), reason="events of exceptions are those of all code")
def test_exceptions_of_one_code_are_seen():
    m, code = sys.monitoring, watched_function.__code__
    m.use_tool_id(1, "test")
    m.register_callback(1, m.events.RAISE, lambda *event: None)
    try:
        m.set_local_events(1, code, m.events.RAISE)
        watched_function(1)
        seen = frames.is_watched(code)
        m.set_local_events(1, code, 0)
    finally:
        m.register_callback(1, m.events.RAISE, None)
        m.free_tool_id(1)
    watched_function(1)
    assert seen and not frames.is_watched(code)
