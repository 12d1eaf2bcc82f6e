"""Kernels for aarch64: the tests beside this one, cross-compiled and run in an emulator.

These are the ones whose text depends on the CPU. ACCEL_TEST_MACHINE=aarch64 has all tests of this folder run so.
"""

import emulated
import kernels
import pytest
import test_emitted
import test_flow
import test_kernel_reductions
import test_kernels

MANDELBROT = [((33, 50), 60), ((7, 64), 1), ((1, 1), 60)]
CASES = [
    *[(test_flow.test_mandelbrot, shape, steps) for shape, steps in MANDELBROT],
    *[(test_flow.test_complex, "complex64", op, result, True) for op, result in (("square", "c"), ("absolute", "f"))],
    *[(test_emitted.test_cast, source) for source in ("float16", "float64")],
    *[(test_emitted.test_extremes, op) for op in ("maximum", "fmin")],
    *[(test_emitted.test_unary, op) for op in ("sqrt", "rint")],
    (test_emitted.test_binary, "floor_divide"),
    (test_emitted.test_integer_events,),
    *[(test_kernel_reductions.test_pairwise, dtype, False) for dtype in ("float16", "float32", "complex128")],
    (test_kernel_reductions.test_argreduce, "argmin", "float64"),
    (test_kernels.test_a_selection_keeps_the_events_of_what_it_drops, 64),
]


@pytest.fixture
def aarch64(monkeypatch):
    if program := emulated.missing("aarch64"):
        pytest.skip(f"{program} is not installed (Debian: g++-aarch64-linux-gnu, qemu-user)")
    monkeypatch.setattr(kernels, "MACHINE", "aarch64")
    runs, call = [], emulated.Program.__call__

    def counted(self, *given, **named):
        runs.append(self.machine)
        return call(self, *given, **named)

    monkeypatch.setattr(emulated.Program, "__call__", counted)
    yield
    assert set(runs) == {"aarch64"}


@pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join(getattr(part, "__name__", str(part)) for part in case))
def test_on_aarch64(case, aarch64):
    test, *arguments = case
    test(*arguments)
