"""Frames of inlined calls: the inner one runs first, with the outer ones linked behind it."""

import gc
import sys
import traceback

import accel_frames_test as frames
import pytest

seen = []


def look(depth=3):
    """Notes the calling frames: name and line relative to the function."""
    f, out = sys._getframe(1), []
    for _ in range(depth):
        out.append((f.f_code.co_name, f.f_lineno - f.f_code.co_firstlineno, dict(f.f_locals)))
        f = f.f_back
    seen.append(out)


def inner(a, b):
    t = a * b
    look()
    return t + 100


def middle(a, b):
    u = a + b
    try:
        v = inner(u, b)
    except ZeroDivisionError as e:
        return ["middle", [(x.name, x.lineno) for x in traceback.extract_tb(e.__traceback__)]]
    return v + u


def outer(a, b):
    w = [a]
    try:
        w.append(middle(a, b=b))
    except (ValueError, KeyError) as e:
        return "outer", [(x.name, x.lineno) for x in traceback.extract_tb(e.__traceback__)]
    return w


def at_line(function, line, op=None):
    """The first instruction on a line, or the first `op` of it."""
    code = function.__code__
    found = [i for i in frames.decode(code) if i["line"] == code.co_firstlineno + line]
    return next(i for i in found if op in (None, i["op"]))


def after(function, instruction):
    return next(i for i in frames.decode(function.__code__) if i["offset"] > instruction["fault_offset"])


def all_locals(function, **values):
    """localsplus: also what only the interpreter sees, such as the variables of inlined comprehensions."""
    return tuple(values.get(name, frames.NULL) for name, _ in frames.describe_locals(function.__code__)[0])


def waiting(function, line, stack=(), **values):
    call = at_line(function, line, "call")
    return (function, after(function, call)["offset"], call["offset"], all_locals(function, **values), stack)


def bound_append(w):
    """What lies under the arguments of w.append(...) before the call: the method pair in this version's layout."""
    pair = (frames.NULL, w.append)
    return pair if sys.version_info < (3, 13) else pair[::-1]


def states(a, b, line=2):
    w = [a]
    return [
        waiting(outer, 3, bound_append(w), a=a, b=b, w=w),
        waiting(middle, 3, a=a, b=b, u=a + b),
        (inner, at_line(inner, line)["offset"], -1, (a + b, b, (a + b) * b), ()),
    ]


def test_frames_see_each_other():
    seen.clear()
    expected = outer(2, 3)
    assert frames.resume(states(2, 3), None) == expected
    assert seen[0] == seen[1]
    assert [name for name, *_ in seen[1]] == ["inner", "middle", "outer"]


class Fails:
    def __init__(self, error):
        self.error = error

    def __mul__(self, other):
        raise self.error

    def __add__(self, other):
        return self


def own(entries):
    """Entries of a traceback that belong to the three functions."""
    return [(name, line) for name, line in entries if name in ("outer", "middle", "inner")]


def way_out(call):
    """Which function caught the exception, and the traceback it had there."""
    try:
        result = call()
    except RuntimeError as e:
        return "nobody", own((x.name, x.lineno) for x in traceback.extract_tb(e.__traceback__))
    who, entries = result if result[0] == "outer" else result[1]
    return who, own(entries)


@pytest.mark.parametrize("error", [ValueError("v"), ZeroDivisionError("z"), KeyError("k"), RuntimeError("r")], ids=repr)
def test_an_exception_goes_through_the_outer_handlers(error):
    expected = way_out(lambda: outer(Fails(error), 3))
    error.__traceback__ = None
    assert way_out(lambda: frames.resume(states(2, 3, line=1), error)) == expected
    assert expected[0] == {ValueError: "outer", KeyError: "outer", ZeroDivisionError: "middle"}.get(type(error), "nobody")


def test_an_exception_in_the_inner_frame_itself():
    """Raised by the interpreter after the hand-over, caught two frames further out."""

    def fail():
        raise KeyError("later")

    original = globals()["look"]
    globals()["look"] = fail
    try:
        expected = outer(2, 3)
        assert frames.resume(states(2, 3), None) == expected
        assert expected[0] == "outer" and [n for n, _ in expected[1]] == ["outer", "middle", "inner", "fail"]
    finally:
        globals()["look"] = original


def test_recursion_is_counted():
    """Waiting frames count: the depth that is left below them is the interpreter's."""

    def depth_left():
        def down(n):
            try:
                return down(n + 1)
            except RecursionError:
                return n

        return down(0)

    results = []
    globals()["look"], original = lambda: results.append(depth_left()), look
    try:
        outer(2, 3)
        frames.resume(states(2, 3), None)
    finally:
        globals()["look"] = original
    assert abs(results[0] - results[1]) <= 1


@pytest.mark.thorough
def test_nested_frames_leak_nothing():
    def once(error):
        seen.clear()
        frames.resume(states(2, 3), None)
        frames.resume(states(2, 3, line=1), error)

    error = ValueError("x")
    for _ in range(200):
        once(error)
        error.__traceback__ = None
    gc.collect()
    before = sys.getallocatedblocks(), [sys.getrefcount(f.__code__) for f in (inner, middle, outer)]
    for _ in range(2000):
        once(error)
        error.__traceback__ = None
    gc.collect()
    after_ = sys.getallocatedblocks(), [sys.getrefcount(f.__code__) for f in (inner, middle, outer)]
    assert after_[1] == before[1] and after_[0] - before[0] < 500  # a block left behind each round would be 2000


def generator():
    yield 1


@pytest.mark.parametrize(
    ("state", "message"),
    [
        ((generator, 0, -1, (), ()), "generator"),
        ((inner, 0, -1, (), ()), "locals"),
        ((inner, 0, -1, (1, 2, 3), (1,) * 50), "stack"),
        ((len, 0, -1, (), ()), "function"),
    ],
)
def test_what_cannot_be_handed_over_is_refused(state, message):
    with pytest.raises(SystemError, match=message):
        frames.resume([state], None)
    with pytest.raises(SystemError, match="none"):
        frames.resume([], None)
