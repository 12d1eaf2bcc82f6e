"""Whether there is an attribute or a key is assumed by a version, also where nobody reads what is there."""

from types import SimpleNamespace

import numpy as np
import pytest
from support.compiled import facts
from support.outcome import assert_same

import accel

X = np.ones(3)


class Plain:
    def __init__(self, **parts):
        vars(self).update(parts)


class Inheriting(Plain):
    k = 2.0


class Slots:
    __slots__ = ("k",)

    def __init__(self, **parts):
        for name, part in parts.items():
            setattr(self, name, part)


def has_key(d, x):
    return x * 2 if "k" in d else x * 3


def has_no_key(d, x):
    return x * 2 if "k" not in d else x * 3


def has_attribute(o, x):
    return x * 2 if hasattr(o, "k") else x * 3


def gets_attribute(o, x):
    return x * 2 if getattr(o, "k", None) is not None else x * 3


def gets_key(d, x):
    return x * 2 if d.get("k") is not None else x * 3


def reads_attribute(o, x):
    o.k  # noqa: B018
    return x * 2


def reads_key(d, x):
    d["k"]
    return x * 2


VALUES = [5, 2.5, X, None, "text"]


def assert_compiled(function, first, second):
    call = accel.compile(function)
    for owner in (first, second, first):
        assert_same(function, call, owner, X)
    assert facts(call)["compiled"] > 0


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
@pytest.mark.parametrize("function", [has_key, has_no_key, gets_key, reads_key])
def test_keys(function, value):
    there, missing = {"j": 1, "k": value}, {"j": 1, "i": value}
    assert_compiled(function, there, missing)
    if function is not reads_key:
        assert_compiled(function, missing, there)


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
@pytest.mark.parametrize("kind", [Plain, Slots, SimpleNamespace])
@pytest.mark.parametrize("function", [has_attribute, gets_attribute, reads_attribute])
def test_attributes(function, kind, value):
    assert_compiled(function, kind(k=value), kind())
    if function is not reads_attribute:
        assert_compiled(function, kind(), kind(k=value))


def test_a_global_that_nobody_reads():
    space = {"scale": 3}
    exec("def function(x):\n    scale\n    return x * 2\n", space)
    call = accel.compile(space["function"])
    assert_same(space["function"], call, X)
    assert facts(call)["compiled"] > 0
    del space["scale"]
    with pytest.raises(NameError, match="scale"):
        call(X)


def set_both(o, x):
    o.v = x.sum()
    o.new = x + 1


def set_by_branch(o, x):
    if x[0] > 0:
        o.new = x + 1
        o.v = 1.0
    else:
        o.v = 2.0
        o.new = x - 1


@pytest.mark.parametrize("parts", [{"v": 1.0, "new": X}, {"new": X, "v": 1.0}, {"v": 1.0}, {"new": X}, {}], ids=str)
@pytest.mark.parametrize("kind", [Plain, Inheriting])
@pytest.mark.parametrize("function", [set_both, set_by_branch])
def test_order_of_new_attributes(function, kind, parts):
    """A version that was compiled for objects with the attributes says nothing of the order in which others get them."""
    call = accel.compile(function)
    for given in (parts, {}, {"v": 0.5}, {"new": X}, {"k": 1.0}):
        for x in (X, -X):
            one, other = kind(**given), kind(**given)
            function(one, x), call(other, x)
            assert list(vars(one)) == list(vars(other))
    assert facts(call)["compiled"] > 0


@pytest.mark.parametrize("parts", [{"v": 1.0, "new": X}, {"new": X, "v": 1.0}, {"v": 1.0}, {}], ids=str)
def test_order_of_new_keys(parts):
    def function(d, x):
        d["v"] = x.sum()
        d["new"] = x + 1

    call = accel.compile(function)
    for given in (parts, {}, {"v": 0.5}, {"new": X}):
        assert_same(function, call, dict(given), X)
    assert facts(call)["compiled"] > 0
