"""The hand-written ceilings: built with accel's flags, called through ctypes, NumPy's inner loops passed in."""

import ctypes
import functools
import hashlib
import os
import shlex
import subprocess
import tempfile
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
FLAGS = ["-O3", "-march=native", "-ffp-contract=off", "-fno-math-errno", "-ftrapping-math", "-fwrapv", "-fopenmp"]


@functools.cache
def library(name):
    """The shared object of ceiling/NAME.cpp, compiled when its text or the flags changed."""
    source = HERE / f"{name}.cpp"
    command = [*shlex.split(os.environ.get("CXX", "g++")), "-std=c++20", *FLAGS, "-shared", "-fPIC"]
    digest = hashlib.sha256((source.read_text() + (HERE / "common.h").read_text() + str(command)).encode()).hexdigest()[:16]
    folder = Path(tempfile.gettempdir()) / f"accel-ceilings-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    built = folder / f"{name}-{digest}.so"
    if not built.exists():
        part = built.with_suffix(f".{os.getpid()}")
        subprocess.run([*command, source, "-o", part], check=True)
        part.rename(built)
    return ctypes.CDLL(built)


class Loop(ctypes.Structure):
    """struct Loop of common.h."""

    _fields_ = [("function", ctypes.c_void_p), ("context", ctypes.c_void_p), ("auxdata", ctypes.c_void_p)]


@functools.cache
def loop(ufunc, dtype):
    """NumPy's contiguous inner loop of a unary ufunc, and what must stay alive for it."""
    dtype = np.dtype(dtype)
    _, info = ufunc._resolve_dtypes_and_context((dtype, dtype))
    ufunc._get_strided_loop(info, fixed_strides=(dtype.itemsize, dtype.itemsize))
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    found = Loop.from_address(get(info, b"numpy_1.24_ufunc_call_info"))
    return found, info


def pointer(array):
    return ctypes.c_void_p(array.ctypes.data)


def bound(from_, to):
    """Moves the bytes a case must move, and nothing else."""
    run = library("bound").bound
    size = ctypes.c_int64
    run(pointer(from_), size(from_.nbytes), pointer(to), size(to.nbytes))
