"""Functions that are given other code, between calls and during one."""

import gc

import numpy as np
import pytest
from support.compiled import assert_all_compiled, facts

import accel

X = np.arange(5.0)


def made(factor):
    """A function whose code object nobody else holds."""
    names = {}
    exec(f"def f(x):\n    return (x * {factor}.0).sum() + {factor}", names)
    return names["f"]


def plain(factor):
    return made(factor)(X)


@pytest.mark.parametrize("replacements", [1, 2, 3])
def test_each_call_runs_the_code_of_then(replacements):
    call = accel.compile(made(1))
    assert call(X) == plain(1)
    for first in range(2, 8):
        for k in range(replacements):  # the memory of a code object that is gone serves the next one
            call.__code__ = made(first + 100 * k).__code__
        assert call(X) == plain(first + 100 * (replacements - 1))
    assert_all_compiled(call, X)


def test_functions_that_are_called_run_the_code_of_then():
    inner = made(1)

    def outer(x):
        return inner(x) + 1.0

    call = accel.compile(outer)
    for k in range(2, 6):
        inner.__code__ = made(k + 100).__code__
        inner.__code__ = made(k).__code__
        gc.collect()
        assert call(X) == plain(k) + 1.0
    assert_all_compiled(call, X)


class Redefine:
    """Gives a function other code when the function prints."""

    def __init__(self, function, code):
        self.function, self.code, self.armed = function, code, False

    def write(self, text):
        if self.armed:
            self.function.__code__ = self.code


def other(x, i, out):
    first, second, third, fourth = 1, 2, 3, 4
    return [first, second, third, fourth, x, i, out]


def same_size(x, i, out):
    y = z = total = None
    return x, i, out, y, z, total, "other"


def prints_and_indexes(x, i, out):
    y = x * 2
    print("working", file=out)
    total = y.sum()
    z = y[i]
    return total + z


@pytest.mark.parametrize("replacement", [other, same_size])
@pytest.mark.parametrize("is_inner", [False, True])
def test_a_call_ends_in_the_code_that_it_began_in(replacement, is_inner):
    namespace = {"__name__": __name__}
    function = type(prints_and_indexes)(prints_and_indexes.__code__, namespace)

    def caller(x, i, out):
        return function(x, i, out) + 1.0

    call = accel.compile(caller if is_inner else function)
    out = Redefine(function, replacement.__code__)
    expected = X.sum() * 2 + 2.0 + is_inner
    for _ in range(3):
        assert call(X, 1, out) == expected
    assert facts(call)["compiled"] >= 2
    out.armed = True
    with pytest.raises(IndexError, match="index 9 is out of bounds for axis 0 with size 5") as error:
        call(X, 9, out)
    last = error.traceback[-1]
    assert last.name == "prints_and_indexes"
    assert last.lineno == prints_and_indexes.__code__.co_firstlineno + 3
    assert function.__code__ is replacement.__code__


def test_closures_and_names_of_the_code_that_a_call_began_in():
    def outer():
        scale = 3.0

        def inner(x, i, out):
            y = x * scale
            print("working", file=out)
            return np.sqrt(y)[i] + scale

        return inner

    def unrelated():
        nothing = None

        def inner(x, i, out):
            return nothing

        return inner

    inner = outer()
    call = accel.compile(inner)
    out = Redefine(inner, unrelated().__code__)
    for _ in range(3):
        assert call(X, 1, out) == np.sqrt(3.0) + 3.0
    out.armed = True
    with pytest.raises(IndexError):
        call(X, 9, out)
