"""Places of calls that compiled code makes: methods, containers of the caller, files, random numbers, loops; exits around
them.
"""

import contextlib
import io

import numpy as np
import pytest
from support.compiled import facts
from support.python_calls import Callback, check_calls, run

import accel


def test_methods_and_keywords():
    def function(x, n, out):
        for k in range(n):
            x = x + k
            out.update(step=k, total=x.sum())
            out.setdefault("first", x[0])
        return x

    def outcome(target):
        out = {}
        x = target(np.arange(3.0), 3, out)
        return x.tolist(), repr(out)

    call = accel.compile(function)
    for _ in range(3):
        assert outcome(call) == outcome(function)
    assert facts(call)["compiled"] == 3


def test_a_list_of_the_caller_grows():
    def function(x, n, history):
        for k in range(n):
            x = x * 0.5 + k
            history.append(x.sum())
            history.append((k, x[0]))
        return x

    def outcome(target):
        history = [1]
        return target(np.arange(3.0), 3, history).tolist(), history

    call = accel.compile(function, fullgraph=True)
    for _ in range(3):
        assert outcome(call) == outcome(function)
    assert facts(call)["interpreted"] == 0 and facts(call)["side_exits"] == 0 and facts(call)["compiles"] == 1


def test_an_attribute_that_is_a_list_grows():
    class Model:
        def __init__(self):
            self.history = []

    def function(model, x, n):
        for k in range(n):
            x = x * 0.5 + k
            model.history.append(float(x.sum()))
        return x, len(model.history)

    def outcome(target):
        model = Model()
        x, count = target(model, np.arange(3.0), 3)
        return x.tolist(), count, model.history

    call = accel.compile(function)
    for _ in range(3):
        assert outcome(call) == outcome(function)
    assert facts(call)["interpreted"] == 0


def test_a_file():
    def function(x, n, file):
        for k in range(n):
            x = x * 2
            file.write("line\n")
            print(k, x, file=file)
        return x

    def outcome(target):
        file = io.StringIO()
        return target(np.arange(3.0), 3, file).tolist(), file.getvalue()

    call = accel.compile(function, fullgraph=True)
    for _ in range(3):
        assert outcome(call) == outcome(function)
    assert facts(call)["interpreted"] == 0 and facts(call)["side_exits"] == 0


def test_containers_that_are_used_after_the_call():
    def act(given):
        given.append(5.0)

    def function(x, callback):
        parts = [x.sum(), x.min()]
        callback(parts)
        return parts[-1], len(parts)

    check_calls(function, lambda: (np.arange(3.0), Callback(act)), whole=False)


def test_generators_of_random_numbers_stay_in_step():
    def function(rng, n):
        s = 0.0
        for k in range(n):
            s += rng.random()
            print(k, s)
            s += rng.normal(size=2).sum()
        return s

    call = accel.compile(function)
    for _ in range(3):
        expected = run(function, lambda: (np.random.default_rng(1), 4))
        assert run(call, lambda: (np.random.default_rng(1), 4))[:4] == expected[:4]
    assert facts(call)["compiled"] == 3


def test_random_numbers_are_not_drawn_twice():
    def function(rng, x, n):
        s = 0.0
        for k in range(n):
            s += rng.random()
            print(k, s)
            s += 1.0 / x[k : k + 1].sum() + rng.random()
        return s

    def make():
        return np.random.default_rng(1), np.array([1.0, 2.0, 0.0, 3.0]), 4

    call = accel.compile(function)
    for _ in range(3):
        assert run(call, make)[:4] == run(function, make)[:4]
    assert facts(call)["compiled"] == 3


def test_locals_is_left_to_the_interpreter():
    def function(x):
        y = x + 1
        names = sorted(locals())
        return y, names

    check_calls(function, lambda: (np.ones(3),), whole=False)


def test_explain_lists_the_call():
    def function(x):
        y = x + 1
        print("shown")
        return y

    call = accel.compile(function, fullgraph=True)
    with contextlib.redirect_stdout(io.StringIO()):
        call(np.ones(3))
        text = str(accel.explain(call)(np.ones(3)))
    assert "boxed_call" in text and f":{function.__code__.co_firstlineno + 2}" in text


@pytest.mark.parametrize("n", range(1, 40))
def test_left_anywhere(n):
    def act(k, x):
        x[0] += k

    def function(x, n, callback):
        y = x + 1
        for k in range(n):
            y *= 2
            x[k] = y[0]
            callback(k, y)
            print(k, y, x)
        return y

    with accel.config(stress_exits=n):
        for options in ({}, {"backend": "numpy"}):
            call = accel.compile(function, **options)
            for _ in range(2):
                make = lambda: (np.zeros(3), 3, Callback(act))  # noqa: E731
                assert run(call, make) == run(function, make)
            assert facts(call)["compiled"] > 0 or "an exit that was asked for" in str(accel.explain(call)(*make()))


def test_arguments_that_are_changed_after_loops_with_calls():
    """After a loop with calls, an argument that the loop does not read is one memory, not a copy for each path."""
    watch = Callback()

    def function(w, x, n):
        v = x
        for k in range(n):
            watch(k)
            v = x * 0.5
        w += x
        return v, w * 2

    def branches(w, x, n):
        for k in range(n):
            if k % 2 == 0:
                watch(k)
            if x[0] > k:
                watch(x)
        w[1:] -= x[1:]
        for k in range(n):
            watch(w)
            w *= 0.5
        return w.sum()

    for n in (0, 1, 3):
        check_calls(function, lambda n=n: (np.zeros(4), np.arange(4.0), n))
        check_calls(branches, lambda n=n: (np.zeros(4), np.arange(4.0), n))


def test_calls_that_change_arguments_which_are_read_after_them():
    def act(w):
        w += 1.0

    change = Callback(act)

    def function(w, x, n):
        for k in range(n):
            if x[0] < k:
                change(w)
            x[1] = k
        first = w * 2
        for k in range(n):
            change(x)
        return first + w, x.sum()

    for n in (0, 1, 3):
        check_calls(function, lambda n=n: (np.zeros(4), np.zeros(4), n))
