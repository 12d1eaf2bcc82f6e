"""Where NVIDIA's Python packages have their libraries."""

from __future__ import annotations

import glob
import importlib
import os
import sys
from collections.abc import Iterator


def library_folders() -> list[str]:
    """Return the folders that may hold NVIDIA's libraries: of its packages, of conda and of the toolkit that CUDA_HOME names.

    Called once, when the first library is needed: importing accel does not look for them.
    """
    folders = list(dict.fromkeys([*_of_packages(), *_of_environment()]))
    if not any(glob.glob(os.path.join(glob.escape(folder), "libnvrtc.so*")) for folder in folders):
        folders += _of_pathfinder()
    return folders


def _of_packages() -> Iterator[str]:
    """Yield nvidia/*/lib of each folder of packages: that of CUDA 13, then the packages for CUDA 12."""
    for entry in sys.path:
        root = os.path.join(entry or os.getcwd(), "nvidia")
        names = os.listdir(root) if os.path.isdir(root) else []
        for name in sorted(names, key=lambda name: (not name.startswith("cu1"), name)):
            folder = os.path.join(root, name, "lib")
            if os.path.isdir(folder):
                yield folder


def _of_environment() -> Iterator[str]:
    """Yield the folders of libraries below the folders that the environment names."""
    for variable, below in (("CONDA_PREFIX", "lib"), ("CUDA_HOME", "lib64"), ("CUDA_PATH", "lib64")):
        folder = os.path.join(os.environ.get(variable, ""), below)
        if os.path.isabs(folder) and os.path.isdir(folder):
            yield folder


def _of_pathfinder() -> Iterator[str]:
    """Yield the folder of NVRTC that cuda-pathfinder finds, when it is installed. It loads the library."""
    try:
        path = importlib.import_module("cuda.pathfinder").load_nvidia_dynamic_lib("nvrtc").abs_path
    except Exception:  # not installed, nothing found, or a machine that it does not know
        return
    if path:
        yield os.path.dirname(path)
