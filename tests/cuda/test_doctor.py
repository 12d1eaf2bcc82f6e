"""What the doctor says of GPUs and of NVIDIA's libraries, from reports of machines that are not at hand."""

import os
import subprocess
import sys

import pytest

from accel import _accel
from accel.__main__ import gpu_lines

FINE = {"problem": "", "way_out": "", "absent": False}
NVRTC = {"path": "/lib/libnvrtc.so.13", "version": "13.5", "works": True, "seconds": 0.1, "problem": "", "way_out": ""}
NO_NVRTC = {**NVRTC, "path": "", "works": False, "problem": "not found", "way_out": "pip install 'accel-numpy[cuda]'"}
BROKEN_NVRTC = {**NVRTC, "works": False, "problem": "failed", "way_out": "pip install it again"}
CUBLAS = {**FINE, "path": "/lib/libcublas.so.13", "version": "13.10"}
NO_CUBLAS = {**CUBLAS, "path": "", "problem": "not found", "way_out": "pip install 'accel-numpy[cuda-libraries]'"}
H200 = {
    **FINE,
    "name": "NVIDIA H200",
    "architecture": 90,
    "processors": 132,
    "free_bytes": 150_000_000_000,
    "total_bytes": 151_000_000_000,
}
CUSOLVER = {**FINE, "path": "/lib/libcusolver.so.12", "version": "12.4"}
CUFFT = {**FINE, "path": "/lib/libcufft.so.12", "version": "12.2"}
LIBRARIES = {"cuBLAS": CUBLAS, "cuSOLVER": CUSOLVER, "cuFFT": CUFFT}
LOST = {"problem": "device lost", "way_out": "a new process", "absent": False}
MACHINE = {**FINE, "driver": 13000, "devices": [H200], "libraries": LIBRARIES}
NO_DRIVER = {**MACHINE, "problem": "no driver", "absent": True, "devices": []}


def test_a_machine_with_a_gpu():
    lines = list(gpu_lines(MACHINE, NVRTC))
    assert all(works for works, _, _ in lines)
    text = "\n".join(finding for _, finding, _ in lines)
    for part in (
        "1 device(s), driver for CUDA 13.0",
        "cuda:0: NVIDIA H200, compute capability 9.0, 132",
        "151.0 GB",
        "13.5",
        "13.10",
        "cuSOLVER: /lib/libcusolver.so.12 (12.4)",
        "cuFFT: /lib/libcufft.so.12 (12.2)",
    ):
        assert part in text


@pytest.mark.parametrize("report", [NO_DRIVER, {**MACHINE, "devices": []}])
def test_no_gpu_is_no_fault(report):
    lines = list(gpu_lines({**report, "libraries": {"cuBLAS": NO_CUBLAS}}, NO_NVRTC))
    assert all(works for works, _, _ in lines)
    text = "\n".join(finding for _, finding, _ in lines)
    assert "GPU: none" in text and "accel-numpy[cuda]" in text and "accel-numpy[cuda-libraries]" in text


@pytest.mark.parametrize(
    ("report", "nvrtc"),
    [
        (MACHINE, NO_NVRTC),
        (MACHINE, BROKEN_NVRTC),
        (NO_DRIVER, BROKEN_NVRTC),
        ({**MACHINE, "libraries": {**LIBRARIES, "cuBLAS": NO_CUBLAS}}, NVRTC),
        ({**MACHINE, "problem": "no answer", "way_out": "restart", "devices": []}, NVRTC),
        ({**MACHINE, "devices": [H200, LOST]}, NVRTC),
    ],
)
def test_what_does_not_work_is_a_fault_with_a_way_out(report, nvrtc):
    faults = [(finding, way_out) for works, finding, way_out in gpu_lines(report, nvrtc) if not works]
    assert len(faults) == 1 and faults[0][1]


def test_this_machine():
    report = _accel.examine_cuda()
    assert report["absent"] == (report["driver"] == 0) or report["devices"]
    environment = {**os.environ, "ACCEL_NVRTC": "/nowhere/libnvrtc.so"}
    done = subprocess.run(
        [sys.executable, "-m", "accel", "doctor"], env=environment, capture_output=True, text=True, check=False
    )
    assert all(f"{library}:" in done.stdout for library in ("NVRTC", "cuBLAS", "cuSOLVER", "cuFFT"))
    assert done.returncode == 0 or report["devices"], done.stdout + done.stderr
