"""Instances that a compiled function makes and gives back: of classes written in Python, dataclasses and named tuples."""

import collections
import dataclasses
from typing import NamedTuple

import numpy as np
import pytest
from support.compiled import facts
from support.differential import check, check_at_exits, sample

import accel

X = sample((4, 3))
Point = collections.namedtuple("Point", "x y")
Empty = collections.namedtuple("Empty", "")
Defaults = collections.namedtuple("Defaults", "x y z", defaults=(1, 2.5))


class Pair(NamedTuple):
    x: np.ndarray
    factor: float = 2.0

    def scaled(self):
        return self.x * self.factor

    @property
    def size(self):
        return self.x.size


class Swapped(Point):
    __slots__ = ()

    def swap(self):
        return Swapped(self.y, self.x)


@dataclasses.dataclass
class Result:
    x: np.ndarray
    steps: int = 0
    history: list = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Derived(Result):
    norm: float = dataclasses.field(init=False)

    def __post_init__(self):
        self.norm = np.sqrt((self.x**2).sum())


@dataclasses.dataclass(slots=True)
class Slots:
    x: np.ndarray
    y: float


class Body:
    colour = "red"

    def __init__(self, position, mass=1.0):
        self.position = position
        self.mass = mass
        self.momentum = None

    def push(self, velocity):
        self.momentum = velocity * self.mass
        return self

    @property
    def energy(self):
        return 0.5 * (self.momentum**2).sum() / self.mass


class Counted:
    made = 0

    def __new__(cls, x):
        cls.made += 1
        return super().__new__(cls)

    def __init__(self, x):
        self.x = x


class Closing:
    def __init__(self, x):
        self.x = x

    def __del__(self):
        pass


def make_point(x):
    return Point(x + 1, x.sum())


def make_empty(x):
    return Empty(), x * 2


def make_by_keyword(x):
    return Point(y=x * 2, x=3), Defaults(x), Defaults(x + 1, z=np.float32(2))


def make_nested(x):
    p = Point(x + 1, 2)
    return {"p": p, "q": [Point(p, (p, p.x))]}


def use_named(x):
    p = Pair(x + 1)
    total, factor = p
    return p.scaled() + total, p[0] * p[-1], len(p), p.size, [part for part in p], p[:1], isinstance(p, Pair), tuple(p)


def make_swapped(x):
    return Swapped(x, x * 2).swap()


def carried(x, n):
    p = Point(x, 0)
    for k in range(n):
        p = Point(p.x * 0.5 + 1, p.y + k)
    return p


def pair_of_functions(x):
    def step(p):
        return p[0] - p[1], Point(*p)

    return step(Point(x, x + 1))


def make_result(x):
    return Result(x * 2, 3)


def make_derived(x):
    made = Derived(x + 1, history=[x.sum()])
    made.steps += 2
    made.history.append(made.norm)
    return made


def make_slots(x):
    s = Slots(x * 2, 1.0)
    s.y = s.x.sum()
    return s


def make_body(x):
    return Body(x + 1, mass=3.0).push(x)


def make_body_in_loop(x, n):
    body = Body(x, 2.0)
    for k in range(n):
        body.push(x * k)
    body.extra = body.energy
    return body


def make_twice(x):
    body = Body(x * 2)
    return body, [body, body.position], Body(body.position)


def make_list(x):
    return [Body(row, k + row.max()) for k, row in enumerate(x)]


WHOLE = [make_point, make_empty, make_by_keyword, make_nested, use_named, make_swapped, pair_of_functions, make_result,
         make_derived, make_slots, make_body, make_twice]  # fmt: skip


@pytest.mark.parametrize("function", WHOLE, ids=lambda f: f.__name__)
def test_results(function):
    check(function, X)
    check(function, X[:0])


@pytest.mark.parametrize("function", [carried, make_body_in_loop], ids=lambda f: f.__name__)
def test_loops(function):
    for n in (1, 2, 5):
        check(function, X, n)


@pytest.mark.parametrize("function", [make_point, make_derived, make_slots, make_body, make_nested], ids=lambda f: f.__name__)
def test_exits(function):
    check_at_exits(function, X, most=50)


def test_one_object_stays_one():
    body, (again, position), other = accel.compile(make_twice)(X)
    assert body is again and body is not other
    assert body.position is position is other.position


def test_instances_are_new_in_each_call():
    call = accel.compile(make_derived)
    first, second = call(X), call(X)
    assert first is not second and first.history is not second.history
    first.extra = 1
    assert not hasattr(second, "extra")
    assert facts(call)["compiled"] == 2


@pytest.mark.parametrize("kind", [Counted, Closing])
def test_classes_that_do_more(kind):
    """What __new__ and __del__ do happens as often as in NumPy's process."""

    def function(x):
        return kind(x + 1)

    call = accel.compile(function)
    before = getattr(kind, "made", 0)
    for _ in range(3):
        assert np.array_equal(call(X).x, X + 1)
    assert getattr(kind, "made", 3) == (before + 3 if kind is Counted else 3)


def test_classes_that_change():
    class Changing:
        def __init__(self, x):
            self.x = x

    def function(x):
        return Changing(x * 2)

    call = accel.compile(function)
    assert np.array_equal(call(X).x, X * 2)

    def init(self, x):
        self.y = x + 1

    Changing.__init__ = init
    assert vars(call(X)).keys() == {"y"}
    Changing.y = property(lambda self: 1, lambda self, value: None)
    assert vars(call(X)) == {}


def test_objects_that_others_see():
    """A call of the interpreter gets an instance, and may change it."""
    seen = []

    def function(x):
        body = Body(x + 1)
        seen.append(body)
        body.push(x)
        return body

    call = accel.compile(function)
    for _ in range(2):
        assert call(X) is seen[-1] and seen[-1].momentum is not None


def test_lists_of_instances():
    call = accel.compile(make_list)
    for x in (X, X[:2]):
        found = call(x)
        assert [b.mass for b in found] == list(range(len(x)) + x.max(axis=1))
        assert all(np.array_equal(b.position, row) and np.shares_memory(b.position, x) for b, row in zip(found, x))
    assert facts(call)["compiled"] == 2 and facts(call)["interpreted"] == 0
