"""The emulated CUDA driver by itself, through ctypes: arrays, kernels of CUDA text, options and faults."""

import ctypes as C

import numpy as np
from support.emulated_driver import build


class Failed(Exception):
    """A call of the driver or of NVRTC failed. `code` is its result."""

    def __init__(self, name, code, text):
        super().__init__(f"{name}: {code} {text}")
        self.code = code


class EmulatedDevice:
    def __init__(self, with_checks=False):
        folder = build.build(with_checks=with_checks)
        self.driver, self.compiler = C.CDLL(str(folder / build.DRIVER)), C.CDLL(str(folder / build.NVRTC))
        self.driver.cuEmulateReport.restype = C.c_char_p
        self.driver.cuEmulateUsedBytes.restype = C.c_size_t
        context = C.c_void_p()
        self.call("cuInit", 0)
        self.call("cuDevicePrimaryCtxRetain", C.byref(context), 0)
        self.call("cuCtxSetCurrent", context)

    def call(self, name, *arguments):
        if code := getattr(self.driver, name)(*arguments):
            raise Failed(name, code, self.driver.cuEmulateReport().decode())

    def options(self, **values):
        for name, value in values.items():
            self.call("cuEmulateSet", name.encode(), C.c_long(value))

    def fail(self, name=None, nth=1, code=0, sticky=False):
        self.driver.cuEmulateFail(name and name.encode(), C.c_long(nth), code, int(sticky))

    def reset(self):
        self.fail()
        self.driver.cuEmulateReset()
        self.options(order=0, seed=0, workers=1, hide=1, eager=0, limit=0)

    def compile(self, text):
        """The image of CUDA text."""
        program, size = C.c_void_p(), C.c_size_t()
        self.compiler.nvrtcCreateProgram(C.byref(program), text.encode(), b"kernel.cu", 0, None, None)
        options = (C.c_char_p * 1)(b"--gpu-architecture=sm_90")
        code = self.compiler.nvrtcCompileProgram(program, 1, options)
        kind = "Program" + "Log" if code else "CUBIN"
        getattr(self.compiler, f"nvrtcGet{kind}Size")(program, C.byref(size))
        content = C.create_string_buffer(size.value)
        getattr(self.compiler, f"nvrtcGet{kind}")(program, content)
        self.compiler.nvrtcDestroyProgram(C.byref(program))
        if code:
            raise Failed("nvrtcCompileProgram", code, content.value.decode())
        return content.raw

    def load(self, text):
        return EmulatedModule(self, self.compile(text))

    def array(self, like):
        return EmulatedArray(self, np.ascontiguousarray(like))


class EmulatedArray:
    """A copy of an ndarray in the memory of the device."""

    def __init__(self, device, like):
        self.device, self.like, self.address = device, like, C.c_void_p()
        device.call("cuMemAlloc_v2", C.byref(self.address), C.c_size_t(max(like.nbytes, 1)))
        self.device.call("cuMemcpyHtoDAsync_v2", self.address, like.ctypes, C.c_size_t(like.nbytes), None)

    def get(self):
        out = np.empty_like(self.like)
        self.device.call("cuMemcpyDtoHAsync_v2", out.ctypes, self.address, C.c_size_t(out.nbytes), None)
        return out

    def __del__(self):
        if self.address:
            self.device.driver.cuMemFree_v2(self.address)


class EmulatedModule:
    def __init__(self, device, image):
        self.device, self.handle, self.functions = device, C.c_void_p(), {}
        device.call("cuModuleLoadData", C.byref(self.handle), image)

    def function(self, name):
        if name not in self.functions:
            function = C.c_void_p()
            self.device.call("cuModuleGetFunction", C.byref(function), self.handle, name.encode())
            self.functions[name] = function
        return self.functions[name]

    def run(self, name, grid, block, *arguments, shared=0):
        """Launches a kernel. Arguments: arrays, integers (int) and ctypes values."""
        grid, block = (tuple(np.atleast_1d(shape).tolist()) + (1, 1) for shape in (grid, block))
        values = [
            a.address if isinstance(a, EmulatedArray) else a if hasattr(a, "value") else C.c_int(int(a)) for a in arguments
        ]
        pointers = (C.c_void_p * len(values))(*[C.addressof(value) for value in values])
        self.device.call("cuLaunchKernel", self.function(name), *grid[:3], *block[:3], shared, None, pointers, None)
