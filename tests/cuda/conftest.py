"""Tests that need a CUDA device, a GPU or the emulated driver; those of some modules need none."""

import pytest

import accel

NEED_NO_DEVICE = {"test_blas", "test_doctor", "test_nvrtc"}


@pytest.fixture(scope="session")
def devices():
    """Whether there are CUDA devices."""
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
