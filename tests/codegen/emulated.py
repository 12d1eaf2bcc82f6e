"""Kernels for another CPU: compiled by a cross compiler, run in an emulator (qemu-user)."""

import ctypes
import functools
import hashlib
import os
import shutil
import struct
import subprocess
import tempfile
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
MACHINES = {"aarch64": ("aarch64-linux-gnu-g++", "qemu-aarch64")}


def missing(machine):
    """The program that tests for `machine` need and this one lacks, or None."""
    return next((program for program in MACHINES[machine] if shutil.which(program) is None), None)


def compiler(machine):
    return MACHINES[machine][0]


def run(*command, **options):
    done = subprocess.run([str(c) for c in command], capture_output=True, check=False, **options)
    assert done.returncode == 0, f"{command[0]} failed:\n{done.stderr[:4000].decode()}"
    return done.stdout


@functools.cache
def folder():
    return Path(tempfile.mkdtemp(prefix="accel-emulated-"))


@functools.cache
def runner(machine):
    """Objects of the program that kernels are linked with."""
    objects = []
    for name in ("run_kernel", "host"):
        objects.append(folder() / f"{machine}-{name}.o")
        run(compiler(machine), "-std=c++20", "-O1", "-c", f"-I{ROOT / 'src'}", HERE / f"{name}.cpp", "-o", objects[-1])
    return objects


class Program:
    """A kernel's text as a program for `machine`."""

    def __init__(self, machine, text, flags):
        self.machine = machine
        self.path = folder() / f"{machine}-{hashlib.sha256(text.encode()).hexdigest()[:16]}"
        if self.path.exists():
            return
        flags = [flag for flag in flags if not flag.startswith("-march=") and flag != "-shared"]
        run(compiler(machine), *flags, "-w", "-c", "-", "-o", f"{self.path}.o", input=text.encode())
        run(compiler(machine), "-static", f"{self.path}.o", *runner(machine), "-lm", "-pthread", "-o", self.path)

    def __call__(self, settings, symbols, inputs, outputs=(), results=()):
        """(status, exit, results). `settings`: the six numbers that run_kernel.cpp begins with; `results`: dtypes and ranks."""
        kinds = [(np.dtype(dtype).itemsize, int(rank)) for dtype, rank in results]
        spans = [memory_of(array) for array in (*inputs, *outputs)]
        text = numbers(*settings, len(symbols), *map(int, symbols))
        text += arrays(spans[: len(inputs)]) + arrays(spans[len(inputs) :])
        text += numbers(len(kinds), *(n for kind in kinds for n in kind))
        reader = Reader(run(MACHINES[self.machine][1], self.path, input=text, env={**os.environ, "LC_ALL": "C"}))
        status, taken, live = reader.number(), reader.number(), reader.number()
        assert live == 0, "the kernel has not released all memory"
        for memory, _ in spans:
            memory[:] = reader.array()
        return status, taken, [reader.result(dtype, int(rank)) for dtype, rank in results]


def memory_of(array):
    """The bytes from the lowest to the highest element, and where the first element begins."""
    low, high = np.lib.array_utils.byte_bounds(array)
    if array.size == 0:
        return np.empty(0, np.uint8), 0
    return np.frombuffer((ctypes.c_char * (high - low)).from_address(low), np.uint8), array.ctypes.data - low


def numbers(*values):
    return struct.pack(f"<{len(values)}q", *values)


def arrays(spans):
    return numbers(len(spans)) + b"".join(numbers(len(memory), first) + memory.tobytes() for memory, first in spans)


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def number(self):
        self.at += 8
        return struct.unpack_from("<q", self.data, self.at - 8)[0]

    def array(self):
        count = self.number()
        self.at += count
        return np.frombuffer(self.data, np.uint8, count, self.at - count)

    def result(self, dtype, rank):
        if not self.number():
            return None
        shape = [self.number() for _ in range(rank)]
        return self.array().view(dtype).reshape(shape).copy()
