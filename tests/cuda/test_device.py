"""to_device, and the functions that concern a device."""

import gc
import sys
import types

import numpy as np
import pytest

import accel
from accel import _accel
from accel._device import _as_guest, _parse_device


@pytest.mark.parametrize("text, expected", [("cuda", ("cuda", 0)), ("cuda:1", ("cuda", 1)), ("cpu", ("cpu", 0))])
def test_names_of_devices(text, expected):
    assert _parse_device(text) == expected


@pytest.mark.parametrize("name", ["gpu", "cuda:", "cuda:-1", "cuda:x", "cpu:0", "", 0, None, "CUDA"])
def test_other_names(name):
    with pytest.raises(accel.ArgumentError, match='use "cuda"'):
        accel.to_device(np.zeros(2), name)


def test_the_cpu_is_no_cuda_device():
    for use in (lambda: accel.to_device(np.zeros(2), "cpu"), lambda: accel.synchronize("cpu")):
        with pytest.raises(accel.ArgumentError, match=r"x\.numpy\(\)"):
            use()


def test_a_device_that_there_is_not():
    with pytest.raises(accel.DeviceError, match=r"no_cuda_device"):
        accel.to_device(np.zeros(2), "cuda:99")


@pytest.mark.parametrize("value", [1.5, [1, 2], ((1.0, 2.0), (3.0, 4.0)), np.float32(1), range(3), True, 2 + 1j], ids=repr)
def test_what_asarray_takes(value):
    array = accel.to_device(value)
    assert array.dtype == np.asarray(value).dtype and array.tolist() == np.asarray(value).tolist()


@pytest.mark.parametrize("dtype", [">f8", ">i4", "longlong", "ulonglong"])
def test_dtypes_that_are_brought_into_form(dtype):
    array = accel.to_device(np.arange(3).astype(dtype))
    assert array.dtype.isnative and array.dtype.name == np.dtype(dtype).newbyteorder("=").name
    assert array.tolist() == [0, 1, 2]


def test_arrays_that_are_not_aligned():
    memory = np.zeros(33, "u1")
    odd = memory[1:].view("f8")
    odd[...] = 1.5
    assert accel.to_device(odd).tolist() == [1.5] * 4


@pytest.mark.parametrize("value", ["text", None, np.array(["a"]), np.zeros(2, "M8[s]"), np.zeros(2, "i4,f4"), np.longdouble(1)])
def test_dtypes_that_devices_do_not_have(value):
    with pytest.raises(accel.ArgumentError, match="convert it"):
        accel.to_device(value)


def test_subclasses_become_arrays():
    assert accel.to_device(np.ma.masked_array([1.0, 2.0])).tolist() == [1, 2]


def test_arrays_on_the_device_stay():
    array = accel.to_device(np.arange(3.0))
    assert accel.to_device(array) is array
    assert accel.to_device(array, "cuda:0") is array


def test_arrays_of_another_device_are_copied():
    if _accel.device_count() < 2:
        pytest.skip("there is one device")
    array = accel.to_device(np.arange(3.0), "cuda:1")
    copy = accel.to_device(array, "cuda:0")
    copy[0] = 9
    assert (array.device, copy.device) == ("cuda:1", "cuda:0")
    assert array.tolist() == [0, 1, 2] and copy.tolist() == [9, 1, 2]


def test_copies_are_independent():
    host = np.arange(3.0)
    array = accel.to_device(host)
    host[0] = 9
    back = array.numpy()
    back[1] = 9
    assert array.tolist() == [0, 1, 2]


def test_memory_info():
    info = accel.memory_info("cuda:0")
    assert info._fields == ("free", "total", "used", "cached", "peak", "limit")
    assert all(isinstance(value, int) and value >= 0 for value in info)
    assert info.total >= info.free
    accel.synchronize("cuda")


def test_an_array_that_does_not_fit():
    gc.collect()
    info = accel.memory_info()
    used = info.used
    _accel.set_memory_limit(0, used + info.cached + (1 << 20))
    too_many = info.cached // 8 + (1 << 20)  # more than what is cached has room for
    try:
        with pytest.raises(accel.OutOfDeviceMemoryError, match="out_of_device_memory") as raised:
            accel.to_device(np.zeros(too_many))
        assert accel.to_device(np.zeros(10)).tolist() == [0] * 10
    finally:
        _accel.set_memory_limit(0, 0)
    assert isinstance(raised.value, MemoryError) and isinstance(raised.value, accel.DeviceError)
    assert accel.memory_info().used == used
    assert accel.to_device(np.zeros(1 << 20)).size == 1 << 20


@pytest.mark.parametrize("name, module", [("torch", "torch"), ("cupy", "cupy"), ("jaxlib.xla", "jax.dlpack")])
def test_arrays_become_objects_of_other_libraries(name, module, monkeypatch):
    library = types.ModuleType(module)
    library.from_dlpack = lambda array: ("made of", array)
    monkeypatch.setitem(sys.modules, module, library)
    array = accel.to_device(np.zeros(2))
    assert _as_guest(type("Guest", (), {"__module__": name}), array) == ("made of", array)


def test_arrays_stay_what_they_are_for_unknown_libraries():
    array = accel.to_device(np.zeros(2))
    assert _as_guest(type("Guest", (), {"__module__": "unknown.arrays"}), array) is array
