"""Builds the emulated CUDA driver and the emulated NVRTC once, and prints where they are.

    eval "$(python tests/support/emulated_driver/build.py)"

sets ACCEL_CUDA_DRIVER and ACCEL_NVRTC, with which accel runs on the emulated device.
"""

import argparse
import hashlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
COMPILER = "g++"
DRIVER, NVRTC = "libemulated_cuda.so", "libemulated_nvrtc.so"
FLAGS = ["-std=c++20", "-fPIC", "-pthread", "-fvisibility=hidden", "-Wall", "-Wextra"]
# Of the CUDA text: each operation is rounded by itself, and modules share no variables.
TEXT_FLAGS = ["-std=c++20", "-O1", "-fPIC", "-ffp-contract=off", "-fwrapv", "-fno-strict-aliasing", "-fno-gnu-unique"]
# Checks of CUDA text that end in a signal, which the driver names with the kernel and the thread.
CHECKS = [
    "-fsanitize=undefined,float-cast-overflow",
    "-fno-sanitize=vptr",
    "-fsanitize-undefined-trap-on-error",
]


def sources():
    return sorted(p for p in HERE.iterdir() if p.suffix in {".h", ".cpp"})


def key(text_flags):
    version = subprocess.run([COMPILER, "-v"], capture_output=True, text=True, check=True).stderr
    digest = hashlib.sha256(repr((version, FLAGS, text_flags)).encode())
    for path in sources():
        digest.update(path.read_bytes())
    return digest.hexdigest()


def cache_folder():
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    try:
        base.mkdir(parents=True, exist_ok=True)
        usable = os.access(base, os.W_OK)
    except OSError:
        usable = False
    return (base if usable else Path(tempfile.gettempdir())) / "accel-emulated-driver"


def compile_all(folder, text_flags, version):
    def run(*arguments):
        environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
        subprocess.run([COMPILER, *map(str, arguments)], check=True, env=environment)

    driver = [p for p in sources() if p.suffix == ".cpp" and p.name != "nvrtc.cpp"]
    run(*FLAGS, "-O2", "-shared", *driver, "-o", folder / DRIVER, "-ldl")
    definitions = {"COMPILER": f'"{COMPILER}"', "FLAGS": f'"{" ".join(text_flags)}"', "VERSION": version}
    definitions = [f"-DEMULATED_{name}={value}" for name, value in definitions.items()]
    run(*FLAGS, "-O1", "-shared", *definitions, HERE / "nvrtc.cpp", "-o", folder / NVRTC, "-ldl")
    for path in sources():
        if path.suffix == ".h":
            shutil.copy(path, folder)
    run(*text_flags, "-w", "-x", "c++-header", folder / "device_text.h", "-o", folder / "device_text.h.gch")


def build(folder=None, with_checks=False):
    """The folder that holds the libraries. They are built when none of this content is there."""
    text_flags = TEXT_FLAGS + (CHECKS if with_checks else [])
    name = key(text_flags)
    folder = Path(folder) if folder else cache_folder() / name[:24]
    stamp = folder / "content"
    if stamp.exists() and stamp.read_text() == name:
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    fresh = Path(tempfile.mkdtemp(dir=folder.parent))
    try:
        # accel's cache of compiled text is kept by NVRTC's version: another content is another version.
        compile_all(fresh, text_flags, int(name[:6], 16))
        (fresh / "content").write_text(name)
        if folder.exists() and not (stamp.exists() and stamp.read_text() == name):
            shutil.rmtree(folder)
        fresh.rename(folder)
    except OSError:
        if not stamp.exists():  # else another process was faster
            raise
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    return folder


def environment(with_checks=False):
    """The variables with which accel uses the emulated device. Each array is an allocation of its own, between guards."""
    folder = build(with_checks=with_checks)
    return {"ACCEL_CUDA_DRIVER": str(folder / DRIVER), "ACCEL_NVRTC": str(folder / NVRTC), "ACCEL_CUDA_POOL": "0"}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", help="build into this folder and print nothing")
    parser.add_argument("--checks", action="store_true", help="kernels check alignment, bounds, casts and shifts")
    options = parser.parse_args()
    if options.folder:
        build(options.folder, options.checks)
    else:
        for variable, value in environment(options.checks).items():
            print(f"export {variable}={value}")
