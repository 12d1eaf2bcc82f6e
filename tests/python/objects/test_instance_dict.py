"""Objects whose names are in a dict that the function has, too: an object and its __dict__, two objects with one dict."""

import types

import numpy as np
import pytest
from support.compiled import assert_all_compiled, facts
from support.outcome import describe

import accel


class Managed:
    def __init__(self, **parts):
        vars(self).update(parts)


class Slot:
    __slots__ = ("__dict__", "other")

    def __init__(self, **parts):
        self.__dict__.update(parts)


class OfTuple(tuple):
    """Its dict lies behind the items."""


class OfInt(int):
    pass


class OfException(Exception):
    pass


def with_parts(make):
    def made(**parts):
        owner = make()
        vars(owner).update(parts)
        return owner

    return made


KINDS = {
    "managed": Managed,
    "values in place": lambda **parts: in_place(**parts),
    "slot": Slot,
    "namespace": types.SimpleNamespace,
    "tuple": with_parts(lambda: OfTuple((1, 2, 3))),
    "int": with_parts(lambda: OfInt(2**70)),
    "exception": with_parts(lambda: OfException("text")),
    "function": with_parts(lambda: lambda: None),
}
MUTABLE = ["managed", "values in place", "slot", "namespace"]


class InPlace:
    pass


def in_place(**parts):
    owner = InPlace()
    for name, part in parts.items():
        setattr(owner, name, part)
    return owner


def item_then_attribute(o, d, y):
    d["v"] = 9.0
    return y * o.v


def attribute_then_item(o, d, y):
    o.v = 9.0
    return y * d["v"]


def attribute_before(o, d, y):
    z = y * o.v
    d["v"] = 9.0
    return z + y * o.v


def item_before(o, d, y):
    z = y * d["v"]
    o.v = 9.0
    return z + y * d["v"]


def both(o, d, y):
    o.v = 9.0
    d["v"] = d["v"] + 1.0
    o.v = o.v * 2.0
    return y * o.v + d["v"]


def in_a_loop(o, d, y):
    for _ in range(3):
        d["v"] += 1.0
        y = y * o.v
    return y


def attribute_in_a_loop(o, d, y):
    for k in range(3):
        o.v = o.v + k
        y = y * d["v"]
    return y


def new_name(o, d, y):
    z = y + 1
    o.w = 2.0
    return z * len(d), "w" in d, hasattr(o, "w")


def new_key(o, d, y):
    z = y + 1
    d["w"] = 2.0
    return z * len(d), hasattr(o, "w"), getattr(o, "w", None)


STORES_ITEM = [item_then_attribute, attribute_before, in_a_loop, new_key]
STORES_ATTRIBUTE = [attribute_then_item, item_before, both, attribute_in_a_loop, new_name]


def made(make, own):
    owner = make(v=2.0, n=1)
    return owner, vars(owner) if own else {"v": 2.0, "n": 1}, np.arange(1.0, 4.0)


def same(function, call, make, own):
    (o, d, y), (p, e, z) = made(make, own), made(make, own)
    expected, found = function(o, d, y), call(p, e, z)
    assert describe(found) == describe(expected)
    assert describe(e) == describe(d) and describe(vars(p)) == describe(vars(o))
    assert list(e) == list(d) and list(vars(p)) == list(vars(o))


@pytest.mark.parametrize("first", [False, True], ids=["foreign first", "own first"])
@pytest.mark.parametrize(
    ("function", "kind"),
    [(f, kind) for f in STORES_ITEM for kind in KINDS] + [(f, kind) for f in STORES_ATTRIBUTE for kind in MUTABLE],
    ids=lambda value: value if isinstance(value, str) else value.__name__,
)
def test_an_object_and_its_dict(function, kind, first):
    call = accel.compile(function)
    for own in (first, first, not first, first, not first, False, True):
        same(function, call, KINDS[kind], own)
    before = facts(call)["compiled"]
    same(function, call, KINDS[kind], False)
    if kind != "function":  # each is another function
        assert facts(call)["compiled"] > before


@pytest.mark.parametrize("kind", MUTABLE)
@pytest.mark.parametrize("function", [*STORES_ITEM, *STORES_ATTRIBUTE], ids=lambda f: f.__name__)
def test_unrelated_ones_stay_compiled(function, kind):
    call = accel.compile(function)
    for _ in range(4):
        same(function, call, KINDS[kind], False)
    assert_all_compiled(call)
    assert facts(call)["compiles"] == 1


@pytest.mark.parametrize("function", [item_then_attribute, attribute_then_item])
def test_no_dict_is_made_by_the_check(function):
    """An object that has its attributes in place keeps them there."""
    import sys

    call = accel.compile(function)
    sizes = []
    for _ in range(3):
        owner, other = in_place(v=2.0), in_place(v=2.0)
        before = sys.getsizeof(owner), len(__import__("gc").get_referents(owner))
        call(owner, {"v": 1.0}, np.ones(2))
        function(other, {"v": 1.0}, np.ones(2))
        sizes.append((before[0] == sys.getsizeof(owner), len(__import__("gc").get_referents(owner))))
        assert sizes[-1][1] == len(__import__("gc").get_referents(other))
    assert_all_compiled(call)


@pytest.mark.parametrize("first", [False, True])
def test_objects_that_share_a_dict(first):
    class Other(Managed):
        pass

    def function(a, b, y):
        for _ in range(3):
            a.v += 1.0
            y = y * b.v
        return y

    def pair(kind, shared):
        a, b = Managed(v=1.0), kind(v=1.0)
        if shared:
            b.__dict__ = a.__dict__
        return a, b, np.ones(2)

    call = accel.compile(function)
    for shared in (first, not first, first, True, False):
        for kind in (Managed, Other):
            one, two = pair(kind, shared), pair(kind, shared)
            assert describe(call(*one)) == describe(function(*two))
            assert vars(one[0]) == vars(two[0]) and vars(one[1]) == vars(two[1])
    before = facts(call)["compiled"]
    call(*pair(Managed, False))
    assert facts(call)["compiled"] > before


@pytest.mark.parametrize("first", [False, True])
def test_parts_of_an_object_that_only_the_interpreter_changes(first):
    def function(o, d, y):
        o.v = 3.0
        z = y * d["v"]
        o.inner.v = 4.0
        return z * o.inner.v

    def arguments(own):
        owner = Managed(v=2.0, inner=Managed(v=1.0))
        return owner, vars(owner) if own else {"v": 2.0}, np.ones(3)

    call = accel.compile(function)
    for own in (first, not first, first, not first):
        one, two = arguments(own), arguments(own)
        assert describe(call(*one)) == describe(function(*two))
        assert one[0].inner.v == two[0].inner.v == 4.0 and one[0].v == 3.0
    assert facts(call)["compiled"] > 0


def test_modules_and_builtins():
    module = types.ModuleType("module")
    module.scale = 1.0

    def by_attribute(d, y):
        z = y * module.scale
        d["scale"] = 5.0
        return z + y * module.scale

    def by_builtins(d, y):
        z = y * len(y)
        d["len"] = lambda _: 7
        return z + y * len(y)

    call = accel.compile(by_attribute)
    for own in (False, True, False, True):
        results = []
        for target in (by_attribute, call):
            module.scale = 1.0
            results.append(describe(target(vars(module) if own else {"scale": 2.0}, np.ones(2))))
        assert results[0] == results[1]
    assert facts(call)["compiled"] > 0

    space = {"__builtins__": {**vars(__import__("builtins"))}}
    exec("def function(d, y):\n    z = y * len(y)\n    d['len'] = None\n    return z + y * (1 if len is None else 2)", space)
    function, names = space["function"], space["__builtins__"]
    call = accel.compile(function)
    for own in (False, True, False, True):
        results = []
        for target in (function, call):
            names["len"] = len
            results.append(describe(target(names if own else {"len": 1}, np.ones(2))))
        assert results[0] == results[1]
    assert facts(call)["compiled"] > 0
