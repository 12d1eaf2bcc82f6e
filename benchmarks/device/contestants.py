"""Who runs a row: accel, the hand-written kernels, and other libraries. One process has one of them.

`put` moves an array to the device, `make` gives a callable of such arrays, `fetch` makes its result NumPy's, `wait(result)`
waits until a result is there. `driver` has events in the library's stream; None where its stream is one of its own.
"""

import numpy as np

from benchmarks.device.driver import Driver
from benchmarks.device.hand_written import HandWritten
from benchmarks.peers import with_module


def leaves(result):
    return result if isinstance(result, (tuple, list)) else (result,)


class Contestant:
    module = None  # stands for NumPy in functions

    def __init__(self):
        self.driver = Driver()

    def wait(self, result=None):
        self.driver.wait()

    def written(self, row):
        return with_module(row.function, self.module)

    def compiled(self, row):
        return self.written(row)

    def make(self, row, arguments):
        """None: this contestant has nothing for the row."""
        if row.function is None:
            return None
        run = self.compiled(row)
        if row.resident:
            return run

        def from_and_to_numpy(*given):
            return self.fetch_all(run(*(self.put(part) if isinstance(part, np.ndarray) else part for part in given)))

        return from_and_to_numpy

    def fetch_all(self, result):
        """The arrays of a result as NumPy's; numbers as they are."""
        if isinstance(result, tuple | list):
            return type(result)(map(self.fetch_all, result))
        return result if np.isscalar(result) or result is None else self.fetch(result)


class Accel(Contestant):
    def __init__(self):
        import accel

        super().__init__()
        self.accel, self.put = accel, accel.to_device

    def make(self, row, arguments):
        return row.function and self.accel.compile(row.function, device="cuda", mode=row.compile_mode)

    def facts(self, call, arguments):
        """What one call has the device do."""
        why = self.accel.explain(call)(*arguments)
        found = {name: why.device.get(name) for name in ("launches", "graphs", "waits", "bytes_up", "bytes_down")}
        if not why.compiled or why.device["name"] == "cpu":
            found["problem"] = f"not on the device: {why.exit or why.device['name']}"
        return found

    def fetch(self, result):
        return result.numpy() if isinstance(result, self.accel.DeviceArray) else np.asarray(result)


class Hand(Accel):
    def __init__(self):
        super().__init__()
        self.kernels = HandWritten(self.driver, self.put)
        self.result = None

    def make(self, row, arguments):
        made = self.kernels.make(row, arguments)
        if made is None:
            return None
        run, self.result = made
        return lambda *_: run()


class Torch(Contestant):
    def __init__(self):
        import torch

        torch.set_float32_matmul_precision("highest")  # no TF32
        torch.cuda.init()
        torch.zeros(1, device="cuda")
        super().__init__()
        self.module = torch

    def put(self, array):
        return self.module.from_numpy(np.ascontiguousarray(array)).cuda()

    def fetch(self, result):
        return result.cpu().numpy()

    def written(self, row):
        module, function = self.module, row.torch
        return (lambda *arguments: function(module, *arguments)) if function else row.function


class CompiledTorch(Torch):
    def compiled(self, row):
        run = self.written(row)
        self.module._dynamo.reset()  # all rows share the code below: else few of them are compiled
        return self.module.compile(lambda *arguments: run(*arguments), dynamic=False)


class CuPy(Contestant):
    def __init__(self):
        import cupy

        cupy.zeros(1)
        super().__init__()
        self.module, self.put, self.fetch = cupy, cupy.asarray, cupy.asnumpy


class Jax(Contestant):
    def __init__(self):
        import jax

        jax.config.update("jax_enable_x64", True)
        jax.config.update("jax_default_matmul_precision", "highest")
        if jax.default_backend() not in ("gpu", "cuda"):
            raise RuntimeError(f"JAX has no GPU here, but {jax.default_backend()}")
        self.jax, self.module, self.driver = jax, jax.numpy, None
        self.put, self.fetch = jax.device_put, np.asarray

    def wait(self, result=None):
        self.jax.block_until_ready(result)

    def compiled(self, row):
        return self.jax.jit(self.written(row))


# name -> (class, the module that must be installed)
CONTESTANTS = {
    "hand-written": (Hand, "accel"),
    "accel": (Accel, "accel"),
    "torch": (Torch, "torch"),
    "torch.compile": (CompiledTorch, "torch"),
    "jax": (Jax, "jax"),
    "cupy": (CuPy, "cupy"),
}
PEERS = "torch", "jax", "cupy"
