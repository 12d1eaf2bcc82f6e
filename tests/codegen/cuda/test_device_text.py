"""Text for a device: what the golden graphs emit, and what NVRTC and its assembler say of it. Needs no GPU."""

import ctypes
import re
from functools import cache
from pathlib import Path

import pytest

from accel import _accel, _cuda

ROOT = Path(__file__).resolve().parents[3]
GRAPHS = sorted((ROOT / "tests" / "golden" / "schedule" / "cuda").glob("*.ir"))
MAPPINGS = {
    "assign_to_nearest": {"rows"},
    "column_mean": {"columns"},
    "column_variances": {"columns"},
    "normalised_columns": {"columns", "elements"},
    "quotients_and_exponents": {"elements"},
    "softmax_rows": {"rows"},
    "transcendental": {"elements"},
}
SPILLED = {  # bytes that kernels keep in memory for want of registers; may only shrink
    ("normalised_columns", "nest0_1"): 40,  # parts of columns: a call of exp in an unrolled loop
    ("normalised_columns", "nest0_2"): 4,
    ("column_variances", "nest0_2"): 24,  # parts of columns: divisions of eight elements at a time
    ("assign_to_nearest", "nest0_1"): 98,  # these two are compiled on demand, for inner axes of any length
    ("assign_to_nearest", "nest0_2"): 98,
}


each_graph = pytest.mark.parametrize("path", GRAPHS, ids=lambda path: path.stem)


def graph_text(path):
    return path.read_text().partition("---\n")[0]


def texts(path):
    """The text for the host, and those for the device: the likely kernels, and others where there are some."""
    host, *device = _accel.emit_graph(graph_text(path)).split("//@ device\n")
    assert device
    return host, device


def test_each_graph_is_listed():
    assert {path.stem for path in GRAPHS} == set(MAPPINGS)


@each_graph
def test_mappings(path):
    program = _accel.schedule_graph(graph_text(path))
    assert set(re.findall(r"^nest .* mapping (\w+) \{", program, re.MULTILINE)) == MAPPINGS[path.stem]


@each_graph
def test_the_text_for_the_device_stands_by_itself(path):
    host, all_of_device = texts(path)
    assert "__global__" not in host
    for device in all_of_device:
        assert "#include" not in device
        assert "__global__" in device
        assert "frame" not in re.sub(r"//.*", "", device)
        assert "atomicAdd" not in device  # its order of additions differs from run to run


@each_graph
def test_kernels_are_numbered_as_the_host_starts_them(path):
    host, device = texts(path)
    kernels = re.findall(r"__launch_bounds__\(256\) (nest\d+_\d+)\(", "".join(device))
    assert kernels and len(kernels) == len(set(kernels))
    started = [int(number) for number in re.findall(r"\blaunch_\w+\(frame, (\d+),", host)]
    assert started and max(started) < len(kernels)


BRANCH_ON_AN_ELEMENT = """
graph {
  target cuda
  symbol s0 "x.shape[0]" = 12
  known(s0 - 1)
  input %0 "x" : array float64[s0] dense
  b0:
    %1 = slice(%0) {dims = [0], steps = [1]} : array float64[1]
    %2 = squeeze(%1) {axes = [0]} : array float64[]
    %3 = astype(%2) : numpy_scalar float64
    %4 = constant() {literal = 1} : numpy_scalar float64
    %5 = greater(%3, %4) : numpy_scalar bool
    branch(%5) b1() b2()
  b1:
    %6 = add(%0, %4) : array float64[s0]
    ret(%6)
  b2:
    %7 = subtract(%0, %4) : array float64[s0]
    leave 1(%7)
}
"""


def test_the_host_reads_no_memory_of_the_device():
    with pytest.raises(ValueError):
        _accel.emit_graph(BRANCH_ON_AN_ELEMENT)


# ---- NVRTC


@cache
def nvrtc():
    """The installed library, whatever ACCEL_NVRTC names."""
    for folder in map(Path, _cuda.library_folders()):
        for path in folder.glob("libnvrtc.so.*"):
            for builtins in folder.glob("libnvrtc-builtins.so.*"):
                ctypes.CDLL(str(builtins))
            return ctypes.CDLL(str(path))
    raise FileNotFoundError("libnvrtc.so")


@cache
def options():
    """The options that accel passes."""
    source = (ROOT / "src" / "toolchain" / "cuda" / "nvrtc.cpp").read_text()
    found = [word for word in re.findall(r'"(--[\w=+-]+)"', source) if not word.endswith("_")]
    assert "--fmad=false" in found
    return found


def compiled(text, *more):
    """The log of a compilation for compute capability 9.0; the CUBIN."""
    call, program, size = nvrtc(), ctypes.c_void_p(), ctypes.c_size_t()
    assert call.nvrtcCreateProgram(ctypes.byref(program), text.encode(), b"kernel.cu", 0, None, None) == 0
    words = [word.encode() for word in (*options(), "--gpu-architecture=sm_90", *more)]
    result = call.nvrtcCompileProgram(program, len(words), (ctypes.c_char_p * len(words))(*words))
    call.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    call.nvrtcGetProgramLog(program, log)
    assert result == 0, log.value.decode()
    call.nvrtcGetCUBINSize(program, ctypes.byref(size))
    cubin = ctypes.create_string_buffer(size.value)
    call.nvrtcGetCUBIN(program, cubin)
    call.nvrtcDestroyProgram(ctypes.byref(program))
    return log.value.decode(), cubin.raw


@pytest.mark.needs_nvrtc
@each_graph
def test_nvrtc_takes_it_and_registers_suffice(path):
    for device in texts(path)[1]:
        log, cubin = compiled(device, "--ptxas-options=-v")
        assert cubin.startswith(b"\x7fELF")
        kernels = set(re.findall(r"__launch_bounds__\(256\) (nest\d+_\d+)\(", device))
        reports = re.findall(r"Function properties for (\w+)\n.* (\d+) bytes spill stores, (\d+) bytes spill loads", log)
        assert {name for name, _, _ in reports} == kernels, log
        spilled = {(path.stem, name): max(int(stores), int(loads)) for name, stores, loads in reports}
        assert all(count <= SPILLED.get(kernel, 0) for kernel, count in spilled.items()), spilled
