"""super(): methods, properties and class methods that a class overrides."""

import numpy as np
import pytest
from support.differential import check, check_at_exits, check_cases, sample

import accel


class Scheme:
    order = 1

    def __init__(self, scale):
        super().__init__()
        self.scale = scale

    def step(self, x):
        return x * self.scale

    @property
    def cost(self):
        return 10 * self.order

    @classmethod
    def named(cls):
        return cls.__name__


class Shifted(Scheme):
    order = 2

    def __init__(self, scale, shift):
        super().__init__(scale)
        self.shift = shift

    def step(self, x):
        return super().step(x) + self.shift

    @property
    def cost(self):
        return super().cost + 1

    @classmethod
    def named(cls):
        return "shifted " + super().named()


class Counting:
    def step(self, x):
        self.steps = getattr(self, "steps", 0) + 1
        return super().step(x) - 1


class Both(Counting, Shifted):
    """Whose super() is depends on the class of the object."""


class Explicit(Shifted):
    def step(self, x):
        for_closure = lambda y: self.shift * y  # noqa: E731
        return super(Shifted, self).step(x) + for_closure(x)


class Left(Scheme):
    """May be left, for an index that is out of bounds, before it calls super()."""

    def step(self, x):
        y = x[int(abs(x[0])) % 4]
        return super().step(x) + y


def made(x, n):
    scheme = Shifted(2.0, 0.5)
    for i in range(n):
        x = x + i
    return scheme.step(x), scheme.cost, scheme.named(), scheme.scale


def given(scheme, x, n):
    for _ in range(n):
        x = scheme.step(x)
    return x


def outside(x, n):
    scheme = Both(3.0, 0.25)
    for i in range(n):
        x = scheme.step(x) + i
    return super(Scheme, scheme).__init__(), super(Counting, scheme).step(x), super(Both, scheme).cost, scheme.steps


def left(x, n):
    scheme = Left(2.0)
    for i in range(n):
        x = x + i
    return scheme.step(x)


@pytest.mark.parametrize("function", [made, outside])
def test_whole(function):
    check_cases(function, [(sample(5), 3), (sample(4), 1)], lambda f, case: True)
    check_at_exits(function, sample(5), 3)


@pytest.mark.parametrize("scheme", [Shifted(2.0, 0.5), Both(0.5, 1.5), Explicit(1.5, 2.0)], ids=lambda s: type(s).__name__)
def test_objects_of_the_caller(scheme):
    check(given, scheme, sample(6), 3)


def test_exits_before_super_keep_the_object():
    check(left, sample(5), 3)
    check_at_exits(left, sample(5), 3)


def test_names_that_no_later_class_has():
    def missing(x):
        try:
            return super(Scheme, Scheme(1.0)).step(x)
        except AttributeError as error:
            return str(error)

    call = accel.compile(missing)
    assert call(sample(3)) == missing(sample(3)) == "'super' object has no attribute 'step'"


def test_classes_that_change():
    class Base:
        def step(self, x):
            return x + 1

    class Child(Base):
        def step(self, x):
            return super().step(x) * 2

    call = accel.compile(lambda c, x: c.step(x))
    assert np.array_equal(call(Child(), sample(4)), (sample(4) + 1) * 2)
    Base.step = lambda self, x: x + 3
    assert np.array_equal(call(Child(), sample(4)), (sample(4) + 3) * 2)
    assert accel.stats(call)["compiled"] == 2


# --- bases that are written in C: what the base has under the name is not what the object has


class Doubling(list):
    def append(self, value):
        super().append(value * 2)

    def extend(self, values):
        for value in values:
            super(Doubling, self).append(value)  # noqa: UP008

    def __len__(self):
        return super().__len__() + 100

    def __getattribute__(self, name):
        return super().__getattribute__(name)


class Failure(Exception):
    def __init__(self, value):
        super().__init__(f"value {value}")
        self.value = value


class Meters(float):
    def __add__(self, other):
        return Meters(super().__add__(other))

    def as_integer_ratio(self):
        return super().as_integer_ratio()[0]


class Upper(dict):
    def __setitem__(self, key, value):
        super().__setitem__(key.upper(), value)

    def get(self, key, default=None):
        found = super().get
        return found(key.upper(), default)


class Careful:
    def __setattr__(self, name, value):
        super().__setattr__(name, value + 1)

    def __repr__(self):
        return "careful " + super().__repr__()[:1]


class Shifting(np.random.RandomState):
    def normal(self, size):
        return super().normal(size=size) + 1000.0


class Other(list):
    """Overrides one method of the base by another one."""

    pop = list.append


def append_all(x):
    items = Doubling()
    for value in range(4):
        items.append(value)
    items.extend([1.0, 2.0])
    return list(items), len(items), x * 2.0


def appended(items, x):
    for value in range(3):
        items.append(value)
    return list(items), len(items), x * 2.0


def raised(x):
    try:
        raise Failure(3)
    except Failure as failure:
        return str(failure), failure.value, x * 2.0


def added(distance, x):
    return distance + 2.0, type(distance + 2.0), distance.as_integer_ratio(), x * 2.0


def items_set(names, x):
    names["a"] = x
    names["b"] = x * 2.0
    return sorted(names), names.get("a"), names.get("c", 5)


def attributes_set(o, x):
    o.a = 3
    o.a = o.a + 1
    return o.a, repr(o), x * 2.0


def drawn(rng, x):
    return rng.normal(3) + x


def from_outside(items, names, x):
    super(Doubling, items).append(5)
    get = super(Upper, names).get
    return list(items), get("A"), get("a", 1.0), x + 1.0


def popped(items, x):
    items.pop(7)
    put = items.pop
    put(8)
    return list(items), x + 1.0


BUILT_IN_BASES = {
    "made": (append_all, lambda: ()),
    "list": (appended, lambda: (Doubling(),)),
    "exception": (raised, lambda: ()),
    "float": (added, lambda: (Meters(1.5),)),
    "dict": (items_set, lambda: (Upper(),)),
    "object": (attributes_set, lambda: (Careful(),)),
    "RandomState": (drawn, lambda: (Shifting(5),)),
    "outside": (from_outside, lambda: (Doubling(), Upper(A=2.0))),
    "other": (popped, lambda: (Other(),)),
}


@pytest.mark.parametrize("case", BUILT_IN_BASES)
def test_bases_written_in_c(case):
    function, make = BUILT_IN_BASES[case]
    call = accel.compile(function)
    for _ in range(3):
        assert_same_outcome(call(*make(), sample(3)), function(*make(), sample(3)))


def assert_same_outcome(found, expected):
    assert type(found) is type(expected)
    if isinstance(expected, tuple):
        for one, other in zip(found, expected, strict=True):
            assert_same_outcome(one, other)
    else:
        assert np.array_equal(found, expected)


@pytest.mark.parametrize("method", ["append", "__len__", "__getattribute__"])
def test_compiled_methods(method):
    class Compiled(Doubling):
        pass

    setattr(Compiled, method, accel.compile(Doubling.__dict__[method]))

    def use(kind):
        items = kind()
        items.append(3)
        return list(items), len(items)

    assert use(Compiled) == use(Compiled) == use(Doubling)


def test_global_objects_that_override_a_builtin_method():
    items = Doubling()

    def function(x):
        items.append(2)
        return len(items), x * 2.0

    call = accel.compile(function)
    assert call(sample(3))[0] == 101
    assert call(sample(3))[0] == 102
    assert list(items) == [4, 4]
