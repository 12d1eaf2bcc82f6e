"""Dicts that are read by other ways than as dicts: defaults of keywords, globals, attributes. Stores to them are seen there."""

import types

import numpy as np
from support.compiled import facts
from support.outcome import describe

import accel

FACTOR = 1.0


def compare(function, make, times=3):
    call = accel.compile(function)
    for _ in range(times):
        expected, found = function(*make()), call(*make())
        assert describe(found) == describe(expected)
    return facts(call)


def scaled():
    def f(y, *, q=1.0):
        return y * q

    return f


def test_defaults_of_keywords():
    def by_attribute(f, y):
        f.__kwdefaults__["q"] = 9.0
        return f(y)

    def by_update(f, y):
        z = f(y)
        f.__kwdefaults__.update(q=3.0)
        return z, f(y)

    def by_argument(f, defaults, y):
        z = f(y)
        for _ in range(3):
            defaults["q"] += 1.0
            z = z + f(y)
        return z

    def make():
        return scaled(), np.ones(2)

    def with_dict():
        f = scaled()
        return f, f.__kwdefaults__, np.ones(2)

    compare(by_attribute, make)
    compare(by_update, make)
    assert compare(by_argument, with_dict)["compiled"] > 0


def test_a_dict_becomes_the_one_of_defaults():
    def function(f, options, y):
        z = f(y)
        options["q"] = 5.0
        return z, f(y)

    call = accel.compile(function)
    for _ in range(2):
        for own in (False, True):
            f, g = scaled(), scaled()
            expected = function(f, f.__kwdefaults__ if own else {"q": 1.0}, np.ones(2))
            assert describe(call(g, g.__kwdefaults__ if own else {"q": 1.0}, np.ones(2))) == describe(expected)
    assert facts(call)["compiled"] > 0


def test_defaults_of_a_global_function():
    def function(y):
        z = kept(y)
        kept.__kwdefaults__["q"] += 1.0
        return z, kept(y)

    call = accel.compile(function)
    for _ in range(3):
        kept.__kwdefaults__["q"] = 1.0
        expected = function(np.ones(2))
        kept.__kwdefaults__["q"] = 1.0
        assert describe(call(np.ones(2))) == describe(expected)


kept = scaled()


def test_globals():
    def by_attribute(f, y):
        z = f(y)
        f.__globals__["FACTOR"] = 5.0
        w = f(y)
        f.__globals__["FACTOR"] = 1.0
        return z, w

    def by_argument(names, f, y):
        z = f(y)
        names["FACTOR"] = 5.0
        w = f(y)
        names["FACTOR"] = 1.0
        return z, w

    assert compare(by_attribute, lambda: (lambda y: y * FACTOR, np.ones(2)))["compiled"] == 3
    assert compare(by_argument, lambda: ({"FACTOR": 2.0}, lambda y: y * FACTOR, np.ones(2)))["compiled"] == 3
    compare(by_argument, lambda: (globals(), lambda y: y * FACTOR, np.ones(2)))


def test_attributes_of_namespaces_are_left_to_the_interpreter():
    def set_in_dict(o, y):
        o.__dict__["v"] = 9.0
        return y * o.v

    def updated(o, y):
        o.__dict__.update({"v": 9.0, "w": 2.0})
        return y * o.v * o.w

    def read_from_dict(o, y):
        o.v = 9.0
        return y * o.__dict__["v"]

    for function in (set_in_dict, updated, read_from_dict):
        found = compare(function, lambda: (types.SimpleNamespace(v=1.0, w=1.0), np.ones(2)))
        assert (found["compiled"], found["interpreted"]) == (0, 3), function.__name__


def test_sums_of_arrays_that_change_meanwhile():
    def of_outputs(s, y):
        return sum(np.add(s, y, out=s) for i in range(3))

    def of_calls(s, y):
        def f(i):
            s[:] += y * i
            return s

        return sum(f(i) for i in range(3)), sum((f(i) for i in range(3)), y)

    def of_yields(s, y):
        def g():
            yield s
            s[0] = 5
            yield s
            yield s[1:] + y[1:]
            yield 3

        return sum(g())

    def of_list(s, y):
        return sum(np.negative(a, out=a) for a in [s, y, s]), sum([s, y, s, 1.5, 2])

    for function in (of_outputs, of_calls, of_yields, of_list):
        assert compare(function, lambda: (np.arange(2.0), np.ones(2)))["compiled"] == 3


def test_the_greater_of_one_array():
    def function(s, n):
        x = s * 2
        try:
            return max(x, x) if n else min([x, x])
        except ValueError as error:
            return str(error), x

    for n in (0, 1):
        for size in (2, 1, 0, 3):
            assert compare(function, lambda size=size, n=n: (np.arange(float(size)), n))["compiled"] == 3
    compare(lambda a: (max(a, a), min(a, 2.0, a)), lambda: (1.5,))
