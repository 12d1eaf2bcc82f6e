"""One kernel for each loop of many rows of the op table: the CUDA text, and the same text compiled by g++ for the CPU."""

import ctypes
import hashlib
import re
from pathlib import Path

import numpy as np
from host_compiler import host_compiler, is_clang
from kernels import folder, run
from programs import several_elementwise
from support.ops_table import ROWS, loops

from accel import _accel

HERE = Path(__file__).resolve().parent
FLAGS = "-O2 -std=c++20 -ffp-contract=off -fno-math-errno -ftrapping-math -shared -fPIC -w -x c++".split()
FLAGS += [] if is_clang() else ["-fno-gnu-unique"]  # modules share no variables


def cases_of(name):
    """(row, dtypes of operands, dtype of the result) of each loop, by names of dtypes."""
    arity = int(ROWS[name]["arity"])
    found = [[np.dtype(char).name for char in types] for types in loops(name, every=True)]
    return list(dict.fromkeys((name, tuple(types[:arity]), types[arity]) for types in found))


def device_text(cases):
    """The CUDA text of a program with one nest, so one kernel, for each case."""
    program = several_elementwise(cases).replace("\nbuffer", "\ntarget cuda\nbuffer", 1)
    text = _accel.emit_program(program.replace("any_thread {", "any_thread mapping elements {"))
    return text.partition("//@ device\n")[2]


def parameters_of(text):
    """The types of the parameters of each kernel, in the order of the nests."""
    found = re.findall(r"__global__ void .*?(nest\d+_0)\((.*)\) \{", text)
    return {name: [p.rpartition(" ")[0].strip() for p in listed.split(", ")] for name, listed in found}


class HostKernels:
    """The kernels of the cases as functions of arrays."""

    def __init__(self, cases):
        self.cases = cases
        text = device_text(cases)
        kernels = parameters_of(text)
        assert len(kernels) == len(cases)  # no two nests share one
        text += "namespace accel_kernel_text {\n" + "".join(map(self.runner, kernels, kernels.values())) + "}\n"
        name = folder() / f"device_{hashlib.sha256(text.encode()).hexdigest()[:16]}.so"
        if not name.exists():
            run(*host_compiler(), *FLAGS, "-include", HERE / "one_thread.h", "-", "-o", name, input=text)
        library = ctypes.CDLL(str(name))
        self.runners = [getattr(library, f"run_{kernel}") for kernel in kernels]

    @staticmethod
    def runner(kernel, types):
        pointers = iter(range(len(types)))
        given = ", ".join(f"arrays[{next(pointers)}]" if "char*" in t else "n" for t in types[2:])
        return (
            f'extern "C" void run_{kernel}(i64 n, char** arrays) {{\n'
            f"  for (i64 i = 0; i < n; i += 256)\n"
            f"    for (unsigned t = 0; t < 256; ++t) blockIdx.x = (unsigned)(i / 256), threadIdx.x = t, {kernel}(n, 1, {given});\n}}\n"
        )

    def __call__(self, k, operands):
        out = np.empty(operands[0].shape, self.cases[k][2])
        arrays = [np.ascontiguousarray(x) for x in [*operands, out]]
        self.runners[k](ctypes.c_int64(out.size), (ctypes.c_void_p * len(arrays))(*[x.ctypes.data for x in arrays]))
        return arrays[-1]
