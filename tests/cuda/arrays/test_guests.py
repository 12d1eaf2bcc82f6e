"""Arrays of other libraries on the device as arguments of compiled functions."""

import gc
import sys
import types

import numpy as np
import pytest
from support.device_arrays import ran_on_device

import accel


class Tensor:
    """An array of a library that speaks DLPack, such as torch."""

    def __init__(self, array):
        self.array = array

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def tolist(self):
        return self.array.tolist()


class Described:
    """An array of a library that has the CUDA array interface alone."""

    def __init__(self, array, stream=None):
        self.array, self.stream = array, stream

    @property
    def __cuda_array_interface__(self):
        return {**self.array.__cuda_array_interface__, "stream": self.stream}


class OnTheHost:
    """An array that speaks DLPack and is not on a CUDA device."""

    def __dlpack_device__(self):
        return (1, 0)

    def __dlpack__(self, **options):
        raise AssertionError("it is not asked for its memory")


class Unwilling(Tensor):
    def __dlpack__(self, **options):
        raise BufferError("it needs gradients")


@pytest.fixture(autouse=True)
def library(monkeypatch):
    """Make from_dlpack of the module "torch" give Tensors."""
    made = types.ModuleType("torch")
    made.from_dlpack = Tensor
    monkeypatch.setitem(sys.modules, "torch", made)
    monkeypatch.setattr(Tensor, "__module__", "torch")


def tensor(values):
    return Tensor(accel.to_device(np.asarray(values)))


def axpy(x, y, factor):
    return factor * x + y


def test_results_are_of_the_guests_kind():
    compiled = accel.compile(axpy)
    for _ in range(3):
        got = ran_on_device(compiled, tensor(np.arange(3.0)), tensor(np.ones(3)), 2.0)
        assert type(got) is Tensor and got.tolist() == [1, 3, 5]
    assert accel.stats(compiled)["calls"] == 3 and accel.stats(compiled)["recompiles"] == 0
    got = ran_on_device(compiled, accel.to_device(np.ones(3)), accel.to_device(np.ones(3)), 2.0)
    assert isinstance(got, accel.DeviceArray)
    assert accel.stats(compiled)["recompiles"] == 0
    assert compiled(np.ones(3), np.ones(3), 2.0).tolist() == [3, 3, 3]


def test_guests_beside_arrays_of_numpy_and_of_accel():
    compiled = accel.compile(axpy)
    for other in (np.ones(3), accel.to_device(np.ones(3)), Described(accel.to_device(np.ones(3)))):
        got = ran_on_device(compiled, tensor(np.arange(3.0)), other, 2.0)
        assert type(got) is Tensor and got.tolist() == [1, 3, 5]


def test_a_kind_that_nothing_makes_gets_device_arrays():
    got = ran_on_device(accel.compile(lambda x: x * 2), Described(accel.to_device(np.ones(3))))
    assert isinstance(got, accel.DeviceArray) and got.tolist() == [2, 2, 2]


def test_functions_that_run_on_the_cpu_first():
    compiled = accel.compile(axpy)
    assert type(compiled(np.ones(3), np.ones(3), 1.0)) is np.ndarray
    assert type(ran_on_device(compiled, tensor(np.ones(3)), tensor(np.ones(3)), 1.0)) is Tensor
    assert type(compiled(np.ones(3), np.ones(3), 1.0)) is np.ndarray


def test_the_memory_is_the_guests():
    def change(x, y):
        x += y
        x[0] = -1
        return x, y, x[1:]

    x, y = tensor(np.zeros(3)), tensor(np.ones(3))
    first, second, view = ran_on_device(accel.compile(change), x, y)
    assert first is x and second is y
    assert x.tolist() == [-1, 1, 1]
    view.array[0] = 7
    assert x.tolist() == [-1, 7, 1]


def test_one_guest_twice():
    def change(x, y):
        x += 1
        return y * 2

    x = tensor(np.zeros(3))
    assert ran_on_device(accel.compile(change), x, x).tolist() == [2, 2, 2]
    assert accel.compile(change)(x, Tensor(x.array[::-1])).tolist() == [4, 4, 4]
    assert x.tolist() == [2, 2, 2]


def test_results_in_containers():
    def several(x):
        y = x + 1
        return [y, (y, x)], {"sum": x.sum(), "y": y}, (x - 1, -x)

    x = tensor(np.array([1.5, 2.0]))
    (y, (again, same)), named, (less, negative) = ran_on_device(accel.compile(several), x)
    assert type(y) is Tensor and again is y and same is x and named["y"] is y
    assert type(named["sum"]) is np.float64
    assert type(less) is Tensor and less.tolist() == [0.5, 1] and negative.tolist() == [-1.5, -2]
    assert type(accel.compile(lambda x: np.modf(x))(x)[0]) is Tensor


def test_named_tuples_stay_named():
    got = accel.compile(lambda x: np.unique_counts(x))(tensor([2, 1, 2])) if hasattr(np, "unique_counts") else None
    if got is not None:
        assert type(got.values) is Tensor and got.counts.tolist() == [1, 2]


def test_guests_in_containers():
    def weighted(arrays, named, *rest, last):
        return arrays[0] * named["w"] + rest[0] + last[0][1]

    x = tensor(np.ones(3))
    why = accel.explain(accel.compile(weighted))([x], {"w": x}, x, last=((0, x),))
    assert why.compiled and why.device["name"] == "cuda:0", str(why)
    assert type(why.result) is Tensor and why.result.tolist() == [3, 3, 3]


def test_containers_are_changed_as_the_function_changes_them():
    def change(arrays, named):
        arrays[0] = arrays[1] + 1
        arrays.append(arrays[1])
        named["new"] = arrays[1] * 2
        return arrays, named

    x, y = tensor(np.zeros(2)), tensor(np.ones(2))
    arrays, named = [x, y], {"x": x}
    got_arrays, got_named = accel.compile(change)(arrays, named)
    assert got_arrays is arrays and got_named is named
    assert [a.tolist() for a in arrays] == [[2, 2], [1, 1], [1, 1]] and all(type(a) is Tensor for a in arrays)
    assert arrays[1] is y and arrays[2] is y
    assert named["x"] is x and type(named["new"]) is Tensor and named["new"].tolist() == [2, 2]


def test_containers_that_hold_themselves():
    loop = [tensor(np.ones(2))]
    loop.append(loop)
    got = accel.compile(lambda a: a[0] + a[1][0])(loop)
    assert got.tolist() == [2, 2]


def test_a_change_before_an_exception_is_seen():
    def change(arrays):
        arrays[0] = arrays[0] + 1
        raise KeyError("key")

    arrays = [tensor(np.zeros(2))]
    with pytest.raises(KeyError, match="key"):
        accel.compile(change)(arrays)
    assert type(arrays[0]) is Tensor and arrays[0].tolist() == [1, 1]


def test_functions_that_the_device_cannot_run():
    def sort(x):
        return np.sort(x)[::-1]

    compiled = accel.compile(sort)
    for _ in range(3):
        got = compiled(tensor([3.0, 1.0, 2.0]))
        assert type(got) is Tensor and got.tolist() == [3, 2, 1]


def test_objects_that_are_no_guests_stay_what_they_are():
    compiled = accel.compile(lambda x, y: (x, y + 1))
    other = OnTheHost()
    assert compiled(other, np.zeros(2))[0] is other
    unwilling = Unwilling(accel.to_device(np.ones(2)))
    got, array = compiled(unwilling, tensor(np.zeros(2)))
    assert got is unwilling and type(array) is Tensor


def test_nothing_is_copied_and_nothing_leaks():
    gc.collect()
    accel.synchronize()
    compiled = accel.compile(lambda x: x.sum())
    x = tensor(np.arange(100_000.0))
    used = accel.memory_info().used
    why = accel.explain(compiled)(x)
    assert why.device["bytes_up"] == 0 and why.device["bytes_down"] == 0
    for _ in range(5):
        compiled(x)
    assert accel.memory_info().used == used
    del x, why
    gc.collect()
    assert accel.memory_info().used <= used - 800_000


def test_streams_of_guests(monkeypatch):
    asked = []

    class Streamed(Tensor):
        def __dlpack__(self, **options):
            asked.append(options["stream"])
            return self.array.__dlpack__(**options)

    monkeypatch.setattr(Streamed, "__module__", "torch")
    made = []
    monkeypatch.setattr(sys.modules["torch"], "from_dlpack", lambda array: made.append(array) or Tensor(array))

    def change(x):
        x += 1

    x = Streamed(accel.to_device(np.zeros(2)))
    accel.compile(change)(x)
    assert asked == [1], "the producer orders the current stream after its own"
    assert len(made) == 1, "the library's stream comes after the changes"
    assert x.tolist() == [1, 1]
    described = Described(x.array, stream=1)
    accel.compile(change)(described)
    assert x.tolist() == [2, 2]


def test_reset_forgets_guests():
    compiled = accel.compile(axpy)
    compiled(tensor(np.ones(2)), 1.0, 2.0)
    accel.reset(compiled)
    assert type(compiled(tensor(np.ones(2)), 1.0, 2.0)) is Tensor


@pytest.mark.parametrize("name", ["torch", "cupy"])
def test_libraries_that_are_installed(name, monkeypatch):
    monkeypatch.undo()
    library = pytest.importorskip(name)
    if name == "torch" and not library.cuda.is_available():
        pytest.skip("torch has no device")
    x = library.arange(6.0).cuda() if name == "torch" else library.arange(6.0)
    compiled = accel.compile(axpy)
    got = ran_on_device(compiled, x, x, 2.0)
    assert type(got) is type(x) and got.tolist() == [0, 3, 6, 9, 12, 15]

    def change(x):
        x += 1
        return x

    assert ran_on_device(accel.compile(change), x) is x
    assert x.tolist() == [1, 2, 3, 4, 5, 6]
    if name == "torch":
        stream = library.cuda.Stream()
        with library.cuda.stream(stream):
            large = library.zeros(1 << 24, device="cuda")
            for _ in range(20):
                large += 1
                accel.compile(change)(large)
            assert float(large.sum()) == 40.0 * (1 << 24)
