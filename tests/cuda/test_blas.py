"""Products by cuBLAS against NumPy, with a driver and a cuBLAS on memory of the host: what is asked of the library."""

import ctypes.util
import subprocess
import sys

import pytest

SCRIPT = """
import sys
import numpy as np
from accel import _accel

folder = sys.argv[1]
_accel.set_setting("cuda_driver", folder + "/libcuda.so.1")
_accel.set_cuda_library_folders([folder])
rng = np.random.default_rng(3)


def layouts(shape, dtype):
    # Dense, transposed, stretched, every second, a broadcast first axis, backwards.
    numbers = lambda s: (rng.integers(-9, 9, s) + (1j * rng.integers(-9, 9, s) if np.dtype(dtype).kind == "c" else 0)).astype(dtype)
    yield numbers(shape)
    yield numbers(shape[::-1]).T
    if shape:
        yield numbers((*shape[:-1], shape[-1] + 3))[..., : shape[-1]]
        yield numbers((*shape[:-1], 2 * shape[-1]))[..., ::2]
        yield np.broadcast_to(numbers(shape[1:]), shape)
        yield numbers(shape)[..., ::-1]


def run(name, shapes, out_shape, dtype, counts):
    for x in layouts(shapes[0], dtype):
        for y in layouts(shapes[1], dtype):
            for out in list(layouts(out_shape, dtype))[:4]:
                expected = getattr(np, name)(x, y)
                reason = _accel.call_blas(name, np.dtype(dtype).name, [x, y, out])
                counts[reason] = counts.get(reason, 0) + 1
                if not reason:
                    np.testing.assert_array_equal(out, expected, err_msg=f"{name} {shapes} {dtype} {x.strides} {y.strides} {out.strides}")


counts = {}
for dtype in ("f4", "f8", "c8", "c16"):
    for b in (1, 3):
        for k in (0, 1, 4):
            run("matmul", ((b, 2, k), (b, k, 5)), (b, 2, 5), dtype, counts)
            run("matvec", ((b, 2, k), (b, k)), (b, 2), dtype, counts)
            run("vecmat", ((b, k), (b, k, 5)), (b, 5), dtype, counts)
            run("vecdot", ((b, k), (b, k)), (b,), dtype, counts)
print(counts)
assert set(counts) == {"", "unsupported_layout"} and counts[""] > 1000, counts
"""


def test_products(libraries):
    done = subprocess.run([sys.executable, "-c", SCRIPT, str(libraries)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.skipif(ctypes.util.find_library("cublas") is not None, reason="the system has a cuBLAS")
def test_without_cublas(libraries, tmp_path):
    (tmp_path / "libcuda.so.1").symlink_to(libraries / "libcuda.so.1")
    code = (
        SCRIPT[: SCRIPT.index("rng =")]
        + 'x = np.ones((1, 2, 2))\nprint(_accel.call_blas("matmul", "float64", [x, x, x.copy()]))'
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "no_cuda_library", done.stdout + done.stderr
