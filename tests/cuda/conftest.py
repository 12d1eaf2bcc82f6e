"""Tests that need a CUDA device, a GPU or the emulated driver; those of some modules need none."""

import os
import subprocess
from pathlib import Path

import pytest

import accel
from accel import _accel

FAKE = Path(__file__).resolve().parents[1] / "support" / "fake_cuda"
FAKES = {
    "driver.cpp": "libcuda.so.1",
    "cublas.cpp": "libcublas.so.13",
    "cusolver.cpp": "libcusolver.so.12",
    "cufft.cpp": "libcufft.so.12",
}


@pytest.fixture(scope="session")
def libraries(tmp_path_factory):
    """A folder with a driver, a cuBLAS, a cuSOLVER and a cuFFT on memory of the host."""
    folder = tmp_path_factory.mktemp("cuda")
    for source, library in FAKES.items():
        subprocess.run(
            ["g++", "-std=c++20", "-O1", "-shared", "-fPIC", FAKE / source, "-o", folder / library, "-ldl"], check=True
        )
    return folder


NEED_NO_DEVICE = {"test_blas", "test_doctor", "test_nvrtc"}


@pytest.fixture(scope="session")
def devices(libraries):
    """Whether there are CUDA devices."""
    if "emulated" in os.environ.get("ACCEL_CUDA_DRIVER", ""):
        _accel.set_cuda_library_folders([str(libraries)])
    try:
        accel.memory_info()
    except accel.DeviceError:
        return False
    return True


@pytest.fixture(autouse=True)
def needs_device(request):
    """Skips a test that needs a device where there is none."""
    needs = request.module.__name__.rpartition(".")[2] not in NEED_NO_DEVICE
    if needs and not request.getfixturevalue("devices"):
        pytest.skip("no CUDA device, and ACCEL_CUDA_DRIVER names no emulated driver")
