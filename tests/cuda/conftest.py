"""Tests that need a CUDA device: a GPU, or the emulated driver."""

import pytest

import accel


@pytest.fixture(scope="session", autouse=True)
def cuda():
    """The name of the device; without one all tests of the folder are skipped."""
    try:
        accel.memory_info()
    except accel.DeviceError:
        pytest.skip("no CUDA device, and ACCEL_CUDA_DRIVER names no emulated driver")
    return "cuda:0"
