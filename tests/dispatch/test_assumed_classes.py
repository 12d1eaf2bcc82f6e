"""What a version takes for granted of classes, and of containers that others hold: it may change between two calls."""

import numpy as np
import pytest
from support.compiled import facts
from support.outcome import assert_same, describe

import accel

X = np.arange(1.0, 4.0)

CLASSES = """
import abc
import functools
import types
import numpy as np

class C:
    k = 2.0
    def __init__(self, v=1.0):
        self.v = v
    def m(self, x):
        return x * self.k

class D(C):
    pass

class Base(abc.ABC):
    pass

class Other:
    k = 3.0

o, p = D(), D()
M = types.ModuleType('M')
"""

# The function's result, and what makes it another one.
OF_CLASSES = [
    ("x * 2 if hasattr(o, 'z') else x * 3", "C.__getattr__ = lambda self, name: 7.0"),
    ("x * getattr(o, 'z', 5)", "C.__getattr__ = lambda self, name: 7.0"),
    ("x * getattr(o, 'z', 5)", "C.__getattribute__ = lambda self, name: 9.0"),
    ("x * 2 if hasattr(D, 'z') else x * 3", "D.z = 7.0"),
    ("x * 2 if hasattr(D, 'z') else x * 3", "C.z = 7.0"),
    ("x * getattr(D, 'z', 5)", "C.z = 7.0"),
    ("x * 2 if hasattr(D(), 'z') else x * 3", "C.z = 7.0"),
    ("x * 2 if hasattr(D(), 'z') else x * 3", "C.__getattr__ = lambda self, name: 7.0"),
    ("x * D().k", "C.__getattribute__ = lambda self, name: 9.0"),
    ("x * D().k", "C.__new__ = lambda cls: Other()"),
    ("x * 2 if D() else x * 3", "C.__bool__ = lambda self: False"),
    ("x * 2 if D() else x * 3", "C.__len__ = lambda self: 0"),
    ("x * 2 if o else x * 3", "C.__bool__ = lambda self: False"),
    ("x * 2 if o == p else x * 3", "C.__eq__ = lambda self, other: True"),
    ("x * 2 if o in (1, p) else x * 3", "C.__eq__ = lambda self, other: True"),
    ("x * 2 if callable(o) else x * 3", "C.__call__ = lambda self: 1"),
    ("x * 2 if isinstance(o, C) else x * 3", "D.__bases__ = (Other,)"),
    ("x * 2 if issubclass(D, C) else x * 3", "D.__bases__ = (Other,)"),
    ("x * 2 if hasattr(M, 'z') else x * 3", "M.__getattr__ = lambda name: 7.0"),
]

OF_CONTAINERS = [
    ("S = {1, 2}", "x * len(S)", "S.add(3)"),
    ("S = {1, 2}", "x * 2 if S == {1, 2} else x * 3", "S.add(3)"),
    ("S = {1, 2}", "x * len(S | {7})", "S.add(3)"),
    ("S = {1, 2}", "np.array(sorted(S)) * x[0]", "S.add(3)"),
    ("S = ({1, 2}, 3)", "x * len(S[0])", "S[0].add(3)"),
    ("S = ({1, 2}, 3)", "x * len(str(S))", "S[0].add(3)"),
    ("S = slice(0, 2, [1])", "x * len(S.step)", "S.step.append(2)"),
    ("S = functools.partial(lambda x, k: x * k, k=2)", "S(x)", "S.keywords['k'] = 5"),
    ("S = functools.partial(lambda k, x: x * k[0], [2])", "S(x)", "S.args[0][0] = 5"),
    ("S = functools.partial(lambda x, k: x * k, k=np.ones(3))", "S(x)", "S.keywords['k'][0] = 5"),
    ("def S(x, *, k=1):\n    return x * k", "S(x)", "S.__kwdefaults__['k'] = 5"),
    ("def S(x, *, k=(1,)):\n    return x * k[0]", "S(x)", "S.__kwdefaults__['k'] = (5,)"),
    ("def S(x, k={1}):\n    return x * len(k)", "S(x)", "S.__defaults__[0].add(5)"),
    ("def S(x, k=([1],)):\n    return x * k[0][0]", "S(x)", "S.__defaults__[0][0][0] = 5"),
]


def assert_followed(setup, result, change):
    """Both before and after the change, and from the changed state back to a fresh one."""
    space = {"__name__": "assumed"}
    exec(f"{CLASSES}\n{setup}\ndef function(x):\n    x = x + 1\n    return {result}\n", space)
    function = space["function"]
    call = accel.compile(function)
    before = describe(function(X))
    assert describe(call(X)) == describe(call(X)) == before
    assert facts(call)["compiled"] > 0
    exec(change, space)
    after = describe(function(X))
    assert after != before, "nothing changed"
    assert describe(call(X)) == describe(call(X)) == after


@pytest.mark.parametrize(("result", "change"), OF_CLASSES)
def test_classes(result, change):
    assert_followed("", result, change)


@pytest.mark.parametrize(("setup", "result", "change"), OF_CONTAINERS)
def test_containers_of_others(setup, result, change):
    assert_followed(setup, result, change)


def test_classes_that_are_registered_later():
    """Left to the interpreter: nothing tells that a class has been registered."""
    space = {"__name__": "assumed"}
    exec(f"{CLASSES}\ndef function(x):\n    y = np.sin(x) + 1\n    return y * 2 if isinstance(o, Base) else y * 3\n", space)
    call = accel.compile(space["function"])
    assert describe(call(X)) == describe(call(X)) == describe(space["function"](X))
    assert facts(call)["compiled"] > 0
    space["Base"].register(space["D"])
    assert describe(call(X)) == describe(space["function"](X)) == describe((np.sin(X) + 1) * 2)


@pytest.mark.parametrize(
    "expression",
    [
        "1 + l",
        "t + 1",
        "1.5 * l",
        "n + t",
        "n < l",
        "l >= n",
        "n - l",
        "n in l and n + l",
        "t == s",
        "s != t",
        "~b",
        "x.sum(b)",
    ],
)
def test_errors_and_warnings_that_python_has(expression):
    """A number of Python's has no operator with a container, and a bool is no axis."""
    space = {}
    exec(f"def function(x, l, t, s, n, b):\n    y = x * 2\n    return {expression}, y\n", space)
    assert_same(space["function"], accel.compile(space["function"]), X, [1, 2], (1, 2), (X,), 1, True)


def test_outer_of_a_function_of_one_argument():
    def function(x):
        return np.cos.outer(x, x)

    assert_same(function, accel.compile(function), X)


def test_identity_of_equal_strings():
    def function(x, a, b):
        return x * 2 if a is b else x * 3

    call = accel.compile(function)
    text = "".join(["ab", " c"])
    for other in (text, "".join(["ab ", "c"]), text):
        assert_same(function, call, X, text, other, share=True)
    assert facts(call)["compiled"] > 0
