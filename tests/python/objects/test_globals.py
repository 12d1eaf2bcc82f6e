"""Functions whose global names are in another mapping than a plain dict, which the interpreter asks."""

import builtins

import numpy as np
import pytest
from support.compiled import facts
from support.outcome import assert_same

import accel


class Mapping(dict):
    """Another type than dict."""


class Asked(dict):
    """Names that no look-up of a dict finds."""

    def __missing__(self, name):
        if name == "scale":
            return 3.0
        raise KeyError(name)


# Since 3.15 globals may be a frozendict.
MAPPINGS = [Mapping, *([builtins.frozendict] if hasattr(builtins, "frozendict") else [])]


@pytest.mark.parametrize("mapping", MAPPINGS)
@pytest.mark.parametrize("source", ["np.sin(a) + 1", "abs(a) * 1", "len(a) * a", "missing(a)"])
def test_globals_of_another_type(mapping, source):
    function = eval(f"lambda a: {source}", mapping(np=np, abs=lambda v: v * 3, __builtins__=builtins))
    call = accel.compile(function)
    assert_same(function, call, np.arange(-2.0, 2.0), times=3)
    assert facts(call)["interpreted"] > 0


@pytest.mark.parametrize("source", ["a * scale", "abs(a) * 1"])
def test_builtins_of_another_type(source):
    function = eval(f"lambda a: {source}", {"__builtins__": Asked(abs=lambda v: v * 3)})
    call = accel.compile(function)
    assert_same(function, call, np.arange(-2.0, 2.0), times=3)


def test_a_callee_with_such_globals():
    callee = eval("lambda a: abs(a) * 1", Mapping(abs=lambda v: v * 3))

    def caller(a):
        return callee(a * 2) + 1

    assert_same(caller, accel.compile(caller), np.arange(-2.0, 2.0), times=3)
