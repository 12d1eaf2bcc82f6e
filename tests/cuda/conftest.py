"""Tests that need a CUDA device: a GPU, or the emulated driver."""

import os
import subprocess
from pathlib import Path

import pytest

import accel
from accel import _accel

FAKE = Path(__file__).resolve().parents[1] / "support" / "fake_cuda"


@pytest.fixture(scope="session")
def libraries(tmp_path_factory):
    """A folder with a driver and a cuBLAS on memory of the host."""
    folder = tmp_path_factory.mktemp("cuda")
    for source, library in (("driver.cpp", "libcuda.so.1"), ("cublas.cpp", "libcublas.so.13")):
        subprocess.run(
            ["g++", "-std=c++20", "-O1", "-shared", "-fPIC", FAKE / source, "-o", folder / library, "-ldl"], check=True
        )
    return folder


@pytest.fixture(scope="session", autouse=True)
def cuda(libraries):
    """The name of the device; without one all tests of the folder are skipped."""
    if "emulated" in os.environ.get("ACCEL_CUDA_DRIVER", ""):
        _accel.set_cuda_library_folders([str(libraries)])
    try:
        accel.memory_info()
    except accel.DeviceError:
        pytest.skip("no CUDA device, and ACCEL_CUDA_DRIVER names no emulated driver")
    return "cuda:0"
