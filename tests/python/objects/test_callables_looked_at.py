"""Callables that arrive as data and are looked at other than by calling: fresh ones are no new versions."""

import copy
import functools
import types
from collections.abc import Callable

import numpy as np
import pytest
from support.compiled import assert_all_compiled, facts
from support.differential import sample
from support.outcome import assert_same

import accel


class Model:
    def __init__(self, rate):
        self.rate = rate

    def slope(self, y):
        """Decay."""
        return -self.rate * y

    def __call__(self, y):
        return y * self.rate + 1


class Powered(Model):
    def __call__(self, y, power=2, shift=0.0):
        return y**power * self.rate + shift


class Other:
    def __call__(self, y):
        return y - 2


def plain(k):
    return lambda y: y * k


def with_jacobian(k):
    def slope(y):
        return y * k

    slope.jac = lambda y: y * 0 + k
    slope.scale = 2.0 * k
    return slope


def bound(k):
    return Model(k).slope


def partial(k):
    return functools.partial(lambda scale, y: y * scale + k, 3.0)


MAKERS = {"plain": plain, "with attributes": with_jacobian, "bound": bound, "partial": partial, "instance": Model}


def check(function, make, others=()):
    """13 fresh callables are one version; `others` are arguments that look different: right, and then one more version each."""
    call = accel.compile(function)
    for k in range(1, 14):
        assert_same(function, call, *make(k * 0.5), sample(5))
    assert_all_compiled(call)
    assert facts(call)["recompiles"] == 0
    for _ in range(2):
        for arguments in others:
            assert_same(function, call, *arguments, sample(5))
        assert_same(function, call, *make(7.5), sample(5))
    return call


def is_callable(f, y):
    return f(y) if callable(f) else y * f


def is_none(f, y):
    return y * 2 if f is None else f(y)


def is_not_none(f, y):
    if f is not None and callable(f):
        y = f(y)
    return y + 1


def equals_none(f, y):
    return y * 2 if f == None else f(y) + (f != None)  # noqa: E711


def is_true(f, y):
    return f(y) if f else y * 2


def has_attribute(f, y):
    if hasattr(f, "jac"):
        return f(y) + f.jac(y)
    return f(y) * 3


def attribute_or_none(f, y):
    jac = getattr(f, "jac", None)
    return f(y) * 2 if jac is None else f(y) + jac(y)


def attribute_or_number(f, y):
    return f(y) * getattr(f, "scale", 1.0)


def is_instance(f, y):
    if isinstance(f, types.FunctionType):
        return f(y) + 1
    if isinstance(f, Model):
        return f(y) + 2
    return f(y) + 3 if isinstance(f, Callable) else y


def type_is(f, y):
    return f(y) if type(f) is types.FunctionType else f(y) * 2


def in_a_loop(f, y):
    for _ in range(10):
        if callable(f) and f is not None:
            y = y + 0.01 * f(y)
        if getattr(f, "jac", None) is not None:
            y = y + f.jac(y)
    return y


def in_a_comprehension(f, y):
    return sum([f(y * k) for k in range(3)])


def in_a_generator(f, y):
    return sum(f(y * k) for k in range(3))


def in_a_generator_over_an_array(f, y):
    return np.array([f(v) for v in y]), sum(f(v) for v in y)


def in_a_nested_function(f, y):
    def twice(y):
        return f(f(y))

    return twice(y) + (lambda y: f(y) * 2)(y)


def in_a_nested_function_that_looks(f, y):
    def apply(y):
        return f(y) if callable(f) and not hasattr(f, "jac") else y

    return [apply(v) for v in (y, y + 1)]


def is_itself(f, y):
    g = f
    return f(y) * 2 if f is g and f == g and (f != g) is False else y


LOOKS = [
    is_callable,
    is_none,
    is_not_none,
    equals_none,
    is_true,
    has_attribute,
    attribute_or_none,
    attribute_or_number,
    is_instance,
    type_is,
    in_a_loop,
    in_a_comprehension,
    in_a_generator,
    in_a_generator_over_an_array,
    in_a_nested_function,
    in_a_nested_function_that_looks,
    is_itself,
]


@pytest.mark.parametrize("function", LOOKS, ids=lambda function: function.__name__)
@pytest.mark.parametrize("name", MAKERS)
def test_fresh_callables(function, name):
    check(function, lambda k: (MAKERS[name](k),))


@pytest.mark.parametrize("function", LOOKS, ids=lambda function: function.__name__)
@pytest.mark.parametrize("first", MAKERS)
def test_what_is_seen_differs(function, first):
    call = accel.compile(function)
    makers = [MAKERS[first], *MAKERS.values(), lambda k: Other(), lambda k: np.sin, lambda k: None, lambda k: 3.0]
    with accel.config(recompile_limit=100):
        for k in (1.5, 2.5):
            for make in makers:
                assert_same(function, call, make(k), sample(5))
    assert facts(call)["compiled"] > 0
    assert facts(call)["compiles"] <= len(makers) + 3


def names(f, y):
    return f(y), f.__name__, f.__qualname__, f.__doc__, f.__module__


def named(name, doc, k):
    def slope(y):
        return y * k

    slope.__name__, slope.__doc__, slope.__qualname__ = name, doc, "at." + name
    return slope


def test_names():
    check(
        names,
        lambda k: (named("slope", "Text.", k),),
        [(named(name, doc, 2.0),) for name in ("slope", "rate") for doc in ("Text.", None, "Other.")],
    )
    check(names, lambda k: (Model(k).slope,), [(named("slope", "Decay.", 1.0),)])


def test_attributes_of_functions():
    def scaled(f, y):
        return f(y) * f.scale + f.jac(y)

    def changed(k, **attributes):
        f = with_jacobian(k)
        f.__dict__.update(attributes)
        return (f,)

    others = [changed(2.0, scale=scale) for scale in (2, np.float32(0.5), sample(5), None, "no")]
    others += [changed(2.0, jac=np.cos), changed(2.0, jac=Model(2.0)), (plain(2.0),)]
    check(scaled, lambda k: (with_jacobian(k),), others)


def test_attributes_that_are_set():
    def counted(f, y):
        f.calls = getattr(f, "calls", 0) + 1
        return f(y) * f.calls

    call, f, g = accel.compile(counted), plain(2.0), plain(2.0)
    for k in range(1, 5):
        assert np.array_equal(call(f, sample(5)), counted(g, sample(5)))
        assert f.calls == g.calls == k


def test_attributes_that_change_meanwhile():
    def function(f, change, y):
        total = f(y) * f.scale
        for _ in range(3):
            change(f)
            total = total + f(y) * f.scale
            if hasattr(f, "more"):
                total = total * 2
        return total

    def change(f):
        f.scale += 1
        if f.scale > 4:
            f.more = 1
        print(end="")

    call = accel.compile(function)
    for _ in range(3):
        assert np.array_equal(call(with_jacobian(1.0), change, sample(5)), function(with_jacobian(1.0), change, sample(5)))
    assert facts(call)["compiled"] > 0


def test_attributes_that_are_set_as_items():
    def function(f, d, y):
        before = y * getattr(f, "scale", 1.0)
        d["scale"] = 3.0
        return before + y * f.scale if hasattr(f, "scale") else before

    for order in ((True, False), (False, True)):
        call = accel.compile(function)
        for shared in (*order, *order):
            for make in (plain, with_jacobian):
                results = []
                for target in (function, call):
                    f = make(2.0)
                    d = f.__dict__ if shared else {}
                    results.append((target(f, d, sample(5)).tolist(), d["scale"], getattr(f, "scale", None)))
                assert results[0] == results[1]
        assert facts(call)["compiled"] > 0


def test_attributes_of_an_instance_and_of_its_method():
    def function(f, y):
        return y * getattr(f.__self__, "rate", 2.0) + f.__func__(f.__self__, y) + (0 if hasattr(f, "jac") else 1)

    check(function, lambda k: (Model(k).slope,))


def test_zipped_lists():
    def function(fs, ys, y):
        total = y
        for f, x in zip(fs, ys):
            total = total + f(x)
        for k, f in enumerate(fs):
            total = total + f(y) * k
        return total + [f for f in fs if callable(f)][-1](y)

    for kind in (list, tuple):

        def make(k, kind=kind):
            return kind([plain(k), plain(k + 1), with_jacobian(k)]), [sample(5), sample(5, seed=1), sample(5, seed=2)]

        check(function, make, [([np.sin, plain(2.0), Model(2.0)], [sample(5)] * 3), ([plain(1.0)], [sample(5)] * 2)])


def test_lists_that_the_function_makes():
    def function(f, g, y):
        fs = []
        fs.append(f)
        fs.append(g)
        fs.append(lambda y: f(g(y)))
        for _ in range(3):
            for h in fs:
                y = h(y) * 0.5
        return y

    check(function, lambda k: (plain(k), Model(k).slope), [(plain(k), partial(k)) for k in (1.0, 2.0)])


def test_applied_along_an_axis():
    def function(f, x, y):
        return np.apply_along_axis(f, 0, x * 2 + 1) * 3, y

    call = accel.compile(function)
    for k in range(1, 14):
        assert_same(function, call, lambda column, k=k: column * k, sample((4, 3)), sample(5))
    assert facts(call)["compiles"] <= 2 and facts(call)["interpreted"] == 0


def test_methods_made_of_functions():
    def function(f, y):
        return f(y) * 2

    def make(k):
        return (types.MethodType(lambda self, y: y * self.rate + k, Model(k)),)

    check(
        function, make, [(Model(2.0).slope,), (types.MethodType(np.multiply, 3.0),), (types.MethodType(Model(2.0), sample(5)),)]
    )


def test_partials_of_instances():
    def function(f, y):
        return f(y) * 2

    check(function, lambda k: (functools.partial(Model(k)),), [(functools.partial(Other()),)])


def test_partials_of_instances_with_keywords():
    def function(f, y):
        return f(y) * 2 + f(y, power=1)

    check(function, lambda k: (functools.partial(Powered(k), power=3),), [(functools.partial(Powered(2.0), shift=1.0),)])


def test_instances_that_are_called(monkeypatch):
    def function(f, y):
        return f(y) + f(y, power=3)

    call = check(function, lambda k: (Powered(k),))
    f = Powered(2.0)
    f.__call__ = lambda y, power=2: y  # of the class alone
    assert np.array_equal(call(f, sample(5)), function(f, sample(5)))
    monkeypatch.setattr(Powered, "__call__", lambda self, y, power=5: y * power)
    assert np.array_equal(call(f, sample(5)), function(f, sample(5)))
    for target in (call, function):
        with pytest.raises(TypeError):
            target(Model.slope, sample(5))


def test_which_of_several_it_is():
    def function(f, g, y):
        if f is g:
            return f(y) * 2
        if f == plain or g != partial:
            return g(y) - 1
        return f(y)

    call = accel.compile(function)
    for k in range(1, 14):
        f, g = plain(k), plain(k + 1)
        for pair in ((f, f), (f, g), (plain, g), (f, partial), (np.sin, f)):
            assert np.array_equal(call(*pair, sample(5)), function(*pair, sample(5))), pair
    assert facts(call)["compiles"] <= 6


def test_methods_that_are_compared():
    def function(f, g, y):
        y = y * y + 1
        return y if f == g else y * 2, f is g

    model, call = Model(2.0), accel.compile(function)
    for _ in range(3):
        for pair in ((model.slope, model.slope), (model.slope, Model(2.0).slope), (model.slope, plain(2.0))):
            expected, found = function(*pair, sample(5)), call(*pair, sample(5))
            assert np.array_equal(expected[0], found[0]) and expected[1] == found[1]


def test_keys_of_dicts():
    orders = {plain: 2, partial: 3}

    def function(f, y):
        return y * orders[f] + {f: 1.0}[f]

    call = accel.compile(function)
    for f in (plain, partial, plain, partial):
        assert_same(function, call, f, sample(5))
    for target in (function, call):
        with pytest.raises(KeyError):
            target(plain(2.0), sample(5))
    assert facts(call)["compiled"] > 0


def test_given_to_python():
    def function(f, y):
        y = y * 2 + 1
        print(f"{callable(f)}", end="")
        return f(y) if callable(f) else y, repr(y.sum())

    check_boxed = accel.compile(function)
    for k in range(1, 14):
        assert_same(function, check_boxed, plain(k), sample(5))
    assert facts(check_boxed)["compiles"] <= 2


@pytest.mark.parametrize("function", [attribute_or_none, has_attribute, in_a_loop, is_instance, in_a_generator])
def test_at_exits(function):
    for n in range(1, 25):
        call = accel.compile(function, backend="numpy")
        with accel.config(stress_exits=n):
            for make in (plain, with_jacobian, partial):
                for k in (0.5, 2.0):
                    assert_same(function, call, make(k), sample(5))
    assert facts(call)["compiled"] > 0


def test_builtin_methods():
    def function(y, n, keep, make):
        for k in range(n):
            y = y * 1.5 + make(k)
            if keep is not None and callable(keep) and not hasattr(keep, "jac"):
                keep(y.sum())
        return y

    call = accel.compile(function)
    keepers = [[].append] * 13 + [
        {}.get,
        [].append,
        [1].remove,
        {1}.discard,
        np.ones(3).sum,
        [].append,
        None,
        Model(2.0),
        [].extend,
    ]
    for keep in keepers:
        histories = []
        for target in (function, call):
            fresh = getattr(copy.copy(keep.__self__), keep.__name__) if hasattr(keep, "__self__") else keep
            try:
                result = target(sample(5), 3, fresh, {0: 1.0, 1: 2.0, 2: 3.0}.get)
            except Exception as error:
                result = np.array(str(error))
            histories.append((result, getattr(fresh, "__self__", None)))
        (expected, kept), (found, got) = histories
        assert np.array_equal(found, expected) and repr(kept) == repr(got), keep
        if keep is keepers[12]:
            assert facts(call)["recompiles"] <= 1 and facts(call)["interpreted"] == 0
    assert facts(call)["compiled"] > 0


def test_builtin_methods_of_arrays():
    def function(total, y):
        return y * total() + y.max()

    def make(k):
        return (np.full(7, k).sum,)

    check(function, make, [(sample(4).max,), (sample(3, "float32").sum,), (lambda: 2.0,)])


def test_builtin_methods_that_are_compared():
    def function(f, g, y):
        y = y * y + 1
        return y * 2 if f == g else y

    call, items = accel.compile(function), []
    for _ in range(3):
        for pair in (
            (items.append, items.append),
            (items.append, [].append),
            (items.append, items.extend),
            (items.append, None),
        ):
            assert np.array_equal(call(*pair, sample(5)), function(*pair, sample(5)))


def test_how_many_arguments_it_takes():
    def function(f, y):
        try:
            return f(y, 2.0)
        except TypeError:
            return f(y) * 3

    others = [(lambda y, z=k: y * z,) for k in (1.0, 2.0)] + [(lambda *y: y[0],), (lambda y, z, v: y,), (np.add,)]
    check(function, lambda k: (lambda y: y * k,), [others[0], others[2], others[4]])
    call = accel.compile(function)
    for arguments in [*others, *others]:
        assert_same(function, call, *arguments, sample(5))


def undocumented(y):
    return y + 1


def by_its_parts(y):
    if undocumented.__doc__ is None and undocumented.__kwdefaults__ is None and undocumented.__defaults__ is None:
        return y + 1
    return y - 1


def test_parts_that_a_function_lacks():
    call = accel.compile(by_its_parts)
    y = np.arange(3.0)
    assert_same(by_its_parts, call, y, times=2)
    assert_all_compiled(call)
    for part, value in (("__doc__", "Text."), ("__kwdefaults__", {"k": 1}), ("__defaults__", (1.0,))):
        setattr(undocumented, part, value)
        try:
            assert_same(by_its_parts, call, y, times=2)
        finally:
            setattr(undocumented, part, None)
        assert_same(by_its_parts, call, y, times=2)
    assert_all_compiled(call)
