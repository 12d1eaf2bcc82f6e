"""Guards: what a version assumes is tested at every call, whatever changes, and one version serves all sizes."""

import itertools
import types

import numpy as np
import pytest
from support.compiled import assert_all_compiled, compile_count
from support.outcome import assert_same

import accel


def plus(a, b):
    return a * 2 + b


def arrangements(shape, dtype="float64"):
    """Arrays of one shape with every order of axes, gaps, negative and zero strides, and axes of extent 1."""
    for order in itertools.permutations(range(len(shape))):
        base = np.arange(np.prod(shape), dtype=dtype).reshape([shape[axis] for axis in order])
        yield base.transpose(np.argsort(order))
    wide = np.arange(np.prod(shape) * 2 ** len(shape), dtype=dtype).reshape([2 * n for n in shape])
    step = tuple(slice(None, None, 2) for _ in shape)
    yield wide[step]
    yield wide.transpose()[step].transpose()[tuple(slice(n) for n in shape)]
    yield wide[step][::-1]
    yield np.broadcast_to(np.arange(shape[-1], dtype=dtype), shape)
    yield np.broadcast_to(np.array(3, dtype), shape)
    yield np.lib.stride_tricks.as_strided(wide, shape, [8] * len(shape))


@pytest.mark.parametrize("shape", [(4,), (3, 4), (1, 4), (4, 1), (2, 3, 4), (2, 1, 3), (0, 3), (3, 0)])
def test_memory_order_of_results(shape):
    """Results have NumPy's strides for every arrangement of the operand's axes, and no version answers for another's layout."""
    call = accel.compile(lambda x: x + 1)
    for x in arrangements(shape):
        for _ in range(2):
            assert_same(call.__wrapped__, call, x, times=1, share=True)


def test_layouts_do_not_mix():
    call = accel.compile(lambda x: x.sum(axis=0) + x[0])
    rng = np.random.default_rng(0)
    arrays = [rng.random((40, 50)), rng.random((50, 40)).T, rng.random((80, 100))[::2, ::2], rng.random((40, 50))[::-1]]
    for x in arrays * 3:
        assert_same(call.__wrapped__, call, x, times=1, share=True)
    assert_all_compiled(call)


def test_one_version_serves_all_sizes():
    call = accel.compile(plus)
    for n in [0, 1, 2, 3, 5, 8, 9, 10, 17, 100, 1000, 100_000]:
        assert_same(plus, call, np.arange(float(n)), np.ones(n), times=1)
    assert compile_count(call) == 1


def test_broadcasting_needs_a_version_of_its_own():
    call = accel.compile(plus)
    for n in [4, 1, 7, 1, 0]:
        assert_same(plus, call, np.ones((3, 4)), np.ones((3, 4)), times=1)
        assert_same(plus, call, np.ones((5, 7)), np.ones((5, 1)), times=1)
    with pytest.raises(ValueError, match="broadcast"):
        call(np.ones((3, 4)), np.ones((2, 4)))
    with pytest.raises(ValueError, match="broadcast"):
        call(np.ones((5, 1)), np.ones((2, 4, 3))[..., :2])


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float16", "float32", "complex64", "complex128", ">f8", "O"])
def test_dtypes_do_not_mix(dtype):
    call = accel.compile(plus)
    values = np.array([0, 1, 1, 0, 1])
    for kind in ["float64", dtype, "float64", dtype]:
        assert_same(plus, call, values.astype(kind), np.ones(5), times=1)


def test_kinds_of_arguments_do_not_mix():
    call = accel.compile(plus)
    kinds = [
        np.arange(3.0),
        2,
        2.5,
        True,
        1j,
        np.float32(2),
        np.float64(2),
        np.int8(3),
        np.bool_(True),
        np.array(2.0),
        10**30,
        -7,
    ]
    for a, b in itertools.product(kinds, repeat=2):
        assert_same(plus, call, a, b, times=1)


def test_special_floats():
    call = accel.compile(lambda x, s: x * s)
    for s in [0.0, -0.0, float("nan"), float("inf"), 1.0, -1.0]:
        assert_same(call.__wrapped__, call, np.ones(3), s, times=1)
    assert compile_count(call) == 1


def test_subclasses_and_unaligned_arrays():
    class Sub(np.ndarray):
        pass

    call = accel.compile(plus)
    x = np.arange(4.0)
    raw = np.zeros(4 * 8 + 1, np.uint8)[1:].view("f8")
    for a in [x, x.view(Sub), np.ma.masked_array(x, x > 1), raw, x]:
        assert_same(plus, call, a, x, times=1, share=True)


GLOBAL = 2.0
TABLE = {"scale": 3.0, "shift": np.arange(3.0)}


def scaled_by_global(x):
    return x * GLOBAL


def test_globals(monkeypatch):
    call = accel.compile(scaled_by_global)
    x = np.arange(3.0)
    for value in [2.0, 5.0, 2.0, np.arange(3.0), np.arange(3.0) + 1, 3, "a" and 4]:
        monkeypatch.setitem(globals(), "GLOBAL", value)
        assert np.array_equal(call(x), x * value), value
    assert_all_compiled(call)
    monkeypatch.delitem(globals(), "GLOBAL")
    with pytest.raises(NameError):
        call(x)


def test_a_builtin_that_is_shadowed(monkeypatch):
    call = accel.compile(lambda x: x * len(x.shape))
    x = np.arange(3.0)
    assert np.array_equal(call(x), x)
    monkeypatch.setitem(globals(), "len", lambda shape: 10)
    assert np.array_equal(call(x), x * 10)
    monkeypatch.delitem(globals(), "len")
    assert np.array_equal(call(x), x)


def test_dict_items(monkeypatch):
    call = accel.compile(lambda x: x * TABLE["scale"] + TABLE["shift"])
    x = np.arange(3.0)
    for scale in [3.0, 4.0, 3.0]:
        monkeypatch.setitem(TABLE, "scale", scale)
        assert np.array_equal(call(x), x * scale + TABLE["shift"])
    TABLE["shift"][0] = 7.0
    assert np.array_equal(call(x), x * 3 + TABLE["shift"])
    TABLE["shift"][0] = 0.0


def test_patched_modules(monkeypatch):
    call = accel.compile(lambda x: np.sqrt(x))
    x = np.arange(3.0)
    assert np.array_equal(call(x), np.sqrt(x))
    monkeypatch.setattr(np, "sqrt", lambda x: x + 100)
    assert np.array_equal(call(x), x + 100)
    monkeypatch.undo()
    assert np.array_equal(call(x), np.sqrt(x))
    module = types.ModuleType("settings_of_a_test")
    module.scale = 2.0
    call = accel.compile(lambda x: x * module.scale)
    assert np.array_equal(call(x), x * 2)
    module.scale = 3.0
    assert np.array_equal(call(x), x * 3)


def test_closures():
    scale = 2.0

    def f(x):
        return x * scale  # noqa: F821

    call = accel.compile(f)
    x = np.arange(3.0)
    assert np.array_equal(call(x), x * 2)
    scale = 3.0
    assert np.array_equal(call(x), x * 3)
    scale = np.arange(3.0)
    assert np.array_equal(call(x), x * x)
    del scale
    with pytest.raises(NameError):
        call(x)


def helper(x, by=2.0):
    return x * by


def test_functions_called_are_guarded(monkeypatch):
    call = accel.compile(lambda x: helper(x) + 1)
    x = np.arange(3.0)
    assert np.array_equal(call(x), x * 2 + 1)
    monkeypatch.setattr(helper, "__defaults__", (5.0,))
    assert np.array_equal(call(x), x * 5 + 1)
    monkeypatch.undo()
    assert np.array_equal(call(x), x * 2 + 1)
    monkeypatch.setattr(helper, "__code__", (lambda x, by=2.0: x - by).__code__)
    assert np.array_equal(call(x), x - 2 + 1)
    monkeypatch.undo()
    monkeypatch.setitem(globals(), "helper", lambda x: x)
    assert np.array_equal(call(x), x + 1)


class Model:
    bias = 1.0

    def __init__(self, weight):
        self.weight = weight

    def forward(self, x):
        return x * self.weight + self.bias

    @property
    def twice(self):
        return self.weight * 2


class Slotted:
    __slots__ = ("weight",)

    def __init__(self, weight):
        self.weight = weight


def test_attributes(monkeypatch):
    call = accel.compile(lambda model, x: model.forward(x) + model.twice)
    x, model = np.arange(3.0), Model(2.0)
    assert np.array_equal(call(model, x), x * 2 + 1 + 4)
    model.weight = 3.0
    assert np.array_equal(call(model, x), x * 3 + 1 + 6)
    model.weight = np.arange(3.0)
    assert np.array_equal(call(model, x), x * x + 1 + 2 * x)
    model.bias = 10.0
    assert np.array_equal(call(model, x), x * x + 10 + 2 * x)
    del model.bias
    monkeypatch.setattr(Model, "bias", 20.0)
    assert np.array_equal(call(model, x), x * x + 20 + 2 * x)
    monkeypatch.setattr(Model, "forward", lambda self, x: x)
    assert np.array_equal(call(model, x), x + 2 * x)
    model.forward = lambda x: x * 0
    assert np.array_equal(call(model, x), 2 * x)


def test_slots():
    call = accel.compile(lambda model, x: model.weight * x)
    x, model = np.arange(3.0), Slotted(2.0)
    assert np.array_equal(call(model, x), x * 2)
    model.weight = 4.0
    assert np.array_equal(call(model, x), x * 4)
    del model.weight
    with pytest.raises(AttributeError):
        call(model, x)


def test_class_of_an_object_changes():
    class Other(Model):
        def forward(self, x):
            return x - 1

    call = accel.compile(lambda model, x: model.forward(x))
    x, model = np.arange(3.0), Model(2.0)
    assert np.array_equal(call(model, x), x * 2 + 1)
    model.__class__ = Other
    assert np.array_equal(call(model, x), x - 1)


def test_sequences():
    call = accel.compile(lambda parts: parts[0] + parts[-1])
    x = np.arange(3.0)
    for parts in [[x, x], [x, x, x + 1], (x, x * 2), [x, 3.0], [x, "a"][:1]]:
        assert np.array_equal(call(parts), parts[0] + parts[-1])
    parts = [x, x]
    call(parts)
    parts[1] = x * 7
    assert np.array_equal(call(parts), x + x * 7)


def test_strings_and_constants():
    call = accel.compile(lambda x, how, axis: x.sum(axis=axis) if how == "sum" else x.max(axis=axis))
    x = np.arange(6.0).reshape(2, 3)
    for how, axis in itertools.product(["sum", "max", "".join(["s", "um"])], [0, 1, None, (0, 1), -1]):
        assert_same(call.__wrapped__, call, x, how, axis, times=1)


def test_recompile_limit():
    call = accel.compile(lambda x, how: x + 1 if how == "a" else x - 1)
    x = np.arange(3.0)
    with accel.config(recompile_limit=3):
        for how in ["a", "b", "c", "d", "e", "d", "a"]:
            assert np.array_equal(call(x, how), x + 1 if how == "a" else x - 1)
    found = accel.stats(call)
    assert found["recompiles"] == 2 and found["interpreted"] == 3 and found["compiled"] == 4
    reasons = [fallback.reason for fallback in accel.explain(call)(x, "a").fallbacks]
    assert reasons == ["recompile_limit"]


def test_recompile_limit_of_a_function_that_has_to_be_full():
    call = accel.compile(lambda x, how: x + len(how), fullgraph=True)
    x = np.arange(3.0)
    with accel.config(recompile_limit=1), pytest.raises(accel.UnsupportedError, match="recompile_limit"):
        call(x, "a"), call(x, "bb")


def test_a_function_that_is_not_worth_compiling():
    call = accel.compile(lambda x: x)
    x = object()
    assert call(x) is x and call(x) is x
    assert accel.stats(call)["interpreted"] == 2 and accel.stats(call)["recompiles"] == 0
