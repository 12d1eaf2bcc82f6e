"""Arrays that other libraries fill and read on streams of their own."""

import ctypes
import gc
import os

import numpy as np
import pytest

import accel

IS_EMULATED = "ACCEL_CUDA_DRIVER" in os.environ


class SideStream:
    """A stream of another library that does not wait for the default stream, with page-locked memory."""

    def __init__(self, count):
        accel.synchronize()
        self.driver = ctypes.CDLL(os.environ.get("ACCEL_CUDA_DRIVER", "libcuda.so.1"))
        stream, memory = ctypes.c_void_p(), ctypes.c_void_p()
        self.bytes = ctypes.c_size_t(count * 8)
        self.call("cuStreamCreate", ctypes.byref(stream), 1)
        self.call("cuMemHostAlloc", ctypes.byref(memory), self.bytes, 0)
        self.stream, self.memory = stream, memory
        self.values = np.frombuffer((ctypes.c_char * (count * 8)).from_address(memory.value), np.float64)

    def call(self, name, *arguments):
        assert getattr(self.driver, name)(*arguments) == 0, name

    def write(self, address):
        """Queue a copy of the memory to the device."""
        self.call("cuMemcpyHtoDAsync_v2", ctypes.c_void_p(address), self.memory, self.bytes, self.stream)

    def read(self, address):
        """Queue a copy from the device to the memory."""
        self.call("cuMemcpyDtoHAsync_v2", self.memory, ctypes.c_void_p(address), self.bytes, self.stream)

    def wait(self):
        self.call("cuStreamSynchronize", self.stream)

    def close(self):
        self.wait()
        self.call("cuStreamDestroy_v2", self.stream)
        self.call("cuMemFreeHost", self.memory)


@pytest.fixture
def side():
    made = SideStream(1 << 16)
    yield made
    gc.collect()
    accel.synchronize()
    made.close()


def described(array, stream):
    record = {**array.__cuda_array_interface__, "stream": stream}
    kind = type("Described", (), {"__cuda_array_interface__": property(lambda self: record)})
    made = kind()
    made.array = array
    return made


def address_of(array):
    return array.__cuda_array_interface__["data"][0]


def test_a_guest_is_read_when_its_stream_has_filled_it(side):
    array = accel.to_device(np.zeros(1 << 16))
    accel.synchronize()
    side.values[:] = np.arange(1 << 16)
    side.write(address_of(array))
    taken = accel.to_device(described(array, side.stream.value))
    assert taken.tolist() == list(range(1 << 16))


@pytest.mark.parametrize("version", [None, (1, 0)])
def test_a_consumer_reads_when_the_array_is_filled(side, version):
    array = accel.to_device(np.arange(float(1 << 16)))
    capsule = array.__dlpack__(stream=side.stream.value, max_version=version)
    side.read(address_of(array))
    side.wait()
    assert side.values.tolist() == list(range(1 << 16))
    del capsule


def test_memory_is_reused_when_the_consumer_has_read_it(side):
    array = accel.to_device(np.arange(float(1 << 16)))
    capsule = array.__dlpack__(stream=side.stream.value)
    side.read(address_of(array))
    del capsule, array
    others = [accel.to_device(np.zeros(1 << 16)) for _ in range(3)]
    accel.synchronize()
    side.wait()
    assert side.values.tolist() == list(range(1 << 16))
    assert all(other[-1] == 0 for other in others)


def test_an_array_of_the_interface_names_its_stream():
    array = accel.to_device(np.zeros(2))
    assert array.__cuda_array_interface__["stream"] == 1
    for stream in (None, 1):
        assert accel.to_device(described(array, stream)).tolist() == [0, 0]
        assert '"dltensor"' in repr(array.__dlpack__(stream=stream))
    assert '"dltensor"' in repr(array.__dlpack__(stream=-1))


@pytest.mark.skipif(IS_EMULATED, reason="the emulated driver has no default streams of threads")
def test_default_streams_of_threads():
    array = accel.to_device(np.arange(3.0))
    assert '"dltensor"' in repr(array.__dlpack__(stream=2))
    assert accel.to_device(described(array, 2)).tolist() == [0, 1, 2]


def test_stream_0_is_refused():
    array = accel.to_device(np.zeros(2))
    for use in (lambda: accel.to_device(described(array, 0)), lambda: array.__dlpack__(stream=0)):
        with pytest.raises(ValueError, match="ambiguous"):
            use()
