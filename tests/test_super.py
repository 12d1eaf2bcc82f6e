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


def test_names_that_no_class_behind_has():
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
