"""What accel.explain, accel.stats and fullgraph say of a call is true of that call."""

import os
import subprocess
import sys

import numpy as np
import pytest

import accel

X = np.arange(1.0, 6.0)


def product(n):
    p = 1
    for k in range(n):
        p *= k + 1
    return p


def unbound(x, n):
    if n > 3:
        y = x + 1
    return y * 2


def reciprocal(x):
    return 1 / x + 1


def mapped(x):
    return list(map(float, x))


def looking(x):
    return x * 2, len(locals())


def rows(x, k):
    return x[k] * 2


def test_a_call_that_compiled_code_answers():
    explanation = accel.explain(reciprocal)(X)
    assert explanation.answered == "whole" and explanation.compiled and explanation.exit is None
    assert explanation.stats == {
        "calls": 1,
        "compiled": 1,
        "interpreted": 0,
        "side_exits": 0,
        "recompiles": 0,
        "cache_hits": explanation.stats["cache_hits"],
    }
    assert "compiled as a whole" in str(explanation).splitlines()[0]


def test_an_exit_by_overflow():
    call = accel.compile(product)
    assert call(10) == product(10)
    explanation = accel.explain(call)(40)
    assert explanation.result == product(40)
    assert explanation.answered == "left" and explanation.partly and not explanation.compiled
    assert explanation.exit.lineno == product.__code__.co_firstlineno + 3
    assert "compiled up to" in str(explanation).splitlines()[0]
    again = accel.explain(call)(10)
    assert again.compiled and again.exit is None
    assert [exit.times for exit in again.exits if exit.total] == [0]
    assert again.stats["side_exits"] == 0 and again.total_stats["side_exits"] == 1


def test_an_event_that_ends_in_an_exception():
    call = accel.compile(reciprocal)
    call(X)
    with np.errstate(divide="raise"):
        explanation = accel.explain(call)(np.zeros(3))
    assert isinstance(explanation.exception, FloatingPointError)
    assert explanation.answered == "interpreted" and not explanation.compiled
    assert explanation.exit.reason == "floating_point_event"


def test_map_and_unbound_variables():
    for function, arguments in ((mapped, (X,)), (unbound, (X, 1))):
        explanation = accel.explain(function)(*arguments)
        assert not explanation.compiled and explanation.exit is not None
        assert "compiled as a whole" not in str(explanation)


def test_errors_of_numpy_have_their_text():
    call = accel.compile(rows)
    call(X, 2)
    explanation = accel.explain(call)(X, 12)
    assert isinstance(explanation.exception, IndexError)
    assert explanation.answered in {"left", "interpreted"}


@pytest.mark.parametrize(("function", "arguments"), [(looking, (X,))])
def test_fullgraph_raises_on_the_first_call_too(function, arguments):
    call = accel.compile(function, fullgraph=True)
    for _ in range(2):
        with pytest.raises(accel.UnsupportedError) as error:
            call(*arguments)
        assert error.value.filename == __file__ and error.value.lineno > function.__code__.co_firstlineno


@pytest.mark.parametrize(("function", "arguments"), [(product, (40,)), (looking, (X,))])
def test_fail_on_fallback_raises_on_the_first_call_too(function, arguments):
    call = accel.compile(function)
    with accel.set_stance("fail_on_fallback"):
        for _ in range(2):
            with pytest.raises(accel.UnsupportedError):
                call(*arguments)


def test_fullgraph_leaves_errors_of_the_function_alone():
    call = accel.compile(rows, fullgraph=True)
    assert call(X, 2) == 6.0
    with pytest.raises(IndexError):
        call(X, 12)
    with pytest.raises(UnboundLocalError):
        accel.compile(unbound, fullgraph=True)(X, 1)


def long_function(x):
    total = 0.0
    for k in range(3):
        print(end="")
        total = total + np.sum(np.exp(x) * k) + np.argmax(x)
    y = np.sort(x)[::-1]
    z = np.cumsum(y) - np.median(x)
    w = np.where(z > 0, z, 0.0)
    return w / np.linalg.norm(w), total, np.unique(x)


def test_one_screen_by_default():
    call = accel.compile(long_function)
    call(X)
    explanation = accel.explain(call)(X)
    text = str(explanation).splitlines()
    assert len(text) <= 24
    assert any(line.lstrip().startswith("line") and "exp" in line for line in text)
    verbose = str(accel.explain(call, verbose=True)(X))
    assert "guards:" in verbose and "graph {" in verbose and "guards:" not in str(explanation)
    assert explanation.report(verbose=True).count("\n") > 24


class Tool:
    __slots__ = ()

    def __call__(self, x):
        return x


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (lambda x: sorted(map(str.upper, ["b", "a"])), "map"),
        (lambda x: int.from_bytes(x.tobytes(), "little"), "from_bytes"),
    ],
)
def test_callables_have_names(function, name):
    call = accel.compile(function)
    call(X)
    explanation = accel.explain(call, verbose=True)(X)
    assert "<" not in "".join(entry.detail for entry in explanation.fallbacks) and name in str(explanation)


def test_a_tracer_is_named():
    code = """
import sys, warnings, numpy as np, accel
@accel.compile
def f(x):
    return x * 2
x = np.ones(3)
f(x)
warnings.simplefilter("always")
sys.settrace(lambda *arguments: None)
f(x)
f(x)
explanation = accel.explain(f)(x)
sys.settrace(None)
print(str(explanation).splitlines()[0])
"""
    env = {**os.environ, "ACCEL_STRICT": "1"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env, check=True)
    assert "interpreted: python_event" in done.stdout
    assert done.stderr.count("AccelWarning") == 1 and "tracer" in done.stderr


def test_a_call_left_to_numpy_names_its_plain_form():
    def function(x, out):
        np.take(x, [0, 2], out=out)
        return out + 1

    explained = accel.explain(function)(X, np.zeros(2, "f4"))
    boxed = next(entry for entry in explained.fallbacks if entry.reason == "boxed_call")
    assert boxed.detail == "take (out of another dtype; plain form: out[...] = the call without out)"
    assert boxed.detail in str(explained)


def test_long_paths_leave_room_for_plain_forms():
    scope = {"np": np}
    source = "def function(x, out):\n    np.take(x, [0, 2], out=out)\n    return out + 1\n"
    exec(compile(source, "/" + "a_long_name/" * 12 + "program.py", "exec"), scope)
    explained = accel.explain(scope["function"])(X, np.zeros(2, "f4"))
    assert "program.py:2: boxed_call: take (out of another dtype; plain form: out[...] = the call without out)" in str(
        explained
    )
