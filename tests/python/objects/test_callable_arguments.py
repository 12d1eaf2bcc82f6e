"""Functions, bound methods and partial objects as arguments: fresh objects of the same code are no new versions."""

import functools
import types

import numpy as np
import pytest
from support.compiled import assert_all_compiled, facts
from support.differential import sample
from support.outcome import assert_same, outcome

import accel


def stepped(f, y, n):
    t = 0.0
    for _ in range(n):
        y = y + 0.01 * f(t, y)
        t += 0.01
    return y


class Model:
    def __init__(self, rate):
        self.rate = rate
        self.calls = 0

    def slope(self, t, y):
        return -self.rate * y + t

    def counted(self, t, y):
        self.calls += 1
        return y * self.calls


def scaled(rate, t, y, shift=0.0):
    return -rate * y + t + shift


def closure(rate):
    def slope(t, y):
        return -rate * y + t

    return slope


def nested(rate):
    inner = closure(rate)
    return lambda t, y: inner(t, y) * 2


def matrix(rate):
    a = np.full((5, 5), rate)
    return lambda t, y: a @ y


def by_keyword(rate):
    def slope(t, y, *, rate=rate, power=2):
        return -rate * y**power

    return slope


MAKERS = {
    "lambda": lambda k: lambda t, y: -y * 2,
    "closure": closure,
    "nested": nested,
    "matrix": matrix,
    "default": lambda k: lambda t, y, rate=k: -rate * y,
    "keyword default": by_keyword,
    "method": lambda k: Model(k).slope,
    "method that counts": lambda k: Model(k).counted,
    "partial": lambda k: functools.partial(scaled, k),
    "partial with keywords": lambda k: functools.partial(scaled, k, shift=k * 2),
    "partial of a closure": lambda k: functools.partial(lambda scale, t, y: scale * y * k, 3.0),
    "partial of a method": lambda k: functools.partial(Model(k).slope),
}


@pytest.mark.parametrize("name", MAKERS)
def test_fresh_objects(name):
    make = MAKERS[name]

    call = accel.compile(stepped, fullgraph=True)
    for k in range(1, 14):
        rate = k * 0.25
        assert np.array_equal(call(make(rate), sample(5), 4), stepped(make(rate), sample(5), 4)), k
    assert_all_compiled(call)
    assert facts(call)["recompiles"] == 0


def test_functions_in_containers_and_attributes():
    def function(fs, options, holder, y):
        for f in fs:
            y = f(y)
        return options["last"](holder.act(y))

    def make(k):
        return (
            [lambda y: y * k, lambda y: y + k],
            {"last": lambda y: y - k},
            types.SimpleNamespace(act=lambda y: y / k),
            sample(4),
        )

    call = accel.compile(function)
    for k in range(1, 13):
        assert np.array_equal(call(*make(k * 0.5)), function(*make(k * 0.5)))
    assert facts(call)["recompiles"] == 0 and facts(call)["interpreted"] == 0


def test_other_code_is_another_version():
    call = accel.compile(stepped)
    for f in (closure(0.5), lambda t, y: y * 2, closure(2.0), Model(3.0).slope, np.maximum, closure(3)):
        assert_same(stepped, call, f, sample(5), 3)
    assert facts(call)["interpreted"] == 0


def test_types_of_what_it_holds():
    call = accel.compile(stepped)
    for rate in (0.5, 2, np.float32(0.5), sample(5), sample(5, "float32"), True, 2**70, "no", None, 0.25):
        assert_same(stepped, call, closure(rate), sample(5), 3)
    assert facts(call)["compiled"] > 0


def test_what_changes_in_one_object():
    f, call = closure(0.5), accel.compile(stepped)
    g = by_keyword(0.5)

    def same(function):
        for _ in range(2):
            assert np.array_equal(call(function, sample(5), 3), stepped(function, sample(5), 3))

    same(f)
    f.__closure__[0].cell_contents = 4.0
    same(f)
    f.__code__ = (lambda rate: lambda t, y: y * rate)(1).__code__
    same(f)
    f.__defaults__ = (1.0, sample(5))
    same(f)
    same(g)
    g.__kwdefaults__["rate"] = 3.0
    same(g)
    g.__kwdefaults__ = {"rate": 2.0, "power": 3}
    same(g)
    g.__kwdefaults__ = {"power": 3, "rate": 2.0}
    same(g)
    del f.__closure__[0].cell_contents
    for target in (stepped, call):
        with pytest.raises(NameError, match="rate"):
            target(f, sample(5), 3)
    assert facts(call)["compiled"] > 0


def test_globals_of_another_module():
    call = accel.compile(stepped)
    for scale in (2.0, 3.0):
        space = {"scale": scale}
        exec("def slope(t, y):\n    return y * scale", space)
        assert np.array_equal(call(space["slope"], sample(5), 3), stepped(space["slope"], sample(5), 3))
        space["scale"] = 7.0
        assert np.array_equal(call(space["slope"], sample(5), 3), stepped(space["slope"], sample(5), 3))
    assert facts(call)["compiled"] > 0


def solved(f, y, prepare=None, finish=None):
    if prepare is not None:
        y = prepare(y)
    if finish:
        y = finish(f(y))
    return y * 2


def test_whether_there_is_one():
    call = accel.compile(solved, fullgraph=True)
    for k in range(1, 12):

        def f(y, k=k):
            return y * k

        for prepare in (None, lambda y, k=k: y + k):
            for finish in (None, lambda y, k=k: y - k):
                assert np.array_equal(call(f, sample(4), prepare, finish), solved(f, sample(4), prepare, finish))
    assert facts(call)["compiles"] == 4
    assert facts(call)["interpreted"] == 0


def test_which_one_it_is():
    def function(f, g, y):
        if f is g:
            return f(y) * 2, f, g
        if f == len:
            return y, g, f
        return g(y), f, g

    call = accel.compile(function)
    for _ in range(3):
        f, g = (lambda y: y + 1), (lambda y: y - 1)
        for pair in ((f, f), (f, g), (len, g), (g, f)):
            found, expected = call(*pair, sample(3)), function(*pair, sample(3))
            assert np.array_equal(found[0], expected[0])
            assert found[1] is expected[1] and found[2] is expected[2]
    assert facts(call)["compiled"] > 0


def test_given_back():
    def function(f, y):
        return (lambda x: f(x) * 2), [f], f(y)

    call = accel.compile(function)
    for k in range(1, 12):
        f = closure(k)
        made, (given,), y = call(functools.partial(f, 0.5), sample(3))
        assert given.func is f
        assert np.array_equal(made(sample(3)), f(0.5, sample(3)) * 2)
        assert np.array_equal(y, f(0.5, sample(3)))
    assert facts(call)["recompiles"] == 0 and facts(call)["interpreted"] == 0


@pytest.mark.parametrize("name", ["closure", "nested", "default", "method", "partial"])
def test_at_exits(name):
    for n in range(1, 25):
        call = accel.compile(stepped, backend="numpy")
        with accel.config(stress_exits=n):
            for k in (0.5, 2.0, 3.0):
                found, expected = call(MAKERS[name](k), sample(5), 3), stepped(MAKERS[name](k), sample(5), 3)
                assert np.array_equal(found, expected), n


def test_errors_inside():
    def failing(k):
        def slope(t, y):
            if t > 0.015:
                y[k] = 1 / (k - 7)
            return y * k

        return slope

    call = accel.compile(stepped)
    for k in (1, 2, 7, 3, 9, 7):
        expected, found = (outcome(target, (failing(k), sample(8), 4)) for target in (stepped, call))
        assert found.error == expected.error and found.result == expected.result
        assert found.arguments[1:] == expected.arguments[1:]
    assert facts(call)["compiled"] > 0


def test_variables_that_are_assigned_to():
    def counting():
        count = 0

        def slope(t, y):
            nonlocal count
            count += 1
            return y * count

        return slope, lambda: count

    call = accel.compile(stepped)
    for _ in range(3):
        (f, seen), (g, expected) = counting(), counting()
        assert np.array_equal(call(f, sample(5), 4), stepped(g, sample(5), 4))
        assert seen() == expected() == 4
    assert facts(call)["compiled"] > 0


def test_variables_of_two_functions():
    def pair():
        scale = 1.0

        def get(y):
            return y * scale

        def set_to(value):
            nonlocal scale
            scale = value

        return get, set_to

    def function(get, set_to, y):
        total = get(y)
        for k in range(3):
            set_to(float(k + 2))
            total = total + get(y)
        return total

    call = accel.compile(function)
    for _ in range(3):
        assert np.array_equal(call(*pair(), sample(4)), function(*pair(), sample(4)))
    assert facts(call)["compiled"] > 0


def test_python_that_changes_them():
    def function(f, change, y):
        total = f(y)
        for _ in range(3):
            change()
            total = total + f(y)
        return total

    def make():
        f = closure(1.0)
        bound = functools.partial(f, 0.5)

        def change():
            f.__closure__[0].cell_contents += 1.0
            print(end="")

        return bound, change, sample(4)

    call = accel.compile(function)
    for _ in range(3):
        assert np.array_equal(call(*make()), function(*make()))
    assert facts(call)["compiled"] > 0


def test_recursion():
    def factorial(k):
        def itself(n):
            return k if n <= 1 else n * itself(n - 1)

        return itself

    def function(f, y):
        return y * f(5)

    call = accel.compile(function)
    for k in range(1, 5):
        assert np.array_equal(call(factorial(k), sample(3)), function(factorial(k), sample(3)))
    assert facts(call)["compiled"] > 0


def test_it_is_not_kept_alive():
    import gc
    import weakref

    call = accel.compile(stepped)
    call(closure(1.0), sample(5), 3)
    f = closure(2.0)
    held = weakref.ref(f)
    call(f, sample(5), 3)
    del f
    gc.collect()
    assert held() is None
    assert facts(call)["compiled"] > 0


def test_simple_namespaces():
    def function(parameters, y):
        parameters.total = parameters.total + y.sum()
        parameters.count += 1
        return y * parameters.scale + parameters.shift, parameters

    def make(k):
        return types.SimpleNamespace(scale=k * 0.5, shift=sample(4), total=0.0, count=k), sample(4)

    call = accel.compile(function)
    for k in range(1, 12):
        expected, found = function(*make(k)), call(*make(k))
        assert np.array_equal(found[0], expected[0])
        assert list(vars(found[1])) == list(vars(expected[1]))
        assert found[1].total == expected[1].total and found[1].count == expected[1].count
    assert facts(call)["recompiles"] == 0 and facts(call)["interpreted"] == 0
    assert_same(function, call, types.SimpleNamespace(scale=2, shift=1, total=0, count=1), sample(4))
    for target in (function, call):
        with pytest.raises(AttributeError, match="shift"):
            target(types.SimpleNamespace(scale=2, total=0, count=1), sample(4))


def test_simple_namespaces_that_are_compared():
    def function(a, b, y):
        y = y * y + 1
        return y * 2 if a == b else y * 3, a is b, repr(a)

    call = accel.compile(function)
    for _ in range(3):
        for a, b in ((1, 1), (1, 2)):
            pair = types.SimpleNamespace(x=a), types.SimpleNamespace(x=b)
            assert_same(function, call, *pair, sample(3))
    assert facts(call)["compiled"] > 0


def test_calls_of_the_process():
    def function(report, y, n):
        for k in range(n):
            y = y * 1.5
            report(k, y)
        return y

    call = accel.compile(function)
    for scale in range(1, 12):
        expected, found = [], []

        def reporting(target, scale=scale):
            def report(k, y):
                target.append((k, str(y.sum() * scale)))

            return report

        assert np.array_equal(call(reporting(found), sample(3), 3), function(reporting(expected), sample(3), 3))
        assert found == expected
    assert facts(call)["recompiles"] <= 1 and facts(call)["interpreted"] == 0


def test_a_history_in_a_closure():
    def function(keep, y, n):
        for _ in range(n):
            y = y * 1.5
            keep(y)
        return y

    def keeping(history):
        return lambda y: history.append(y.copy())

    call = accel.compile(function)
    for n in (3, 4, 5, 2, 0, 6):
        expected, found = [], []
        assert np.array_equal(call(keeping(found), sample(3), n), function(keeping(expected), sample(3), n))
        assert np.array_equal(found, expected)
    assert facts(call)["interpreted"] == 0


def test_arrays_that_are_shared():
    def function(act, y, n):
        act(y)
        for _ in range(n):
            act(y)
        return y

    def adding(a):
        def act(y):
            a[1:] += y[:-1]
            y += a

        return act

    call = accel.compile(function)
    for share in (False, True, False, True):
        pairs = []
        for target in (function, call):
            y = sample(6)
            a = y if share else sample(6, seed=1)
            target(adding(a), y, 3)
            pairs.append((a, y))
        assert np.array_equal(pairs[0][0], pairs[1][0]) and np.array_equal(pairs[0][1], pairs[1][1])
    assert facts(call)["compiled"] > 0


def adding_to(a):
    def act(y):
        a[1:] += y[:-1]
        a[0] *= 0.5

    return act


def repeated(act, y, n):
    for _ in range(n):
        act(y)
    return y * 2


class Holder:
    def __init__(self, a):
        self.a = a

    def add(self, y):
        self.a += y


def double(a, y):
    np.multiply(a, 2.0, out=a)


WRITERS = {
    "closure": adding_to,
    "nested": lambda a: (lambda inner: lambda y: inner(y))(adding_to(a)),
    "in a list": lambda a: (lambda parts: lambda y: np.add(parts[0], y, out=parts[0]))([a]),
    "in a dict": lambda a: (lambda parts: lambda y: np.add(parts["a"], y, out=parts["a"]))({"a": a}),
    "attribute": lambda a: (lambda owner: lambda y: owner.add(y))(Holder(a)),
    "default": lambda a: lambda y, a=a: np.multiply(a, y, out=a),
    "method": lambda a: Holder(a).add,
    "partial": lambda a: functools.partial(double, a),
    "by branches": lambda a: lambda y: np.add(a, y, out=a) if a[0] < 1 else np.multiply(a, 0.5, out=a),
}


@pytest.mark.parametrize("n", [1, 3, 400])
@pytest.mark.parametrize("name", WRITERS)
def test_arrays_first_written_in_a_loop(name, n):
    call = accel.compile(repeated, fullgraph=True)
    for seed in (1, 2, 3):
        a, b = sample(6, seed=seed) * 0.1, sample(6, seed=seed) * 0.1
        expected, found = repeated(WRITERS[name](a), sample(6), n), call(WRITERS[name](b), sample(6), n)
        assert np.array_equal(found, expected) and np.array_equal(a, b)
    assert_all_compiled(call)
    assert facts(call)["compiles"] == 1


def test_an_array_in_two_closures_is_first_written_in_a_loop():
    def function(act, look, y, n):
        k = 0
        while k < n:
            for _ in range(2):
                act(y)
            y = y + look()
            k += 1
        return y

    def pair(a):
        return adding_to(a), lambda: a * 0.01

    call = accel.compile(function, fullgraph=True)
    for share in (False, True, False, True):
        arrays = sample(6, seed=2), sample(6, seed=2)
        (act, look), (act_here, look_here) = pair(arrays[0]), pair(arrays[1])
        y, z = sample(6), sample(6)
        if share:
            act, act_here = adding_to(y), adding_to(z)
        assert np.array_equal(call(act, look, y, 5), function(act_here, look_here, z, 5))
        assert np.array_equal(*arrays) and np.array_equal(y, z)
    assert_all_compiled(call)


def test_an_array_is_first_written_after_its_place_has_changed():
    def function(owner, other, y, n):
        owner.a = other
        for _ in range(n):
            owner.a += y
        return owner.a * 2

    call = accel.compile(function, fullgraph=True)
    for n in (0, 1, 50):
        owners = [types.SimpleNamespace(a=sample(4)) for _ in range(2)]
        others = [sample(4, seed=1) for _ in range(2)]
        results = [f(o, b, sample(4), n) for f, o, b in zip((function, call), owners, others, strict=True)]
        assert np.array_equal(*results) and np.array_equal(*others)
        assert owners[1].a is others[1]
    assert_all_compiled(call)
