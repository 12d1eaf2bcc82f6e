"""Who may include whom among the folders of src. This table is the rule; CMake's links enforce it a second time."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SRC = ROOT / "src"

CORE = ["base", "ir", "passes", "schedule", "codegen", "toolchain", "runtime"]

# folder -> what it may include of other folders: a folder name (every header of it) or one product header.
# A folder may always include its own headers. "." is src itself: compile.h and compile.cpp.
PROGRAM = ["schedule/program/program.h"]
KERNEL_ABI = ["codegen/kernel_abi.h"]
DEVICE_ABI = ["codegen/device_abi.h"]
ITEMS = ["schedule/analysis/items.h"]  # what threads of a device compute independently
PRELUDE = ["codegen/prelude.h"]  # what all C++ that accel compiles begins with
SYSTEM = ["toolchain/machine.h", "toolchain/files.h", "toolchain/fork.h"]  # what both need of the operating system
LOOPS = ["schedule/program/loop_summary.h"]  # what explain shows of a Program
KERNELS = ["toolchain/compiled_kernel.h", "toolchain/device_code.h"]
PRODUCTS = ["compile.h", "passes/passes.h", "schedule/schedule.h", *KERNELS, "codegen/kernel_source.h"]
OPERATIONS = ["ir/op.h", "ir/dtype.h"]  # which operation a library is to do
CUDA_LIBRARIES = ["toolchain/cuda/libraries.h"]  # where NVIDIA's libraries are
SYSTEM_FACTS = ["toolchain/toolchain.h", "toolchain/doctor/doctor.h"]  # what the Python API shows of the toolchain
ARRAYS = ["ndarray", "device_array"]
MAY_INCLUDE = {
    "base": [],
    "ir": ["base"],
    "passes": ["base", "ir"],
    "schedule": ["base", "ir"],
    "codegen": ["base", "ir", *PROGRAM, *ITEMS],
    "toolchain": ["base", "codegen/kernel_source.h", *KERNEL_ABI, *PROGRAM],
    "runtime": ["base", *KERNEL_ABI, *SYSTEM, *KERNELS, *CUDA_LIBRARIES, *OPERATIONS],
    ".": ["base", "ir", *PROGRAM, *LOOPS, *PRODUCTS],
    "cpython": ["base"],
    "ndarray": ["base", "ir", "cpython/py_ref.h", "cpython/imported.h", *PROGRAM, *KERNEL_ABI, "runtime"],
    "device_array": ["base", "ir", "cpython", "ndarray", "runtime"],
    "guard": ["base", "ir", "cpython", *ARRAYS],
    "capture": ["base", "ir", "cpython", *ARRAYS, "guard"],
    "dispatch": [
        *["base", "ir", "cpython", *ARRAYS, "guard", "capture", "runtime"],
        *[*PRODUCTS, *KERNEL_ABI, *DEVICE_ABI, "codegen/library_texts.h", *PRELUDE, *PROGRAM],
    ],
    "bind": [
        *["base", "ir", "cpython", *ARRAYS, "guard", "capture", "dispatch", "runtime"],
        *[*PRODUCTS, *PROGRAM, *SYSTEM_FACTS, *CUDA_LIBRARIES],
    ],
}

# What one folder alone may include, by the text between <> or "".
ONLY_IN = [
    (re.compile(r"^(internal/)?pycore_"), {"cpython"}),
    (re.compile(r"^numpy/"), {"ndarray"}),
    (re.compile(r"^pybind11/"), {"bind"}),
    (
        re.compile(r"^(Python|frameobject|structmember)\.h$"),
        {"cpython", "ndarray", "device_array", "guard", "capture", "dispatch", "bind"},
    ),
    (re.compile(r"^omp\.h$"), {"runtime"}),
    (re.compile(r"^dlfcn\.h$"), {"toolchain", "runtime", "dispatch"}),
]

INCLUDE = re.compile(r'^\s*#\s*include\s+[<"]([^>"]+)[>"]', re.MULTILINE)


def source_files():
    return [p for p in sorted(SRC.rglob("*")) if p.suffix in {".h", ".cpp", ".inc", ".cu"} and "prelude" not in p.parts]


def folder_of(path):
    parts = path.relative_to(SRC).parts
    return parts[0] if len(parts) > 1 else "."


def allowed(folder, included):
    target = included.split("/")[0] if "/" in included else "."
    if target == folder:
        return True
    return target in MAY_INCLUDE[folder] or included in MAY_INCLUDE[folder]


def violations(path):
    folder, found = folder_of(path), []
    for included in INCLUDE.findall(path.read_text()):
        if (SRC / included).exists() and not allowed(folder, included):
            found.append(f"{path.relative_to(ROOT)} includes {included}")
        found += [
            f"{path.relative_to(ROOT)} includes <{included}>, which is for {', '.join(sorted(folders))} alone"
            for pattern, folders in ONLY_IN
            if pattern.search(included) and folder not in folders
        ]
    return found


def test_every_folder_is_in_the_table():
    folders = {p.name for p in SRC.iterdir() if p.is_dir()} | {"."}
    assert folders == set(MAY_INCLUDE)


def test_the_order_has_no_way_back():
    """Transitively, no folder reaches itself: the table is a pipeline."""
    reach = {f: {i.split("/")[0] if "/" in i or i in MAY_INCLUDE else "." for i in may} for f, may in MAY_INCLUDE.items()}
    reach["."].discard(".")
    for start in reach:
        seen, todo = set(), [start]
        while todo:
            for following in reach[todo.pop()] - seen:
                seen.add(following)
                todo.append(following)
        assert start not in seen, f"{start} includes itself through others"


@pytest.mark.parametrize("folder", sorted(MAY_INCLUDE))
def test_includes(folder):
    found = [v for p in source_files() if folder_of(p) == folder for v in violations(p)]
    assert not found, "\n".join(found)


def test_cpython_internals_are_asked_for_in_one_folder():
    found = [
        str(p.relative_to(ROOT))
        for p in source_files()
        if folder_of(p) != "cpython" and re.search(r"^\s*#\s*define\s+Py_BUILD_CORE", p.read_text(), re.MULTILINE)
    ]
    assert not found, found


def test_minor_versions_are_known_in_one_folder():
    """Only src/cpython asks which CPython it is compiled for."""
    found = [
        f"{p.relative_to(ROOT)}:{number}"
        for p in source_files()
        if folder_of(p) != "cpython"
        for number, line in enumerate(p.read_text().splitlines(), 1)
        if re.match(r"\s*#\s*(el)?if.*PY_(VERSION_HEX|MINOR_VERSION)", line)
    ]
    assert not found, found


def test_the_core_does_not_name_python():
    found = [
        str(p.relative_to(ROOT))
        for p in source_files()
        if folder_of(p) in CORE and re.search(r"\bPyObject\b|\bPy_[A-Z]\w+\s*\(", p.read_text())
    ]
    assert not found, found


def test_a_source_file_includes_its_own_header_first():
    found = []
    for path in source_files():
        own = path.with_suffix(".h")
        if path.suffix == ".cpp" and own.exists():
            first = INCLUDE.search(path.read_text())
            if first is None or first.group(1) != str(own.relative_to(SRC)):
                found.append(str(path.relative_to(ROOT)))
    assert not found, found


def test_headers_are_included_once():
    found = [str(p.relative_to(ROOT)) for p in source_files() if p.suffix == ".h" and "#pragma once" not in p.read_text()]
    assert not found, found
