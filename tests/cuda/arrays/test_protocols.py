"""Operators, NumPy's functions, and the exchange of arrays with other libraries."""

import gc
import operator
import weakref

import numpy as np
import pytest
from support.device_arrays import check_equal, check_same, numbers

import accel
from accel import _device_functions

BINARY = ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "lt", "le", "eq", "ne", "gt", "ge"]
BITWISE = ["and_", "or_", "xor", "lshift", "rshift"]
UNARY = ["neg", "pos", "abs"]


@pytest.mark.parametrize("name", [*BINARY, *BITWISE, "matmul"])
@pytest.mark.parametrize("dtype", ["float64", "int32"])
def test_operators(name, dtype):
    operation = getattr(operator, name)
    left, right = numbers((3, 3), dtype), numbers((3, 3), dtype) + np.dtype(dtype).type(2)
    units = 2 if name == "pow" else 0  # CUDA's own pow
    check_same(operation, left, right, units=units)
    check_same(lambda a: operation(a, 2), left, units=units)
    check_same(lambda a: operation(2, a), left, units=units)
    check_same(lambda a: operation(a, right), left, units=units)
    check_same(lambda a: operation(right, a), left, units=units)
    check_same(lambda a: operation(np.float32(2), a), left, units=units)


@pytest.mark.parametrize("name", [*UNARY, "invert"])
def test_unary_operators(name):
    check_same(getattr(operator, name), numbers((3, 3), "int64") - 4)


@pytest.mark.parametrize("name", [*BINARY[:7], *BITWISE])
def test_operators_in_place(name):
    def change(a, b):
        before = a
        a = getattr(operator, "i" + name.rstrip("_"))(a, b)
        assert a is before

    check_same(change, numbers((3, 3), "int64"), numbers((3, 3), "int64"))
    check_same(change, numbers((3, 3), "int64"), 2)
    check_same(lambda a: change(a[:, 1], a[1]), numbers((3, 3), "int64"))


def test_operators_with_other_objects():
    array = accel.to_device(np.arange(3.0))
    check_same(lambda a: a + [1, 2, 3], np.arange(3.0))
    check_same(lambda a: [1, 2, 3] * a, np.arange(3.0))
    check_same(lambda a: divmod(a, 2), np.arange(3.0))
    assert (array == None) is False  # noqa: E711
    for wrong in (None, "text", object(), {}):
        with pytest.raises(TypeError):
            array + wrong
    with pytest.raises(ValueError, match="broadcast"):
        array + np.arange(4.0)


METHODS = {
    "all": lambda a: (a > 0).all(),
    "any": lambda a: (a > 2).any(axis=0),
    "argmax": lambda a: a.argmax(1),
    "argmin": lambda a: a.argmin(),
    "argsort": lambda a: a.argsort(axis=1, kind="stable"),
    "clip": lambda a: a.clip(2, 5),
    "cumsum": lambda a: a.cumsum(axis=1),
    "dot": lambda a: a.dot(a.T),
    "max": lambda a: a.max(initial=100.0),
    "mean": lambda a: a.mean(axis=(0, 1)),
    "min": lambda a: a.min(axis=0, keepdims=True),
    "nonzero": lambda a: a.nonzero(),
    "prod": lambda a: a.prod(1),
    "round": lambda a: a.round(1),
    "sort": lambda a: a.T.sort(axis=0),
    "std": lambda a: a.std(ddof=1),
    "sum": lambda a: a.sum(axis=0, dtype=np.float32),
    "sum out": lambda a: a.sum(axis=0, out=a[0]) is not None,
    "take": lambda a: a.take([1, 0], axis=1),
    "var": lambda a: a.var(),
    "wrong axis": lambda a: a.sum(axis=5),
    "wrong argument": lambda a: a.sum(wrong=1),
}


@pytest.mark.parametrize("name", METHODS)
def test_methods(name):
    check_same(METHODS[name], np.array([[3.0, 1.0, 2.0], [6.0, 5.0, 4.0]]))


FUNCTIONS = {
    "add out": lambda a, b: np.add(a, b, out=a),
    "add to itself": lambda a, b: np.add(a, a, out=a),
    "in place with itself": lambda a, b: operator.imul(a, a) is a,
    "sin": lambda a, b: np.sin(a),
    "where": lambda a, b: np.where(a > 3, a, b),
    "where scalar": lambda a, b: np.where(a > 3, a, 0.5),
    "reduce": lambda a, b: np.add.reduce(a, axis=1),
    "accumulate": lambda a, b: np.multiply.accumulate(a, 1),
    "outer": lambda a, b: np.subtract.outer(a[0], b[0]),
    "at": lambda a, b: np.add.at(a, ([0, 0], [1, 1]), 5.0),
    "two results": lambda a, b: np.modf(a / 2),
    "divmod out": lambda a, b: np.divmod(a, b, out=(a, b)),
    "ufunc where": lambda a, b: np.sqrt(a, where=a > 2, out=b),
    "concatenate": lambda a, b: np.concatenate([a, b], axis=1),
    "stack": lambda a, b: np.stack((a, b)),
    "einsum": lambda a, b: np.einsum("ij,kj->ik", a, b),
    "dot": lambda a, b: np.dot(a, b.T),
    "sum": lambda a, b: np.sum(a, axis=0),
    "mean": lambda a, b: np.mean(a),
    "clip": lambda a, b: np.clip(a, 2.0, b),
    "copyto": lambda a, b: np.copyto(a, b),
    "zeros_like": lambda a, b: np.zeros_like(a),
    "linalg": lambda a, b: np.linalg.norm(a, axis=1),
    "nonzero": lambda a, b: np.nonzero(a > 2),
    "unique": lambda a, b: np.unique(a // 2, return_counts=True),
    "moveaxis": lambda a, b: np.moveaxis(a, 0, 1),
    "flip": lambda a, b: np.flip(a, 1),
    "flip of no axes": lambda a, b: (np.flip(a[0, 0, ...]), np.flip(a[0, 0, ...], ())),
    "unstack": lambda a, b: (np.unstack(a), np.unstack(a, axis=1), np.unstack(a[1]), np.unstack(a[:0, 0])),
    "atleast_2d": lambda a, b: np.atleast_2d(a, b, a[0]),
    "atleast_3d": lambda a, b: np.atleast_3d(a[1], b),
    "split": lambda a, b: np.split(a, 3, axis=1),
    "broadcast_to": lambda a, b: np.broadcast_to(a, (2, 2, 3)),
    "real": lambda a, b: np.real(a),
    "imag": lambda a, b: np.imag(a + 1j),
    "expand_dims": lambda a, b: np.expand_dims(a, (0, 2)),
    "reshape": lambda a, b: np.reshape(a, (3, 2)),
    "ravel": lambda a, b: np.ravel(a.T),
    "copy": lambda a, b: np.copy(a),
    "shape": lambda a, b: (np.shape(a), np.ndim(a), np.size(a)),
    "array_equal": lambda a, b: np.array_equal(a, b),
    "allclose": lambda a, b: np.allclose(a, b),
    "result_type": lambda a, b: np.result_type(a, np.float32),
    "text": lambda a, b: np.array2string(a),
    "wrong shapes": lambda a, b: np.concatenate([a, b[0]]),
    "wrong type": lambda a, b: np.sin(a, casting="none"),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name):
    check_same(FUNCTIONS[name], numbers((2, 3)), numbers((2, 3)) * 2)


@pytest.mark.parametrize("function", [np.atleast_1d, np.atleast_2d, np.atleast_3d])
def test_each_of_several_arrays_stays_where_it_is(function):
    array, other = accel.to_device(numbers((2, 3))), numbers((2, 3)) * 2
    for views in (function(array, other), reversed(function(other, array))):
        there, here = views
        assert type(there) is accel.DeviceArray and type(here) is np.ndarray
        assert there is array or there.base is array
        assert here is other or here.base is other


def test_functions_without_an_effect_return_their_argument():
    array = accel.to_device(numbers((2, 3)))
    assert np.atleast_1d(array) is array and np.atleast_2d(array) is array


def test_views_of_functions_share_memory():
    array = accel.to_device(numbers((2, 3)))
    for view in (np.flip(array), np.moveaxis(array, 0, 1), *np.split(array, 3, axis=1), np.broadcast_to(array, (4, 2, 3))):
        assert view.base is array
    assert not np.broadcast_to(array, (4, 2, 3)).flags.writeable
    both = accel.to_device(numbers(3) + 1j)
    real, imag = np.real(both), np.imag(both)
    both[0] = 7 - 8j
    assert real[0] == 7 and imag[0] == -8


def test_shared_memory():
    array = accel.to_device(numbers((4, 6)))
    assert np.shares_memory(array[1:], array.T) and np.may_share_memory(array, array[0])
    assert not np.shares_memory(array[:, ::2], array[:, 1::2]) and not np.shares_memory(array, array.copy())
    assert np.may_share_memory(array[:, ::2], array[:, 1::2])
    assert not np.shares_memory(np.zeros(3), array) and not np.shares_memory(array, np.zeros(3))


def test_read_only_arrays_stay_as_they_are():
    array = np.broadcast_to(accel.to_device(np.arange(3.0)), (2, 3))
    for change in (
        lambda: operator.iadd(array, 1),
        lambda: array.fill(0),
        lambda: array.sort(),
        lambda: np.add(array, 1, out=array),
        lambda: np.copyto(array, 5),
    ):
        with pytest.raises(ValueError, match="read-only"):
            change()
    assert array[0].tolist() == [0, 1, 2]


def test_results_in_arrays_of_the_host():
    host, array = np.arange(3.0), accel.to_device(np.arange(3.0))
    assert np.add(array, 1, out=host) is host and host.tolist() == [1, 2, 3]
    host += array
    assert host.tolist() == [1, 3, 5]


def test_files(tmp_path):
    array = accel.to_device(numbers((2, 3)))
    np.save(tmp_path / "array.npy", array)
    check_equal(accel.to_device(np.load(tmp_path / "array.npy")), array.numpy())


# ---- Exchange


class Guest:
    """An array of another library that speaks DLPack, as an older or as a newer version."""

    def __init__(self, array, is_old=False):
        self.array, self.is_old, self.streams = array, is_old, []

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

    def __dlpack__(self, *, stream, **options):
        if self.is_old and options:
            raise TypeError("unexpected keyword")
        self.streams.append(stream)
        return self.array.__dlpack__(stream=stream, **options)


class Described:
    """An array of another library that has the CUDA array interface."""

    def __init__(self, array, **changes):
        self.array = array
        self.__dict__["record"] = {**array.__cuda_array_interface__, **changes}

    @property
    def __cuda_array_interface__(self):
        return self.record


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float16", "float32", "complex128"])
@pytest.mark.parametrize("make", [Guest, lambda a: Guest(a, is_old=True), Described], ids=["dlpack", "older", "interface"])
def test_guests_are_taken_without_a_copy(make, dtype):
    array = accel.to_device(numbers((3, 4), dtype)).T[:, ::2]
    guest = make(array)
    taken = accel.to_device(guest)
    assert (taken.shape, taken.strides, taken.dtype) == (array.shape, array.strides, array.dtype)
    assert taken.__cuda_array_interface__["data"] == array.__cuda_array_interface__["data"]
    assert not taken.flags.owndata and taken.base is None
    taken[0, 0] = 0
    assert array.tolist() == taken.tolist() and array[0, 0] == 0
    if isinstance(guest, Guest):
        assert guest.streams == [1]


@pytest.mark.parametrize("make", [Guest, Described])
def test_guests_live_as_long_as_their_arrays(make):
    gc.collect()
    accel.synchronize()
    before = accel.memory_info().used
    guest = make(accel.to_device(np.arange(1000.0)))
    reference = weakref.ref(guest)
    view = accel.to_device(guest)[10:20]
    del guest
    gc.collect()
    assert view.tolist() == list(range(10, 20))
    assert accel.memory_info().used > before
    del view
    gc.collect()
    assert reference() is None
    assert accel.memory_info().used == before


def test_guests_without_elements_and_axes():
    for shape in [(), (0,), (3, 0, 2), (1,)]:
        array = accel.to_device(numbers(shape))
        for make in (Guest, Described):
            assert accel.to_device(make(array)).shape == shape
    assert accel.to_device(np.zeros(0)).__cuda_array_interface__["data"] == (0, False)


def test_read_only_guests():
    array = np.broadcast_to(accel.to_device(np.arange(3.0)), (2, 3))
    assert not accel.to_device(Guest(array)).flags.writeable
    assert not accel.to_device(Described(array)).flags.writeable
    with pytest.raises(BufferError, match=r"DLPack 1\.0"):
        array.__dlpack__()
    assert array.__cuda_array_interface__["data"][1] is True


def test_operators_take_guests():
    array = accel.to_device(np.arange(3.0))
    check_equal(array + Guest(array), np.arange(3.0) * 2)
    check_equal(np.concatenate([array, Described(array)]), np.array([0, 1, 2, 0, 1, 2.0]))


def test_cuda_array_interface():
    array = accel.to_device(numbers((2, 3), "float32"))
    record = array.__cuda_array_interface__
    assert (record["version"], record["stream"], record["shape"], record["typestr"]) == (3, 1, (2, 3), "<f4")
    assert record["strides"] is None and array.T.__cuda_array_interface__["strides"] == (4, 12)
    assert array[1:].__cuda_array_interface__["data"][0] == record["data"][0] + 12


def test_dlpack():
    array = accel.to_device(numbers((2, 3)))
    assert array.__dlpack_device__() == (2, 0)
    assert '"dltensor"' in repr(array.__dlpack__())
    assert '"dltensor_versioned"' in repr(array.__dlpack__(max_version=(1, 0)))
    assert np.from_dlpack(array, device="cpu").tolist() == array.tolist()
    with pytest.raises(BufferError, match="copied for the CPU"):
        np.from_dlpack(array, device="cpu", copy=False)
    with pytest.raises(BufferError, match="to_device"):
        array.__dlpack__(dl_device=(2, 7))
    copied = accel.to_device(Guest(array).array.copy())
    copied[0] = 0
    assert array[0].tolist() == [1, 2, 3]


def test_unused_capsules_free_their_memory():
    gc.collect()
    accel.synchronize()
    before = accel.memory_info().used
    for version in (None, (1, 0)):
        capsule = accel.to_device(np.zeros(1000)).__dlpack__(max_version=version)
        assert accel.memory_info().used > before
        del capsule
        assert accel.memory_info().used == before


# ---- Where operations run

SYMBOLS = [
    *(("operate", symbol) for symbol in _device_functions._OPERATORS if symbol not in ("divmod", "@")),
    *(("operate_on", symbol) for symbol in _device_functions._OPERATORS_ON_ONE),
    *(("operate_in_place", symbol + "=") for symbol in "+ - * / // % << >> & ^ | **".split()),
]


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64", "float16", "float32", "float64", "complex128"])
@pytest.mark.parametrize(("function", "symbol"), SYMBOLS, ids=[f"{f} {s}" for f, s in SYMBOLS])
def test_operators_run_on_the_device(function, symbol, dtype):
    array = accel.to_device(numbers((2, 3), dtype))
    others = [array.copy(), 2, 1.5, np.float32(2), numbers((2, 3), dtype)]
    for operands in [(array,)] if function == "operate_on" else [(array, other) for other in others]:
        compiled = _device_functions.compiled_operation(function, symbol, *operands)
        why = accel.explain(compiled)(*operands)
        if why.exception is not None:
            assert isinstance(why.exception, TypeError), why.exception
            continue
        if symbol in ("**", "**=") and np.dtype(dtype).kind in "biu" and why.exit is not None:
            assert why.exit.reason == "not_on_device"  # negative exponents of integers raise, which the host has to know
            continue
        assert why.compiled and why.device["name"] == "cuda:0", str(why)
        assert isinstance(why.result, accel.DeviceArray)
        if function == "operate_in_place":
            assert why.result is array


def test_operators_in_place_write_to_the_memory_of_the_array():
    array = accel.to_device(np.arange(4.0))
    before, view = array, array[1:3]
    array += 1
    array *= np.full(4, 2.0)
    view -= 1
    assert array is before and array.tolist() == [2, 3, 5, 8] and view.base is array
    array[1:] += array[:-1]
    assert array.tolist() == [2, 5, 8, 13]


def test_many_kinds_of_operands_stay_on_the_device():
    for rank in range(1, 4):
        for dtype in ("int8", "int16", "int32", "int64", "float32", "float64"):
            array = accel.to_device(np.ones((2,) * rank, dtype))
            for other in (array, array.T, array[..., ::-1], array[:1], accel.to_device(np.ones(2))):
                compiled = _device_functions.compiled_operation("operate", "+", array, other)
                assert (array + other).tolist() == np.full((2,) * rank, 2).tolist()
                assert accel.stats(compiled)["interpreted"] == 0


def test_operators_with_many_numbers_are_compiled_once():
    array = accel.to_device(np.zeros(3))
    for number in range(20):
        assert (array + number).tolist() == np.add(array, number).tolist() == [number] * 3
    compiled = _device_functions.compiled_operation("operate", "+", array, 1)
    assert accel.stats(compiled)["recompiles"] <= 2 and accel.stats(compiled)["interpreted"] == 0
