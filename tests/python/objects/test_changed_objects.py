"""Attributes of the caller's objects that a compiled function sets."""

import dataclasses

import numpy as np
import pytest
from support.changed_state import State, X, state
from support.compiled import compile_count, facts
from support.differential import check, check_at_exits, check_left_to_numpy
from support.outcome import assert_same, describe

import accel


class Body:
    colour = 1

    def __init__(self, position=X, speed=1.5, **more):
        self.position = position.copy()
        self.speed = speed
        self.time = 0.0
        self.steps = 0
        vars(self).update(more)

    def step(self, dt):
        self.position = self.position + dt * self.speed
        self.time += dt
        self.steps += 1

    def run(self, n, dt):
        for _ in range(n):
            self.step(dt)
        return self.time

    @property
    def momentum(self):
        return self.speed * 2

    @momentum.setter
    def momentum(self, value):
        self.speed = value / 2
        self.changed = True

    @property
    def fixed(self):
        return 1


@dataclasses.dataclass(frozen=True)
class Frozen:
    x: np.ndarray


class Slots:
    __slots__ = ("x", "y")

    def __init__(self, x):
        self.x = x


class Own:
    def __setattr__(self, name, value):
        object.__setattr__(self, name, value * 2)


class Held:
    def __init__(self, **parts):
        vars(self).update(parts)


def set_one(s, x):
    s.energy = (x**2).sum()


def set_several(s, x):
    s.x = x + 1
    s.v = s.x * 2
    s.energy = float(s.v.sum())
    return s.energy


def swap(s, x):
    s.x, s.v = s.v, s.x
    return s.x + x


def in_place(s, x):
    s.x -= 0.5 * x
    s.v[0] = x[0]
    s.v *= 2


def set_and_set_back(s, x):
    before = s.x
    s.x = x * 2
    total = s.x.sum()
    s.x = before
    return total


def set_to_argument(s, x):
    s.x = x
    s.v = x[1:]
    x *= 2
    return s.x.sum()


def new_attributes(s, x):
    s.second = x + 1
    s.first = 2
    s.second = s.second + s.first
    return hasattr(s, "third"), getattr(s, "second", None)


def set_everything(s, x):
    s.text = "done"
    s.nothing = None
    s.pair = (x + 1, 2)
    s.list = [x.sum(), x * 2]
    s.dict = {"a": x[0] + 1, "b": 3}
    s.made = State(x + 2, x)
    s.view = x[1:, ::2]
    s.number = x[0, 0]
    s.size = x.size


def branch(s, x):
    if x.sum() > 0:
        s.energy = x.sum()
    else:
        s.x = x * 3
    return s.x + s.energy


def loop(s, x):
    for k in range(5):
        s.energy += k * x.sum()
        s.x = s.x * 0.5 + s.v
    return s.energy


def loop_with_break(s, x):
    k = 0
    while True:
        k += 1
        s.x = s.x * 0.5
        s.steps = k
        if np.abs(s.x).max() < 0.1:
            s.converged = True
            break
    return k


def nested_objects(s, x):
    s.other.x = x + 1
    for k in range(3):
        s.other.energy += k * s.other.x.sum()
    s.energy = s.other.energy * 2


def new_object_within(s, x):
    s.other = State(x, x * 2)
    s.other.energy = (s.other.x * s.other.v).sum()
    return s.other.energy


def through_method(s, x):
    def shift(state, by):
        state.x = state.x + by
        return state

    return shift(shift(s, x), 1).x.sum()


def return_itself(s, x):
    s.x = x * 2
    return s


def raises(s, x):
    s.energy = x.sum()
    s.x = x + 1
    raise ValueError("after two stores")


def caught(s, x):
    try:
        s.energy = 5.0
        s.x = x[np.array([0, 0])] + 1
        raise ValueError
    except ValueError:
        s.v = x * 2
    return s.energy


def by_setattr_name(s, x):
    for name in ("x", "v"):
        setattr(s, name, x * 2)


STATE = [set_one, set_several, swap, in_place, set_and_set_back, set_to_argument, new_attributes, set_everything, branch, loop,
         loop_with_break, through_method, return_itself, caught, by_setattr_name]  # fmt: skip


@pytest.mark.parametrize("function", STATE, ids=lambda f: f.__name__)
def test_stores(function):
    check(function, state(), X)
    check(function, state(), X[:1])


@pytest.mark.parametrize("function", STATE, ids=lambda f: f.__name__)
def test_exits(function):
    check_at_exits(function, state(), X, most=80)


@pytest.mark.parametrize("function", [nested_objects, new_object_within])
def test_objects_of_objects(function):
    check(function, state(other=state()), X)
    check_at_exits(function, state(other=state()), X, most=60)


@pytest.mark.parametrize("function", [set_several, loop, swap])
def test_stores_by_numpy_backend(function):
    call = accel.compile(function, backend="numpy")
    assert_same(function, call, state(), X)


def test_errors_come_after_the_stores():
    check_left_to_numpy(raises, state(), X)


def test_methods():
    def advance(body, n):
        return body.run(n, 0.25)

    for n in (1, 2, 7):
        check(advance, Body(), n)
    call = accel.compile(Body.run)
    for n in (1, 3, 30):
        assert_same(Body.run, call, Body(), n, 0.5)
    assert facts(call)["side_exits"] == facts(call)["interpreted"] == 0
    assert compile_count(call) <= 2


def test_calls_one_after_the_other():
    """Each call finds what the one before has set."""
    step, body, expected = accel.compile(Body.step), Body(), Body()
    for k in range(6):
        step(body, 0.1 * k)
        expected.step(0.1 * k)
        assert describe(body) == describe(expected)
    assert facts(step)["compiled"] == 6 and compile_count(step) == 1


def test_class_attributes_become_instance_attributes():
    def function(body):
        body.colour += 1
        return body.colour

    call, body, expected = accel.compile(function), Body(), Body()
    for _ in range(4):
        assert call(body) == function(expected) and describe(body) == describe(expected)
    assert facts(call)["side_exits"] == 0
    assert Body.colour == 1


def test_properties():
    def function(body, x):
        body.momentum = body.momentum + x.sum()
        return body.speed

    check(function, Body(), X)

    def read_only(body, x):
        body.fixed = x.sum()

    check_left_to_numpy(read_only, Body(), X)


def test_slots():
    def function(s, x):
        s.y = s.x + x
        s.x = s.y.sum()

    check(function, Slots(X), X)

    def no_such(s, x):
        s.z = x + 1

    check_left_to_numpy(no_such, Slots(X), X)


@pytest.mark.parametrize("owner", [Frozen(X), Own()])
def test_classes_that_do_more(owner):
    def function(s, x):
        s.x = x * 2
        return x.sum()

    check_left_to_numpy(function, owner, X)


def test_classes_that_change():
    class Changing:
        pass

    def function(s, x):
        s.x = x * 2

    call = accel.compile(function)
    first = Changing()
    call(first, X)
    assert np.array_equal(first.x, X * 2) and facts(call)["compiled"] == 1
    Changing.__setattr__ = lambda self, name, value: object.__setattr__(self, name, 1)
    call(first, X)
    assert first.x == 1
    del Changing.__setattr__
    Changing.x = property(lambda self: 2, lambda self, value: self.__dict__.update(y=value))
    call(first, X)
    assert np.array_equal(first.y, X * 2)


def test_identities():
    def function(s, x):
        s.x = x + 1
        s.v = s.x
        s.other = s.x[1:]
        return s.x

    s = state()
    made = accel.compile(function)(s, X)
    assert made is s.x is s.v and s.other.base is s.x


def test_arrays_that_are_held_stay_what_they_are():
    def function(s, x):
        s.x = s.x + x
        s.v += x

    call, s = accel.compile(function), state()
    x, v = s.x, s.v
    before = x.copy()
    call(s, X)
    assert s.x is not x and np.array_equal(x, before) and s.v is v
    assert facts(call)["compiled"] == 1


def test_one_object_under_two_names():
    def function(a, b, x):
        a.energy = x.sum()
        b.x = b.x + a.energy
        a.energy += b.energy
        return a.energy, b.energy

    call = accel.compile(function)
    for _ in range(2):
        one, two, both = state(), state(), state()
        assert_same(function, call, one, two, X)
        expected = state()
        assert call(both, both, X) == function(expected, expected, X)
        assert describe(both) == describe(expected)
    assert facts(call)["side_exits"] == facts(call)["interpreted"] == 0


def test_an_object_that_holds_itself():
    def function(s, x):
        s.energy = 1.0
        s.other.energy += 2
        s.other.other.x = x + s.energy
        return s.energy

    s, expected = state(), state()
    s.other, expected.other = s, expected
    call = accel.compile(function)
    for _ in range(2):
        assert call(s, X) == function(expected, X) and np.array_equal(s.x, expected.x)
    check(function, state(other=state(other=state())), X)
    assert call(s, X) == function(expected, X)


GLOBAL = Held(count=0, total=0.0)


def test_objects_of_the_module():
    def function(x):
        for _ in range(3):
            GLOBAL.count += 1
            GLOBAL.total = GLOBAL.total + x.sum()
        return GLOBAL.total

    def straight(x):
        GLOBAL.count += 1
        GLOBAL.total = x.sum()
        return GLOBAL.total

    for each in (straight, function):
        call = accel.compile(each)
        for _ in range(3):
            GLOBAL.count, GLOBAL.total = 3, 1.5
            expected = each(X), GLOBAL.count, GLOBAL.total
            GLOBAL.count, GLOBAL.total = 3, 1.5
            assert (call(X), GLOBAL.count, GLOBAL.total) == expected
        found = facts(call)
        assert found["compiled"] == 3 and (each is function or found["side_exits"] == 0), accel.explain(call)(X)


def test_a_global_that_is_an_argument():
    def function(s, x):
        s.total = x.sum()
        return GLOBAL.total + s.total

    call = accel.compile(function)
    for owner in (Held(total=1.0), GLOBAL, Held(total=2.0)):
        GLOBAL.total = 7.0
        expected = x_sum = X.sum()
        expected = (x_sum if owner is GLOBAL else 7.0) + x_sum
        assert call(owner, X) == expected and owner.total == x_sum
    assert facts(call)["compiled"] == 3 and facts(call)["side_exits"] == 0


def test_objects_in_lists():
    def function(bodies, dt):
        for body in bodies:
            body.step(dt)
        bodies[0].speed = bodies[1].speed * 2
        return sum(body.time for body in bodies)

    check(function, [Body(), Body(X + 1), Body(X * 2)], 0.5)
