"""The CUDA driver through ctypes: events, hand-written kernels, page-locked memory. Its stream is the default stream.

The context is the device's primary one, which accel, torch and CuPy use too.
"""

import ctypes
from ctypes import byref, c_char_p, c_float, c_int, c_uint, c_void_p

EMULATED = "emulated"
COMPUTE_CAPABILITY = 75, 76  # attributes: major, minor


class DriverError(RuntimeError):
    pass


class Driver:
    def __init__(self):
        from accel import _accel

        name = _accel.get_setting("cuda_driver") or "libcuda.so.1"
        try:
            self.library = ctypes.CDLL(name)
        except OSError as error:
            raise DriverError(f"no CUDA driver: {error}") from None
        self.call("cuInit", c_uint(0))
        count, device, context = c_int(), c_int(), c_void_p()
        self.call("cuDeviceGetCount", byref(count))
        if count.value == 0:
            raise DriverError("the CUDA driver finds no device")
        self.call("cuDeviceGet", byref(device), c_int(0))
        self.call("cuDevicePrimaryCtxRetain", byref(context), device)
        self.call("cuCtxSetCurrent", context)
        self.device, self.begin, self.end = device, self.event(), self.event()

    def call(self, function, *arguments):
        code = getattr(self.library, function)(*arguments)
        if code:
            name = c_char_p()
            self.library.cuGetErrorName(c_int(code), byref(name))
            raise DriverError(f"{function}: {(name.value or b'').decode() or code}")

    def attribute(self, number):
        value = c_int()
        self.call("cuDeviceGetAttribute", byref(value), c_int(number), self.device)
        return value.value

    def architecture(self):
        major, minor = map(self.attribute, COMPUTE_CAPABILITY)
        return 10 * major + minor

    def name(self):
        text = ctypes.create_string_buffer(100)
        self.call("cuDeviceGetName", text, c_int(100), self.device)
        return text.value.decode()

    def version(self):
        version = c_int()
        self.call("cuDriverGetVersion", byref(version))
        return version.value

    def wait(self, result=None):
        self.call("cuStreamSynchronize", None)

    def event(self):
        event = c_void_p()
        self.call("cuEventCreate", byref(event), c_uint(0))
        return event

    def seconds(self, call, count):
        """Of the device, for `count` calls, from the first one's begin to the last one's end."""
        self.call("cuEventRecord", self.begin, None)
        for _ in range(count):
            call()
        self.call("cuEventRecord", self.end, None)
        self.call("cuEventSynchronize", self.end)
        milliseconds = c_float()
        self.call("cuEventElapsedTime", byref(milliseconds), self.begin, self.end)
        return milliseconds.value * 1e-3

    def page_locked(self, count, kind):
        """(an array of ctypes in memory that the device can read and write, its address on the device)"""
        host, address = c_void_p(), c_void_p()
        self.call("cuMemHostAlloc", byref(host), ctypes.c_size_t(count * ctypes.sizeof(kind)), c_uint(2))
        self.call("cuMemHostGetDevicePointer_v2", byref(address), host, c_uint(0))
        return (kind * count).from_address(host.value), address


class Module:
    """Kernels of one text, compiled with accel's options."""

    def __init__(self, driver, text):
        from accel import _accel

        self.driver, self.handle = driver, c_void_p()
        cubin, reason, detail = _accel.compile_device_code(text, driver.architecture())
        if not cubin:
            raise DriverError(f"{reason}: {detail}")
        driver.call("cuModuleLoadData", byref(self.handle), c_char_p(cubin))

    def launch(self, name, blocks, threads, *arguments):
        """A callable that launches a kernel. Arguments are of ctypes, or arrays on the device."""
        kernel = c_void_p()
        self.driver.call("cuModuleGetFunction", byref(kernel), self.handle, c_char_p(name.encode()))
        values = [as_argument(a) for a in arguments]
        packed = (c_void_p * max(len(values), 1))(*[ctypes.cast(ctypes.pointer(v), c_void_p) for v in values])
        one, none = c_uint(1), c_uint(0)
        fixed = (kernel, c_uint(blocks), one, one, c_uint(threads), one, one, none, None, packed, None)
        run = self.driver.library.cuLaunchKernel

        def launch(keep=(values, arguments)):
            if code := run(*fixed):
                raise DriverError(f"cuLaunchKernel of {name}: {code}")

        return launch


def as_argument(value):
    if hasattr(value, "__cuda_array_interface__"):
        return c_void_p(value.__cuda_array_interface__["data"][0])
    return value
