"""Objects, containers and what belongs to the user: captured away, compiled as a whole, read anew when they may change."""

import collections
from typing import NamedTuple

import numpy as np
import pytest
from support.compiled import assert_all_compiled, compile_count
from support.differential import check, sample
from support.outcome import assert_same

import accel

X = sample((4, 3))
Y = sample((4, 3), seed=1)


# --- objects --------------------------------------------------------------------------------------------------------


class Pair(NamedTuple):
    x: np.ndarray
    factor: float = 2.0


Point = collections.namedtuple("Point", "x factor")


def test_named_tuples():
    """Their attributes are items; the class may change what a name means."""

    def function(pair, more):
        return pair.x * pair.factor + sum(p.x.sum() for p in more)

    call = check(function, Pair(X), [Pair(Y), Pair(Y, 3.0)])
    assert_same(function, call, Pair(Y, 0.5), [Pair(X), Pair(Y)])
    assert_same(function, call, Point(X, 0.5), [Pair(X), Pair(Y)])
    assert_same(function, call, (X, 0.5), [Pair(X), Pair(Y)])
    named = call(Pair(X), [Pair(X), Pair(X)])
    Pair.factor, was = property(lambda self: 10.0), Pair.factor
    try:
        assert_same(function, call, Pair(X), [Pair(X), Pair(X)])
    finally:
        Pair.factor = was
    assert named.tobytes() == call(Pair(X), [Pair(X), Pair(X)]).tobytes()


class Base:
    offset = 1.0

    def apply(self, x):
        return x * self.scale + self.offset


class Layer(Base):
    def __init__(self, scale, weights):
        self.scale = scale
        self.weights = weights

    @property
    def doubled(self):
        return self.scale * 2

    @staticmethod
    def square(x):
        return x * x

    @classmethod
    def shift(cls, x):
        return x + cls.offset

    def forward(self, x):
        return self.square(self.apply(x)) + self.weights * self.doubled + self.shift(x)

    def __deepcopy__(self, memo):
        return self


class Slotted:
    __slots__ = ("scale", "bias")

    def __init__(self, scale, bias):
        self.scale, self.bias = scale, bias

    def __deepcopy__(self, memo):
        return self


def test_methods_and_attributes():
    call = check(lambda layer, x: layer.forward(x), Layer(2.0, sample((3,))), X)
    before = compile_count(call)
    call(Layer(-1.5, sample((3,), seed=2)), X)
    assert compile_count(call) == before


def test_attributes_that_change():
    def forward(layer, x):
        return layer.forward(x)

    call = accel.compile(forward)
    layer = Layer(2.0, sample((3,)))
    assert_same(forward, call, layer, X)
    layer.scale = 3
    assert_same(forward, call, layer, X)
    layer.offset = 5.0
    assert_same(forward, call, layer, X)
    del layer.offset
    Layer.offset = -1.0
    try:
        assert_same(forward, call, layer, X)
    finally:
        del Layer.offset
    assert_same(forward, call, layer, X)


def test_slots():
    check(lambda s, x: x * s.scale + s.bias, Slotted(2.0, sample((3,))), X)


def test_a_bound_method_of_the_compiled_class():
    class Model:
        def __init__(self):
            self.w = sample((3,))

        @accel.compile
        def predict(self, x):
            return np.maximum(x * self.w, 0.0)

    model = Model()
    for _ in range(3):
        assert np.array_equal(model.predict(X), np.maximum(X * model.w, 0.0))


# --- containers -----------------------------------------------------------------------------------------------------

CONTAINERS = {
    "tuple": lambda x, y: (x + y, (x - y, "text"), None),
    "list": lambda x, y: [x + y, [x], 3],
    "dict": lambda x, y: {"sum": x + y, 2: x, "nested": {"y": y}},
    "the same object twice": lambda x, y: (lambda z: (z, z, [z]))(x + y),
    "list methods": lambda x, y: build_list(x, y),
    "dict methods": lambda x, y: build_dict(x, y),
    "comprehensions": lambda x, y: ([a * 2 for a in (x, y)], {k: v + 1 for k, v in zip("ab", (x, y), strict=True)}),
    "unpacking": lambda x, y: unpack(x, y),
    "slices": lambda x, y: [x, y, x * 2, y * 2][1:3],
    "concatenation": lambda x, y: (x,) + (y * 2,) * 2,
    "sorted and reversed": lambda x, y: [x * k for k in sorted([3, 1, 2])] + [y * k for k in reversed((1, 2))],
    "reversed list": lambda x, y: [a * k for k, a in enumerate(reversed([x, y, x + y]))] + list(zip(reversed([1, 2]), (x, y))),
    "reversed array": lambda x, y: backwards(x, y[0]),
    "list that shrinks in reverse": lambda x, y: shrinking([x, y, x * 2, y * 2]),
    "membership": lambda x, y: x if "a" in {"a": 1} and 3 not in (1, 2) and "b" in "abc" else y * 2 + x,
}


def backwards(rows, total):
    for row in reversed(rows):
        total = total * 0.5 + row
    return total


def shrinking(values):
    seen = []
    for value in reversed(values):
        seen.append(value + 1)
        values.pop()
        if len(seen) == 1:
            values.append(value * 3)
    return seen, values


def build_list(x, y):
    out = []
    out.append(x * 2)
    out.extend([y, x])
    out.insert(0, y + x)
    last = out.pop()
    out += [last * 3]
    out[1] = out[1] - 1
    del out[2]
    out.reverse()
    return out, len(out)


def build_dict(x, y):
    out = dict(a=x)
    out["b"] = y * 2
    out.setdefault("a", y)
    out.update(c=x + y)
    popped = out.pop("b")
    return out, popped, list(out), list(out.keys()), [v * 2 for v in out.values()], [k for k, _ in out.items()]


def unpack(x, y):
    (a, b), *rest = (x, y), x * 2, y * 2
    first, *middle, last = [x, y, x + y, y * y]
    return a - b, rest, first, middle, last


@pytest.mark.parametrize("name", CONTAINERS)
def test_containers(name):
    function = CONTAINERS[name]
    call = accel.compile(function)
    assert_same(function, call, X, Y)
    if name != "membership":
        assert_all_compiled(call, X, Y)


def test_containers_as_arguments():
    def forward(parameters, x, options):
        for w, b in parameters:
            x = np.tanh(x @ w + b)
        return x * options["scale"] + len(options)

    layers = [(sample((3, 5)), sample((5,))), (sample((5, 2)), sample((2,)))]
    call = accel.compile(forward)
    assert_same(forward, call, layers, X, {"scale": 2.0})
    assert_same(forward, call, layers[:1], X, {"scale": 2.0, "more": 1})
    assert_same(forward, call, (*layers, (sample((2, 2)), 1.0)), X, {"scale": np.float32(3)})


def test_the_argument_itself_is_returned():
    x = sample((3,))
    pair = (x, [x])

    @accel.compile
    def same(a, p):
        return a, p, p[1], a * 2

    for _ in range(2):
        a, p, inner, _ = same(x, pair)
        assert a is x and p is pair and inner is pair[1]


# --- nothing of the user's runs at capture, nothing that can change is taken for a constant -------------------------


def with_history(x, history=[1.0], *, table={"k": 2.0}):  # noqa: B006
    history.append(float(len(history)))
    table["k"] = table["k"] + 1
    return x * len(history) + history[0]


def calls_with_history(x):
    return with_history(x)


def test_mutable_defaults():
    def reading(x, weights=[1.0, 2.0], *, table={"k": 2.0}):  # noqa: B006
        return x * len(weights) + sum(w * 2 for w in [1, 2]) + table["k"] * weights[0]

    def caller(x):
        return reading(x)

    call = accel.compile(caller)
    assert_same(caller, call, X)
    reading.__defaults__[0].append(3.0)
    assert_same(caller, call, X)
    reading.__kwdefaults__["table"]["k"] = 7.0
    assert_same(caller, call, X)
    reading.__defaults__[0][0] = sample((3,))
    assert_same(caller, call, X)


def test_changed_defaults_are_left_to_the_interpreter():
    call = accel.compile(calls_with_history)
    first = [call(X) for _ in range(3)]
    with_history.__defaults__[0][:] = [1.0]
    for found in first:
        assert np.array_equal(found, calls_with_history(X))


class Loud:
    """Every hook counts."""

    count = 0

    def _hook(self, *_):
        Loud.count += 1
        return True

    __bool__ = __eq__ = __hash__ = __call__ = __contains__ = __iter__ = __len__ = __getitem__ = __index__ = _hook

    def __getattr__(self, name):
        Loud.count += 1
        raise AttributeError(name)


LOUD = Loud()


@pytest.mark.parametrize(
    "function",
    [
        lambda x, o: x * 2 if o else x,
        lambda x, o: (x * 2, o == 3),
        lambda x, o: (x * 2, o is None),
        lambda x, o: (x * 2, getattr(o, "name", 1)),
        lambda x, o: (x * 2, hasattr(o, "name")),
        lambda x, o: (x * 2, 3 in o),
        lambda x, o: (x * 2, o()),
        lambda x, o: (x * 2, [1, 2, o].index(o)),
        lambda x, o: (x * 2, {o: 1}[o]),
        lambda x, o: (x * 2, isinstance(o, Loud), isinstance(3, int | str), type(o) is Loud),
        lambda x, o: x * 2 if LOUD else x,
        lambda x, o: (x * 2, LOUD == 3, LOUD in (1, 2)),
    ],
)
def test_hooks_run_as_often_as_in_the_interpreter(function):
    call = accel.compile(function)
    for _ in range(3):
        Loud.count = 0
        expected = function(X, LOUD)
        wanted, Loud.count = Loud.count, 0
        found = call(X, LOUD)
        assert Loud.count == wanted
        assert str(found) == str(expected)
