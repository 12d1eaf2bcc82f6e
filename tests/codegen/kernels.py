"""Compiles the text of a Program to a kernel and runs it on NumPy arrays."""

import ctypes
import functools
import hashlib
import os
import subprocess
import tempfile
from pathlib import Path

import emulated
import numpy as np
import pytest
from host_compiler import host_compiler, kernel_flags

from accel import _accel, config

ROOT = Path(__file__).resolve().parents[2]
SRC = ROOT / "src"
HERE = Path(__file__).resolve().parent


def flags(*compiler):
    """Of a kernel that a compiler, or else the host's, makes.

    Those of the test session too: the fast set hardly optimises, ACCEL_TEST_KERNEL_FLAGS names further ones.
    """
    known = [flag for flag in kernel_flags(*compiler) if flag not in ("-nostdlib", "-lgcc")]
    return [*known, "-x", "c++", *config.extra_flags.split()]


FLAGS = flags()

# "aarch64": kernels are compiled for that CPU and run in an emulator.
MACHINE = os.environ.get("ACCEL_TEST_MACHINE")

DIVIDE, OVERFLOW, UNDERFLOW, INVALID, ERROR, NO_MEMORY, INTERRUPTED = 1, 2, 4, 8, 16, 32, 64


@functools.cache
def folder():
    return Path(tempfile.mkdtemp(prefix="accel-codegen-"))


def run(*command, **options):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, f"{command[0]} failed:\n{done.stderr[:4000]}"
    return done.stdout


@functools.cache
def host():
    run(
        *host_compiler(),
        "-std=c++20",
        "-O2",
        "-shared",
        "-fPIC",
        "-pthread",
        f"-I{SRC}",
        HERE / "host.cpp",
        "-o",
        folder() / "host.so",
    )
    library = ctypes.CDLL(str(folder() / "host.so"))
    library.host_runtime.restype = ctypes.c_void_p
    library.host_runtime.argtypes = [ctypes.c_int, ctypes.c_int64, ctypes.c_int]
    library.host_live_allocations.restype = ctypes.c_int64
    return library


class Import(ctypes.Structure):
    _fields_ = [("loop", ctypes.c_void_p), ("context", ctypes.c_void_p), ("auxdata", ctypes.c_void_p)]


class Launch(ctypes.Structure):
    _fields_ = [(name, ctypes.c_void_p) for name in ("runtime", "imports", "symbols", "inputs", "outputs", "context", "exit")]
    _fields_ += [("accepted", ctypes.c_int), ("ignored", ctypes.c_int)]


def numpy_loop(ufunc, dtypes):
    """NumPy's strided loop, and what keeps it alive."""
    resolved, capsule = ufunc._resolve_dtypes_and_context(tuple(np.dtype(d) for d in dtypes), reduction=False)
    ufunc._get_strided_loop(capsule)
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    info = ctypes.cast(get(capsule, b"numpy_1.24_ufunc_call_info"), ctypes.POINTER(ctypes.c_void_p))
    return Import(info[0], info[1], info[2]), capsule


def pointers(arrays):
    return (ctypes.c_void_p * (len(arrays) + 1))(*[a.ctypes.data for a in arrays])


def emulated_kernel(text, imports):
    """The kernel as a program for MACHINE, or None: it runs in this process."""
    if MACHINE is None:
        return None
    if imports:
        pytest.skip("the kernel calls NumPy's loops, which an emulator lacks")
    return emulated.Program(MACHINE, text, flags(emulated.compiler(MACHINE)))


def bits_of(symbols):
    return [np.int64(s) if isinstance(s, int | np.integer) else np.float64(s).view(np.int64) for s in symbols]


class Kernel:
    """A compiled Program. Call it with symbols, inputs and outputs; it returns the status."""

    def __init__(self, program, imports=()):
        self.text = _accel.emit_program(program)
        self.emulated = emulated_kernel(self.text, imports)
        if self.emulated:
            return
        name = folder() / f"kernel_{hashlib.sha256(self.text.encode()).hexdigest()[:16]}.so"
        if not name.exists():
            run(*host_compiler(), *FLAGS, "-Wall", "-Wno-unused-function", "-", "-o", name, input=self.text)
        self.entry = ctypes.CDLL(str(name)).accel_kernel
        self.entry.restype, self.entry.argtypes = ctypes.c_int, [ctypes.c_void_p]
        loops = [numpy_loop(*i) for i in imports]
        self.keep_alive = [capsule for _, capsule in loops]
        self.imports = (Import * (len(loops) + 1))(*[loop for loop, _ in loops])

    def __call__(self, symbols, inputs, outputs, threads=1, allocations=-1, interrupted=0):
        if self.emulated:
            return self.emulated((threads, allocations, interrupted, 0, 0, 0), bits_of(symbols), inputs, outputs)[0]
        slots = np.array([*bits_of(symbols), 0], dtype=np.int64)
        launch = Launch(
            host().host_runtime(threads, allocations, interrupted),
            ctypes.addressof(self.imports),
            slots.ctypes.data,
            ctypes.addressof(self._inputs(inputs)),
            ctypes.addressof(self._outputs(outputs)),
        )
        return self.entry(ctypes.byref(launch))

    def _inputs(self, arrays):
        self.input_pointers = pointers(arrays)
        return self.input_pointers

    def _outputs(self, arrays):
        self.output_pointers = pointers(arrays)
        return self.output_pointers


class GraphKernel:
    """A compiled Graph. Call it with symbols and array inputs; it returns status, exit and the outputs of that exit."""

    ALLOCATE = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.POINTER(ctypes.c_int64))

    def __init__(self, graph):
        self.text = _accel.emit_graph(graph)
        facts = [line.split()[1:] for line in self.text.splitlines() if line.startswith("//@")]
        self.notes = [" ".join(f[1:]) for f in facts if f[0] == "note"]
        self.exits = [[output.split(":") for output in f[1:]] for f in facts if f[0] == "exit"]
        self.outputs = [output for exit in self.exits for output in exit]
        self.emulated = emulated_kernel(self.text, [f for f in facts if f[0] == "import"])
        if self.emulated:
            return
        name = folder() / f"kernel_{hashlib.sha256(self.text.encode()).hexdigest()[:16]}.so"
        if not name.exists():
            run(*host_compiler(), *FLAGS, "-Wall", "-Wno-unused", "-", "-o", name, input=self.text)
        self.entry = ctypes.CDLL(str(name)).accel_kernel
        self.entry.restype, self.entry.argtypes = ctypes.c_int, [ctypes.c_void_p]
        loops = [numpy_loop(getattr(np, f[1]), (*f[2:-1], None)) for f in facts if f[0] == "import"]
        self.keep_alive = [capsule for _, capsule in loops]
        self.imports = (Import * (len(loops) + 1))(*[loop for loop, _ in loops])
        self.allocate = self.ALLOCATE(self._allocate)

    def _allocate(self, _context, output, dims):
        dtype, rank = self.outputs[output]
        self.results[output] = np.empty(tuple(dims[k] for k in range(int(rank))), dtype)
        return self.results[output].ctypes.data

    def __call__(
        self, symbols=(), inputs=(), threads=1, allocations=-1, interrupted=0, accepted=UNDERFLOW, serial_work=0, polls=0
    ):
        """`polls`: the one that asks the loop to leave; 0: none."""
        if self.emulated:
            settings = threads, allocations, interrupted, accepted, serial_work, polls
            status, taken, results = self.emulated(settings, bits_of(symbols), inputs, results=self.outputs)
            return status, taken, self.outputs_of(taken, results)
        self.results = {}
        slots = np.array([*bits_of(symbols), 0], np.int64)
        runtime = host().host_runtime(threads, allocations, interrupted)
        host().host_set_allocate_output(self.allocate)
        host().host_set_serial_work(ctypes.c_int64(serial_work))
        host().host_interrupt_after(polls)
        none = (ctypes.c_void_p * (len(self.outputs) + 1))()
        taken = ctypes.c_int(-1)
        arrays = pointers(inputs)
        addresses = [ctypes.addressof(x) for x in (self.imports, arrays, none, taken)]
        launch = Launch(
            runtime, addresses[0], slots.ctypes.data, addresses[1], addresses[2], None, addresses[3], accepted, accepted
        )
        status = self.entry(ctypes.byref(launch))
        host().host_interrupt_after(0)
        assert host().host_live_allocations() == 0
        return status, taken.value, self.outputs_of(taken.value, [self.results.get(k) for k in range(len(self.outputs))])

    def outputs_of(self, taken, results):
        first = sum(len(exit) for exit in self.exits[:taken])
        return results[first : first + len(self.exits[taken])]


def events_of(function, *args):
    """Bits of the floating-point events NumPy reports for function(*args), and the result."""
    seen = []
    names = {"divide by zero": DIVIDE, "overflow": OVERFLOW, "underflow": UNDERFLOW, "invalid value": INVALID}
    with np.errstate(all="call", call=lambda kind, flag: seen.append(names[kind])):
        result = function(*args)
    return functools.reduce(int.__or__, seen, 0), result


def same_bits(a, b):
    """Equal dtype and bits, where any NaN equals any NaN."""
    a, b = np.asarray(a), np.asarray(b)
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    if a.dtype.kind == "c":
        part = a.real.dtype
        return same_bits(
            a.view(part) if a.ndim else a.reshape(1).view(part), b.view(part) if b.ndim else b.reshape(1).view(part)
        )
    if a.dtype.kind != "f":
        return bool(np.array_equal(a, b))
    nan = np.isnan(a) & np.isnan(b)
    bits = np.dtype(f"u{a.dtype.itemsize}")
    return bool(np.all(nan | (np.ascontiguousarray(a).view(bits) == np.ascontiguousarray(b).view(bits))))
