"""An exception raised on behalf of any instruction takes the handlers, lines and columns that CPython gives it."""

import itertools
import sys

import accel_frames_test as frames
import pytest
from frame_functions import CASES, S

PROLOGUE = {"resume", "make_cell", "copy_free_vars"}


def code_of(function):
    return function.__code__


def chain(error, code):
    """`error` and the exceptions that it is chained to, with their positions in `code`."""
    out, columns = [], list(code.co_positions())
    while error is not None:
        tb, entries = error.__traceback__, []
        while tb:
            if tb.tb_frame.f_code is code:
                entries.append((tb.tb_lineno, columns[tb.tb_lasti // 2], tb.tb_frame.f_lasti, tb.tb_frame.f_lineno))
            tb = tb.tb_next
        out.append((type(error).__name__, str(error), entries))
        error = error.__context__
    return out


def outcome(call, function):
    S.reset()
    try:
        return repr(type(call(function))), S.log
    except Exception as e:
        return chain(e, code_of(function_of(function))), S.log


def function_of(function):
    return native_functions.get(id(function), function)


native_functions = {}


def inject_natively(make, call, index):
    """The outcome with the exception raised by the stand-in; None when the instruction was not reached."""
    function = make()
    native = frames.native(function, inject=index, visible=True)
    native_functions[id(native)] = function
    try:
        result = outcome(call, native)
    finally:
        native_functions.clear()
    reached = frames.report()[1] == index and frames.report()[2] == 3
    return result if reached else None


def without_repeats(result):
    """The outcome of a call. An early CPython 3.11 (3.11.2) has the frame twice in the traceback if a trace function raises."""
    first, log = result
    if isinstance(first, list):
        first = [(kind, text, [place for place, _ in itertools.groupby(places)]) for kind, text, places in first]
    return first, log


def inject_by_trace(make, call, unit):
    """The same with the exception raised by a trace function."""
    function, hit = make(), []
    code = function.__code__

    def trace(frame, event, arg):
        if frame.f_code is not code:
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        if event == "opcode" and frame.f_lasti // 2 == unit and not hit:
            hit.append(True)
            sys.settrace(None)
            raise ValueError("injected")
        return trace

    sys.settrace(trace)
    try:
        return without_repeats(outcome(call, function)), hit
    finally:
        sys.settrace(None)


def inject_by_monitoring(make, call, unit):
    function, hit, m = make(), [], sys.monitoring
    code = function.__code__

    def raise_once(where, offset):
        if where is code and offset // 2 == unit and not hit:
            hit.append(True)
            m.set_local_events(3, code, 0)
            raise ValueError("injected")

    m.use_tool_id(3, "inject")
    m.register_callback(3, m.events.INSTRUCTION, raise_once)
    m.set_local_events(3, code, m.events.INSTRUCTION)
    try:
        return outcome(call, function), hit
    finally:
        m.set_local_events(3, code, 0)
        m.free_tool_id(3)


inject_by_interpreter = inject_by_monitoring if sys.version_info >= (3, 12) else inject_by_trace


@pytest.mark.parametrize("name", [n for n in CASES if n != "many"])
def test_injected_exceptions(name):
    make, call = CASES[name]
    for _ in range(60):
        outcome(call, make())
    injected = 0
    for index, instruction in enumerate(frames.decode(make().__code__)):
        if instruction["part"] or instruction["op"] in PROLOGUE:
            continue
        got = inject_natively(make, call, index)
        if got is None:
            continue
        expected, hit = inject_by_interpreter(make, call, instruction["fault_offset"])
        assert hit, instruction
        assert got == expected, instruction
        injected += 1
    assert injected > 3


def raise_between(x):
    y = x
    try:
        y = x + 1
        z = y
    except ValueError as e:
        return "caught", e.__traceback__.tb_lineno - raise_between.__code__.co_firstlineno, y
    return z


def test_every_instruction_of_a_try_body_finds_its_handler():
    """Line by line, without an open frame and for instructions the stand-in would not fail at."""
    code = raise_between.__code__
    for instruction in frames.decode(code):
        line = instruction["line"] - code.co_firstlineno
        if instruction["part"] or instruction["op"] in PROLOGUE or line not in (1, 3, 4) or instruction["op"] == "nop":
            continue
        state = (raise_between, instruction["offset"], -1, (1, "y", frames.NULL, frames.NULL), ())
        if instruction["handler"] is None:
            with pytest.raises(ValueError) as caught:
                frames.resume([state], ValueError("here"))
            assert caught.traceback[-1].lineno + 1 - code.co_firstlineno == line
        else:
            assert frames.resume([state], ValueError("here")) == ("caught", line, "y")
