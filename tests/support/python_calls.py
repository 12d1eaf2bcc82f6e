"""Observable effects of calls, for functions that call Python objects."""

import contextlib
import io
import traceback
import types
import warnings

import numpy as np
from support.compiled import facts
from support.outcome import describe

import accel


def run(function, make):
    """The effects of a call: printed text, result or error with its traceback lines, warnings, arguments afterwards."""
    arguments = make()
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            result, error = function(*arguments), None
        except Exception as raised:
            lines = [(frame.name, frame.lineno) for frame in traceback.extract_tb(raised.__traceback__)]
            result, error = None, (type(raised), str(raised), [line for line in lines if line[0] != "run"])
    arrays = [a for a in arguments if isinstance(a, np.ndarray)]
    shown = [describe(a, arrays) for a in arrays]
    said = [(str(w.message), w.category, w.filename, w.lineno) for w in warned]
    return describe(result, arrays), error, printed.getvalue(), said, shown


def check_calls(function, make, times=3, whole=True, left=0, learns=0, **options):
    """Assert that compiled calls have the effects of plain ones, and that they ran compiled code.

    `whole`: no call is left to the interpreter; `left`: expected side exits; `learns`: extra calls until results are known.
    """
    call = accel.compile(function, **options)
    for _ in range(times + learns):
        assert run(call, make) == run(function, make)
    found = facts(call)
    if whole:
        text = f"{found}\n{accel.explain(call)(*make())}"[:4000]
        assert found["interpreted"] == 0 and found["compiled"] == times + learns, text
        assert found["side_exits"] == left + learns, text
    else:
        assert found["compiled"] + found["side_exits"] > 0, found
    with accel.config(threads=2):
        assert run(call, make) == run(function, make)
    other = accel.compile(function, backend="numpy")
    for _ in range(times + learns):
        assert run(other, make) == run(function, make)
    return call


class Opaque:
    """A callable class attribute that is bound like a method, but is not a function."""

    def __init__(self, function):
        self.function = function

    def __get__(self, instance, owner):
        return types.MethodType(self.function, instance)


class Callback:
    """A callee that capture cannot inline."""

    def __init__(self, act=lambda *given: None):
        self.act, self.seen = act, []

    @Opaque
    def __call__(self, *given, **named):
        self.seen.append([np.array(g, copy=True) for g in given])
        return self.act(*given, **named)
