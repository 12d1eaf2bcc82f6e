"""Callbacks of compiled code: what they get, keep and change."""

import threading

import numpy as np
import pytest
from support.compiled import facts
from support.python_calls import Callback, check_calls, run

import accel


def test_a_callback_gets_arrays():
    seen = []

    def function(x, n, callback):
        for k in range(n):
            x = x * 0.5 + k
            callback(k, x)
        return x

    def make():
        seen.append(Callback())
        return np.arange(4.0), 3, seen[-1]

    check_calls(function, make, fullgraph=True)
    texts = {repr(callback.seen) for callback in seen if len(callback.seen)}
    assert len(texts) == 1


def test_a_callback_changes_a_fresh_array():
    def act(k, x):
        x[0] = 100.0 + k
        x *= 2

    def function(x, n, callback):
        y = x + 1
        z = y[1:]
        for k in range(n):
            y = y * 0.5
            w = y[::2]
            callback(k, y)
            y[1] += w[0]
        return y, z, w

    check_calls(function, lambda: (np.arange(4.0), 3, Callback(act)), fullgraph=True)


def test_a_callback_changes_the_argument():
    base = np.zeros(4)

    def act(k):
        base[k] = k + 1.0

    def function(x, n, callback):
        s = 0.0
        for k in range(n):
            before = x.sum()
            doubled = x * 2
            callback(k)
            s += x.sum() - before + doubled[0]
            x[3] += 1
        return s + x[0]

    def make():
        base[:] = 0
        return base, 3, Callback(act)

    check_calls(function, make, fullgraph=True)


def test_a_callback_keeps_the_array():
    kept = []

    def act(k, x):
        kept.append(x)

    def function(x, n, callback):
        y = x + 1
        for k in range(n):
            y += 1
            callback(k, y)
        return y

    call = accel.compile(function)
    for target in (function, call, call):
        kept.clear()
        y = target(np.zeros(3), 3, Callback(act))
        assert all(k is y for k in kept) and len(kept) == 3
        assert y.tolist() == [4.0, 4.0, 4.0] and y.flags.owndata and y.base is None
    assert facts(call)["compiled"] == 2


def test_a_callback_keeps_a_view():
    kept = []

    def act(x):
        kept.append(x[1:] if x.ndim else x)

    def function(x, callback):
        y = x + 1
        callback(y[1:])
        y *= 3
        return y

    call = accel.compile(function)
    for target in (function, call, call):
        kept.clear()
        y = target(np.zeros(4), Callback(act))
        assert kept[0].base is y and kept[0].tolist() == [3.0, 3.0]
    assert facts(call)["compiled"] == 2


def test_a_callback_keeps_what_dies_anyway():
    kept = []

    def function(x, n, callback):
        for k in range(n):
            callback(x * k)
        return x.sum()

    def make():
        kept.clear()
        return np.arange(3.0), 4, Callback(kept.append)

    check_calls(function, make, fullgraph=True)
    assert [k.tolist() for k in kept] == [[0.0, k, 2.0 * k] for k in range(4)]


@pytest.mark.parametrize("what", ["shape", "resize", "dtype", "readonly"])
def test_a_callback_changes_the_layout(what):
    def act(x):
        if what == "shape":
            x.shape = (2, 2)
        elif what == "resize":
            x.resize(2, refcheck=False)
        elif what == "dtype":
            x.dtype = np.int64
        else:
            x.setflags(write=False)

    def of_argument(x, callback):
        s = x.sum()
        callback(x)
        x[0] = 5
        return s, x.shape, x.dtype, x.sum()

    def of_fresh(x, callback):
        y = x + 1
        callback(y)
        y[0] = 5
        return y, y.shape, y.dtype, y.sum()

    check_calls(of_argument, lambda: (np.arange(4.0), Callback(act)), whole=False)
    check_calls(of_fresh, lambda: (np.arange(4.0), Callback(act)), whole=False)


scale = 2.0


def test_a_callback_changes_a_global():
    def act(k):
        global scale
        scale = 2.0 + k

    def function(x, n, callback):
        for k in range(n):
            x = x * scale
            callback(k)
        return x * scale

    def make():
        global scale
        scale = 2.0
        return np.arange(3.0), 3, Callback(act)

    check_calls(function, make, whole=False)


def test_a_callback_changes_a_closure():
    def build():
        factor = 1.5

        def act(k):
            nonlocal factor
            factor += k

        def function(x, n, callback):
            for k in range(n):
                x = x * factor
                callback(k)
            return x

        return function, act

    plain, act = build()
    compiled, other = build()
    call = accel.compile(compiled)
    for _ in range(3):
        expected = run(plain, lambda: (np.arange(3.0), 4, Callback(act)))
        assert run(call, lambda: (np.arange(3.0), 4, Callback(other))) == expected
    assert facts(call)["compiled"] == 3


def test_a_callback_changes_an_attribute_and_drops_the_array():
    class Model:
        def __init__(self):
            self.data = np.arange(4.0)
            self.rate = 0.5

    def function(model, n, callback):
        s = 0.0
        for k in range(n):
            s = s + model.data.sum() * model.rate
            callback(model, k)
        return s

    def act(model, k):
        if k == 1:
            model.data = np.ones(4) * 10
        if k == 2:
            model.rate = 2.0

    def plain(n):
        return function(Model(), n, Callback(act))

    call = accel.compile(function)
    for _ in range(3):
        assert call(Model(), 5, Callback(act)) == plain(5)
    assert facts(call)["compiled"] == 3


def test_a_callback_changes_errstate():
    def act(k):
        if k == 1:
            np.seterr(all="raise")

    def function(x, n, callback):
        s = 0.0
        for k in range(n):
            callback(k)
            s = s + (1.0 / x).sum()
            x[1] = 0.0
        return s

    def guarded(x, n, callback):
        with np.errstate(all="ignore"):
            return function(x, n, callback)

    call = accel.compile(function)

    def compiled(x, n, callback):
        with np.errstate(all="ignore"):
            return call(x, n, callback)

    def make():
        return np.ones(3), 3, Callback(act)

    for _ in range(3):
        expected, got = run(guarded, make), run(compiled, make)
        assert got[1][:2] == expected[1][:2] and got[4] == expected[4]
    assert facts(call)["compiled"] == 3


def test_a_callback_raises():
    def act(k, x):
        if k == 2:
            raise ValueError(f"at {k}: {x}")

    def function(x, n, callback):
        y = x + 1
        for k in range(n):
            y *= 2
            x[k] = y[0]
            callback(k, y)
        return y

    def caught(x, n, callback):
        y = x + 1
        result = "whole"
        for k in range(n):
            y = y * 2
            try:
                x[k] = y[0]
                callback(k, y)
            except ValueError as error:
                result = str(error)
        return y, result

    check_calls(function, lambda: (np.zeros(4), 4, Callback(act)), whole=False)
    check_calls(caught, lambda: (np.zeros(4), 4, Callback(act)), whole=False)


def test_a_callback_calls_the_function_again():
    def function(x, depth, callback):
        y = x * 2
        callback(y, depth)
        return y.sum() + x.sum()

    def recursing(target):
        def act(y, depth):
            if depth > 0:
                print("below", depth, target(y + 1, depth - 1, Callback(act)))

        return act

    call = accel.compile(function)
    for _ in range(3):
        expected = run(function, lambda: (np.arange(3.0), 3, Callback(recursing(function))))
        assert run(call, lambda: (np.arange(3.0), 3, Callback(recursing(call)))) == expected
    assert facts(call)["interpreted"] == 0


def test_a_callback_resets_the_function():
    def function(x, callback):
        y = x * 2
        callback()
        return y.sum() + x.sum()

    call = accel.compile(function)
    for _ in range(3):
        assert call(np.arange(4.0), Callback(lambda: accel.reset(call))) == 18.0
        assert facts(call)["compiled"] == 1  # since the reset


def test_a_callback_runs_threads():
    def function(x, n, callback):
        y = x + 1
        for k in range(n):
            y = y * 1.25
            callback(k)
        return y.sum()

    call = accel.compile(function)
    results = []

    def act(k):
        others = [threading.Thread(target=lambda: results.append(call(np.ones(1000), 2, Callback()))) for _ in range(3)]
        for other in others:
            other.start()
        for other in others:
            other.join()

    for _ in range(2):
        results.clear()
        assert call(np.ones(100000), 3, Callback(act)) == function(np.ones(100000), 3, Callback())
        assert results == [function(np.ones(1000), 2, Callback())] * 9
    assert facts(call)["compiled"] == 20
