"""accel.compile: what it accepts, what it returns, and what it says about bad use."""

import copy
import functools
import gc
import inspect
import weakref

import numpy as np
import pytest
from support.compiled import assert_all_compiled

import accel

X = np.arange(6.0).reshape(2, 3)


def doubled(x: np.ndarray, by: float = 2.0) -> np.ndarray:
    """Twice x."""
    return x * by


def test_decorator_without_arguments():
    call = accel.compile(doubled)
    assert np.array_equal(call(X), X * 2)
    assert_all_compiled(call)


def test_decorator_with_arguments():
    @accel.compile(fullgraph=True, dynamic=True, mode="default")
    def f(x):
        return x + 1

    assert np.array_equal(f(X), X + 1)
    assert_all_compiled(f)


def test_fixed_sizes():
    """dynamic=False: a version for each size, as many as the limit allows; the others run in the interpreter."""

    def f(x):
        return (x * 2).sum(axis=0), x.shape

    for dynamic, versions in ((None, 1), (True, 1), (False, 3)):
        call = accel.compile(f, dynamic=dynamic)
        with accel.config(recompile_limit=3):
            for rows in (2, 3, 1, 0, 2, 7):
                x = np.arange(2.0 * rows).reshape(rows, 2)
                found, expected = call(x), f(x)
                assert np.array_equal(found[0], expected[0]) and found[1] == expected[1]
        assert accel.stats(call)["recompiles"] + 1 == versions
        assert accel.stats(call)["interpreted"] == (0 if versions == 1 else 2)
    assert "x.shape[0]" in accel.explain(call)(X).recompiles[0].detail


def test_metadata():
    call = accel.compile(doubled)
    for name in ("__name__", "__qualname__", "__doc__", "__module__", "__annotations__", "__defaults__", "__kwdefaults__"):
        assert getattr(call, name) == getattr(doubled, name), name
    assert call.__wrapped__ is doubled
    assert call.__code__ is doubled.__code__ and call.__globals__ is doubled.__globals__
    assert inspect.signature(call) == inspect.signature(doubled)
    assert inspect.unwrap(call) is doubled
    assert inspect.getsource(call) == inspect.getsource(doubled)
    assert inspect.isroutine(call) and callable(call)
    assert "doubled" in repr(call)


def test_attributes():
    call = accel.compile(lambda x: x)
    call.note = 3
    assert call.__dict__ == {"note": 3} and call.note == 3
    call.__wrapped__.other = 4
    assert call.other == 4
    with pytest.raises(AttributeError):
        call.missing  # noqa: B018
    call.__defaults__ = (X,)
    assert call() is X


def test_wraps_keeps_it():
    call = accel.compile(doubled)

    @functools.wraps(call)
    def outer(x):
        return call(x)

    assert outer.__name__ == "doubled" and np.array_equal(outer(X), X * 2)


def test_defaults_and_keywords():
    call = accel.compile(doubled)
    for result in (call(X, 3.0), call(X, by=3.0), call(x=X, by=3.0)):
        assert np.array_equal(result, X * 3)
    assert_all_compiled(call)


def test_star_arguments():
    @accel.compile
    def f(x, *rest, scale, **others):
        return (x + rest[0]) * scale + others["shift"]

    assert np.array_equal(f(X, X, scale=2.0, shift=1.0), (X + X) * 2 + 1)
    assert_all_compiled(f)


@pytest.mark.parametrize("arguments", [((), {}), ((X, 1.0, 2.0), {}), ((X,), {"x": X}), ((X,), {"no": 1})])
def test_wrong_arguments_raise_as_python_does(arguments):
    positional, keywords = arguments
    with pytest.raises(TypeError) as expected:
        doubled(*positional, **keywords)
    with pytest.raises(TypeError) as found:
        accel.compile(doubled)(*positional, **keywords)
    assert str(found.value) == str(expected.value)


class Scale:
    unit = 3.0

    def __init__(self, factor):
        self.factor = factor

    @accel.compile
    def method(self, x):
        return x * self.factor

    @accel.compile
    @staticmethod
    def static(x):
        return x + 1

    @staticmethod
    @accel.compile
    def static_inside(x):
        return x + 1

    @accel.compile
    @classmethod
    def for_class(cls, x):
        return x * cls.unit

    @classmethod
    @accel.compile
    def for_class_inside(cls, x):
        return x * cls.unit

    def plain(self, x):
        return x - self.factor

    def __call__(self, x):
        return x / self.factor


def test_methods():
    scale = Scale(4.0)
    assert np.array_equal(scale.method(X), X * 4) and np.array_equal(Scale.method(scale, X), X * 4)
    assert np.array_equal(Scale.static(X), X + 1) and np.array_equal(scale.static(X), X + 1)
    assert np.array_equal(scale.static_inside(X), X + 1)
    assert np.array_equal(Scale.for_class(X), X * 3) and np.array_equal(scale.for_class_inside(X), X * 3)
    for call in (Scale.method, Scale.static, Scale.static_inside, Scale.for_class, Scale.for_class_inside):
        assert_all_compiled(call)


def test_bound_method_and_callable_object():
    scale = Scale(4.0)
    assert np.array_equal(accel.compile(scale.plain)(X), X - 4)
    call = accel.compile(scale)
    assert np.array_equal(call(X), X / 4)
    assert accel.stats(call)["compiled"] == 1


def test_instances_share_versions():
    first, second = Scale(5.0), Scale(6.0)
    accel.reset(Scale.method)
    assert np.array_equal(first.method(X), X * 5) and np.array_equal(second.method(X), X * 6)
    assert accel.stats(Scale.method)["recompiles"] == 0


def test_lambda_and_partial():
    call = accel.compile(functools.partial(lambda a, b: a - b, b=2.0))
    assert isinstance(call, functools.partial) and np.array_equal(call(X), X - 2)
    assert accel.stats(call)["compiled"] == 1


def test_compiling_twice_is_compiling_once():
    call = accel.compile(accel.compile(doubled))
    assert call.__wrapped__ is doubled


def test_compiled_functions_are_followed():
    inner = accel.compile(lambda x: x * 2)
    outer = accel.compile(lambda x: inner(x) + 1, fullgraph=True)
    assert np.array_equal(outer(X), X * 2 + 1)
    assert accel.stats(inner)["calls"] == 0


def test_disable():
    call = accel.compile(doubled, disable=True)
    assert np.array_equal(call(X), X * 2) and accel.stats(call)["compiled"] == 0
    left = accel.disable(lambda x: x * 2)
    outer = accel.compile(lambda x: left(x + 1) - 1)
    assert np.array_equal(outer(X), (X + 1) * 2 - 1)
    assert accel.stats(left)["interpreted"] == 1
    with accel.disable():
        assert np.array_equal(outer(X), (X + 1) * 2 - 1)
    assert accel.stats(outer)["interpreted"] == 1
    assert accel.stats(accel.disable()(doubled))["calls"] == 0


@pytest.mark.parametrize(
    "make",
    [
        lambda: accel.compile(np.add),
        lambda: accel.compile(len),
        lambda: accel.compile(3),
        lambda: accel.compile(Scale),
        lambda: accel.compile(doubled, fullgraph=1),
        lambda: accel.compile(doubled, dynamic="no"),
        lambda: accel.compile(doubled, mode="fast"),
        lambda: accel.compile(doubled, backend="cpp"),
        lambda: accel.compile(doubled, backend=None),
        lambda: accel.stats(doubled),
        lambda: accel.reset(3),
        lambda: accel.set_stance("eager"),
    ],
)
def test_bad_use_names_argument_value_and_way_out(make):
    with pytest.raises(accel.ArgumentError, match=r"\w+ cannot be .*: .*(use|pass)"):
        make()


def test_not_kept_alive_by_cycles():
    def make():
        @accel.compile
        def f(x):
            return helper(x) + 1

        def helper(x):
            return f.scale * x

        f.scale, f.itself = 2.0, f
        return f

    call = make()
    assert np.array_equal(call(X), X * 2 + 1)
    gone = weakref.ref(call)
    del call
    gc.collect()
    assert gone() is None


def test_copies_are_the_same_object():
    call = accel.compile(doubled)
    assert copy.copy(call) is call and copy.deepcopy(call) is call


def test_new_code_is_compiled_anew():
    def f(x):
        return x + 1

    call = accel.compile(f)
    assert np.array_equal(call(X), X + 1)
    f.__code__ = (lambda x: x - 1).__code__
    assert np.array_equal(call(X), X - 1)
    assert_all_compiled(call)


def test_generators_run_in_the_interpreter():
    @accel.compile
    def f(x):
        yield x + 1

    assert np.array_equal(next(f(X)), X + 1)
    assert [e["reason"] for e in accel._accel.record(f)["events"]] == ["generator"]
