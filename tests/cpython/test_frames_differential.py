"""Handing a frame over at every dynamic boundary changes nothing that Python code can observe."""

import array
import sys
import types

import accel_frames_test as frames
import frame_functions
import pytest
from frame_functions import CASES, observe


def settings(name):
    """Bombs to set off: none, and each operation of the function in turn."""
    make, call = CASES[name]
    for _ in range(60):  # warm up, so that the bytecode is specialised
        observe(call, make())
    count = observe(call, make())[2]
    return [-1, count] if name == "many" else [-1, *range(1, count + 1)]


# super() without arguments looks at the frame it is called from, so it is never run without one.
MODES = [(name, visible) for name in CASES for visible in (False, True) if visible or name != "method"]


def boundaries(name, at, visible):
    """Limits that stop the native run at each boundary it reaches."""
    make, call = CASES[name]
    observe(call, frames.native(make(), visible=visible), at)
    steps = frames.report()[0]
    return range(0, steps + 1, 7) if name == "many" else range(steps + 1)


@pytest.mark.parametrize(("name", "visible"), MODES)
def test_hand_over_everywhere(name, visible, monkeypatch):
    monkeypatch.setattr(frame_functions, "frames_are_visible", visible)
    make, call = CASES[name]
    runs, handed_over = 0, 0
    for at in settings(name):
        expected = observe(call, make(), at)
        for limit in [-1, *boundaries(name, at, visible)]:
            got = observe(call, frames.native(make(), limit=limit, visible=visible), at)
            assert got == expected, (at, limit, frames.report())
            handed_over += frames.report()[2] != 1
            runs += 1
    assert runs >= 10 and runs - handed_over <= 2 * len(settings(name))


TRACERS = ["settrace", "settrace_opcodes", "setprofile"]
TRACERS += ["monitoring", "monitoring_instructions"] if sys.version_info >= (3, 12) else []


class Watching:
    """Watches with one of TRACERS; the events are counted."""

    def __init__(self, how):
        self.how, self.events = how, 0

    def trace(self, frame, event, arg):
        self.events += 1
        frame.f_trace_opcodes = self.how == "settrace_opcodes"
        return self.trace

    def count(self, *args):
        self.events += 1

    def monitor(self):
        m = sys.monitoring
        m.use_tool_id(2, "test")
        wanted = {v for k, v in vars(m.events).items() if not k.startswith("_") and v}
        if self.how == "monitoring":
            wanted -= {m.events.INSTRUCTION, m.events.LINE}
        for event in wanted:
            m.register_callback(2, event, self.count)
        m.set_events(2, sum(wanted))

    def __enter__(self):
        if self.how.startswith("settrace"):
            sys.settrace(self.trace)
        elif self.how == "setprofile":
            sys.setprofile(self.count)
        else:
            self.monitor()
        return self

    def __exit__(self, *exception):
        if self.how.startswith("settrace"):
            sys.settrace(None)
        elif self.how == "setprofile":
            sys.setprofile(None)
        else:
            sys.monitoring.set_events(2, 0)
            sys.monitoring.free_tool_id(2)


def check_watched(name, how):
    make, call = CASES[name]
    for at in settings(name)[:: 1 if how == "settrace" else 5]:
        expected = observe(call, make(), at)[:3]
        for limit in boundaries(name, at, True)[::3]:
            with Watching(how) as watching:
                got = observe(call, frames.native(make(), limit=limit, visible=True), at)[:3]
            assert got == expected, (at, limit)
            assert watching.events > 0


@pytest.mark.parametrize("name", [n for n in CASES if n != "many"])
def test_hand_over_while_watched(name):
    for how in TRACERS:
        check_watched(name, how)


# --- tracing that starts in the middle ----------------------------------------------------------------------------------

events = []


def tracer(frame, event, arg):
    if frame.f_code.co_name == "traced_from_inside":
        events.append((event, frame.f_lineno))
    return tracer


def start_tracing():
    sys._getframe(1).f_trace = tracer
    sys.settrace(tracer)


def traced_from_inside(a, b):
    x = a
    start_tracing()
    y = x + 1
    for i in range(2):
        y += i
    try:
        y / 0  # noqa: B018
    except ZeroDivisionError:
        y = 7
    sys.settrace(None)
    return y


def run_traced(function):
    events.clear()
    try:
        return function(1, 2), list(events)
    finally:
        sys.settrace(None)


def test_tracing_that_starts_in_the_middle():
    """Up to the call that switches tracing on, the events after a hand-over are the interpreter's own."""
    expected = run_traced(traced_from_inside)
    code = frames.decode(traced_from_inside.__code__)
    start = next(i for i in code if i["line"] == traced_from_inside.__code__.co_firstlineno + 2 and i["op"] == "call")
    resume_points = [i for i in code if i["part"] == 0]
    for limit in range(sum(i["offset"] <= start["offset"] for i in resume_points)):
        assert run_traced(frames.native(traced_from_inside, limit=limit, visible=True)) == expected, limit
    for limit in range(60):
        assert run_traced(frames.native(traced_from_inside, limit=limit, visible=True))[0] == expected[0], limit


# --- loops that the interpreter specialises -----------------------------------------------------------------------------


class Sequence:
    def __getitem__(self, index):
        if index > 2:
            raise IndexError
        return index


ITERABLES = {
    "list": lambda: [1, 2, 3],
    "tuple": lambda: (1, 2, 3),
    "str": lambda: "abc",
    "bytes": lambda: b"abc",
    "dict": lambda: {1: 2, 3: 4},
    "set": lambda: {1, 2},
    "range": lambda: range(3),
    "array": lambda: array.array("d", [1, 2]),
    "sequence": Sequence,
    "generator": lambda: (x for x in (1, 2)),
    "iterator": lambda: iter([1, 2, 3]),
    "empty": list,
}


def nested_loops(items):
    out = []
    for x in items:
        out.append(x)
        for y in items:
            out.append(y)
            if len(out) > 9:
                break
    return out, [z for z in items]


@pytest.mark.parametrize("seen", ITERABLES)
def test_loops_specialised_for_another_iterable(seen):
    function = types.FunctionType(nested_loops.__code__.replace(), globals())
    for _ in range(300):
        function(ITERABLES[seen]())
    for make in ITERABLES.values():
        expected = function(make())
        for limit in range(0, 100, 1 if seen == "list" else 3):
            assert frames.native(function, limit=limit)(make()) == expected, limit
