"""Builds accel_frames_test for the running interpreter: src/cpython with the stand-in for compiled code."""

import hashlib
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

from host_compiler import host_compiler

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SRC = ROOT / "src"


def sources():
    return [*sorted((SRC / "cpython").rglob("*.cpp")), SRC / "base" / "reasons.cpp", *sorted(HERE.glob("*.cpp"))]


def build_module():
    """Folder that holds the module. Built again when any source or header has changed."""
    inputs = sources() + [p for p in SRC.rglob("*") if p.suffix in {".h", ".inc"}] + sorted(HERE.glob("*.h"))
    flags = ["-std=c++20", "-O1", "-g", "-fPIC", "-shared", "-fvisibility=hidden"]
    flags += ["-Wall", "-Wextra", "-Werror", "-Wno-missing-field-initializers"]
    digest = hashlib.sha256(repr([sys.version, flags]).encode())
    for path in inputs:
        digest.update(path.read_bytes())
    folder = ROOT / "build" / "frames-test" / digest.hexdigest()[:16]
    module = folder / ("accel_frames_test" + sysconfig.get_config_var("EXT_SUFFIX"))
    if not module.exists():
        folder.mkdir(parents=True, exist_ok=True)
        temporary = folder / f"{os.getpid()}.so"
        command = [*host_compiler(), *flags, f"-I{SRC}", f"-I{HERE}", "-isystem", sysconfig.get_path("include")]
        subprocess.run([*command, *map(str, sources()), "-o", str(temporary), "-lpthread"], check=True)
        os.replace(temporary, module)
    return folder


sys.path.insert(0, str(build_module()))
