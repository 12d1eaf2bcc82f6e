"""A compiled function stands wherever a function stands: in classes, under functools.wraps, for inspect, as a method."""

import functools
import inspect
import types

import numpy as np
import pytest
from support.compiled import assert_all_compiled, facts
from support.outcome import assert_same

import accel

X = np.arange(5.0)


# --- methods that call methods --------------------------------------------------------------------------------------------


def make_class(mark):
    class Model:
        scale = 2.0

        def __init__(self, shift):
            self.shift = shift

        @mark
        def step(self, x):
            return self.inner(x) + self.shift

        @mark
        def inner(self, x):
            return self.scaled(x) * self.factor() - self.offset(x)

        @property
        @mark
        def width(self):
            return self.shift * 2.0

        @classmethod
        @mark
        def factor(cls):
            return cls.scale + 1.0

        @staticmethod
        @mark
        def offset(x):
            return x[0] * 0.5

        @mark
        def scaled(self, x, by=3.0, *, twice=False):
            return x * by * (2.0 if twice else 1.0) + self.width

        @mark
        def __call__(self, x):
            return self.step(x) * 2.0

        @mark
        def by_other_means(self, x):
            bound = self.scaled
            return self(x) + bound(x, twice=True) + Model.offset(x) + Model.inner(self, x)

    class Child(Model):
        @mark
        def inner(self, x):
            return super().inner(x) * 3.0

    return Model, Child


PLAIN, MARKED = make_class(lambda f: f), make_class(accel.compile)


@pytest.mark.parametrize("which", [0, 1], ids=["class", "subclass"])
@pytest.mark.parametrize("name", ["step", "inner", "scaled", "by_other_means", "__call__"])
def test_methods_that_call_methods_through_self(which, name):
    plain, marked = PLAIN[which](1.5), MARKED[which](1.5)
    for x in (X, X + 1.0):
        assert_same(getattr(plain, name), getattr(marked, name), x, times=2)
    call = getattr(marked, name).__func__
    assert_all_compiled(call)
    others = [each for kind in MARKED for each in vars(kind).values() if isinstance(each, accel._accel.CompiledFunction)]
    assert all(facts(each)["calls"] in (0, facts(each)["compiled"]) for each in others)


def test_a_method_that_is_replaced():
    class Model:
        @accel.compile
        def outer(self, x):
            return self.inner(x) + 1.0

        @accel.compile
        def inner(self, x):
            return x * 2.0

    model = Model()
    assert np.array_equal(model.outer(X), X * 2.0 + 1.0)
    Model.inner = accel.compile(lambda self, x: x * 3.0)
    assert np.array_equal(model.outer(X), X * 3.0 + 1.0)
    model.inner = accel.compile(lambda x: x * 4.0)
    assert np.array_equal(model.outer(X), X * 4.0 + 1.0)
    del model.inner
    assert np.array_equal(model.outer(X), X * 3.0 + 1.0)
    assert facts(Model.__dict__["outer"])["interpreted"] == 0


def test_a_method_that_is_made_where_an_exit_leaves():
    class Model:
        @accel.compile
        def bound(self, x, k):
            method = self.inner
            return method, x[k] * 2.0

        @accel.compile
        def inner(self, x):
            return x

    model = Model()
    for _ in range(2):
        method, value = model.bound(X, 2)
        assert type(method) is types.MethodType and method == model.inner and value == 4.0
    assert_all_compiled(Model.__dict__["bound"])
    with pytest.raises(IndexError):
        model.bound(X, 9)


def test_a_method_that_is_left_to_the_interpreter_is_called():
    class Model:
        @accel.compile
        def outer(self, x):
            return self.inner(x) + 1.0

        @accel.disable
        def inner(self, x):
            return x * 2.0

    model = Model()
    for _ in range(3):
        assert np.array_equal(model.outer(X), X * 2.0 + 1.0)
    assert facts(Model.__dict__["inner"])["interpreted"] == 3


# --- what type() makes of functions ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("mark", [lambda f: f, accel.compile], ids=["plain", "marked"])
def test_special_names_in_a_class_body(mark):
    class Base:
        seen = []

        @mark
        def __new__(cls, *arguments):
            made = object.__new__(cls)
            made.arguments = arguments
            return made

        @mark
        def __init_subclass__(cls, **options):
            cls.seen.append((cls.__name__, options))

        @mark
        def __class_getitem__(cls, item):
            return cls.__name__, item

        helper = __new__

    class Child(Base, flag=1):
        @mark
        def __new__(cls, *arguments):
            return super().__new__(cls, "child", *arguments)

    assert Base.seen == [("Child", {"flag": 1})]
    assert Base[3] == ("Base", 3) and Child[4] == ("Child", 4)
    assert Base(1).arguments == (1,) and Child(2).arguments == ("child", 2)
    assert Base(1).__new__(Child, 5).arguments == (5,)
    kinds = {name: type(vars(Base)[name]) for name in ("__new__", "__init_subclass__", "__class_getitem__")}
    assert list(kinds.values()) == [staticmethod, classmethod, classmethod]
    assert not isinstance(vars(Base)["helper"], staticmethod)


# --- attributes -----------------------------------------------------------------------------------------------------------


def original(a, b=2.0):
    """What it says."""
    return a * b


def test_wraps_above_the_decorator():
    @functools.wraps(original)
    @accel.compile
    def call(*arguments):
        return original(*arguments) + 1.0

    assert call.__wrapped__ is original and call.__name__ == "original" and call.__doc__ == "What it says."
    assert call.__dict__["__wrapped__"] is original
    assert inspect.signature(call) == inspect.signature(original) and inspect.unwrap(call) is original
    assert np.array_equal(call(X, 3.0), X * 3.0 + 1.0)
    assert_all_compiled(call)
    again = accel.compile(call)
    assert np.array_equal(again(X, 3.0), X * 3.0 + 1.0)
    del call.__wrapped__
    assert call.__wrapped__ is accel._accel.python_function(call)


def test_wraps_of_a_compiled_function():
    call = accel.compile(original)

    @functools.wraps(call)
    def outer(*arguments):
        return call(*arguments)

    assert outer.__wrapped__ is call and outer.__name__ == "original"
    assert inspect.signature(outer) == inspect.signature(original)


def make_closure():
    factor = 2.0

    def f(x):
        return x * factor + len(X)

    return f


PARTS = ["__closure__", "__globals__", "__builtins__", "__code__", "__defaults__", "__kwdefaults__", "__name__", "__class__"]


@pytest.mark.parametrize("name", PARTS)
@pytest.mark.parametrize("value", [None, 3, "text", (), {}])
def test_parts_are_set_as_those_of_a_function(name, value):
    def outcome(function):
        try:
            setattr(function, name, value)
        except (AttributeError, TypeError) as error:
            return type(error), str(error)
        return getattr(function, name)

    call = accel.compile(make_closure())
    assert outcome(call) == outcome(make_closure())
    assert name not in vars(call)


def test_inspect():
    plain, call = make_closure(), accel.compile(make_closure())
    assert inspect.isfunction(call) and isinstance(call, types.FunctionType) and inspect.isroutine(call)
    assert inspect.getclosurevars(call) == inspect.getclosurevars(plain)
    assert inspect.getsource(call) == inspect.getsource(plain)
    assert inspect.getfullargspec(call) == inspect.getfullargspec(plain)
    assert inspect.getmodule(call) is inspect.getmodule(plain)
    assert not inspect.isgeneratorfunction(call) and not inspect.isbuiltin(call) and not inspect.ismethod(call)
    assert type(call) is accel._accel.CompiledFunction
    assert inspect.ismethod(types.MethodType(call, 3))


def test_a_compiled_function_is_compiled_once_whatever_it_looks_like():
    call = accel.compile(original)
    assert accel.compile(call).__wrapped__ is original
    assert type(accel.compile(call)) is accel._accel.CompiledFunction
