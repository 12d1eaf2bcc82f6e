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
    "accumulations": {"elements", "rows"},
    "assign_to_nearest": {"rows"},
    "branch_on_an_element": {"elements"},
    "column_mean": {"columns"},
    "column_variances": {"columns"},
    "escape_time": {"elements"},
    "normalised_columns": {"columns", "elements"},
    "quotients_and_exponents": {"elements"},
    "selection": {"rows"},
    "softmax_rows": {"rows"},
    "stores_in_order": {"ordered"},
    "transcendental": {"elements"},
}
SPILLED = {  # bytes that kernels keep in memory for want of registers; may only shrink
    ("normalised_columns", "nest0_1"): 40,  # parts of columns: a call of exp in an unrolled loop
    ("normalised_columns", "nest0_2"): 4,
    ("selection", "nest2_2"): 4,  # a list by one block, with the 32 registers that let a multiprocessor have most threads
    ("column_variances", "nest0_2"): 24,  # parts of columns: divisions of eight elements at a time
    ("assign_to_nearest", "nest0_0"): 84,  # by the compiler of CUDA 13.0; later ones need no memory
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
        assert not re.search(r"atomicAdd\((?!&counts)", device)  # its order of additions, which counts do not show, differs


@each_graph
def test_kernels_are_numbered_as_the_host_starts_them(path):
    host, device = texts(path)
    kernels = re.findall(r"__launch_bounds__\(256\) (nest\d+_\d+)\(", "".join(device))
    assert kernels and len(kernels) == len(set(kernels))
    started = [int(number) for number in re.findall(r"\blaunch_\w+\(frame, (\d+),", host)]
    assert started and max(started) < len(kernels)


def test_the_host_waits_for_the_cells_that_it_reads():
    host, device = texts(GRAPHS[0].with_name("branch_on_an_element.ir"))
    assert re.search(r"wait_for_kernels\(frame\).*\n.* = load_bool8\(b\d+ \+ 0L\)", host)
    assert host.count("load_bool8(b") == 1
    assert re.search(r"store_bool8\(b\d+ \+ 0L", "".join(device))


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
