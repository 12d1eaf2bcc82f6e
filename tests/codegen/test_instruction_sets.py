"""Kernels compiled for CPUs that this machine need not be."""

import os
import shutil
import subprocess
import sys
import textwrap
import warnings

import numpy as np
import pytest
from numpy._core._multiarray_umath import __cpu_dispatch__
from support.compiled import facts
from support.differential import check
from support.outcome import assert_same

import accel


def assembly(function, *arguments, march):
    source = accel.explain(accel.compile(function))(*arguments).source
    flags = ["-O3", "-ffp-contract=off", "-ftrapping-math", "-std=c++20", "-w", f"-march={march}"]
    done = subprocess.run(["g++", *flags, "-x", "c++", "-S", "-o", "-", "-"], input=source, capture_output=True, text=True)
    if "bad value" in done.stderr or "-march=" in done.stderr:
        pytest.skip(f"g++ does not know {march}")
    assert done.returncode == 0, done.stderr
    return done.stdout


def escape(z, c, steps, bound):
    z = z.copy()
    count = np.zeros(z.shape, dtype=int)
    for k in range(steps):
        inside = np.abs(z) < bound
        count[inside] = k
        z[inside] = z[inside] ** 2 + c[inside]
    return z, count


def newton(z, c, steps, bound):
    """Divisions and roots, which lanes that have ended would do outside of the operations' domains."""
    x = np.abs(c)
    near = x * 0
    for k in range(steps):
        open_ = x * x > bound
        x[open_] = np.sqrt(x[open_] * x[open_] - bound) - 1 / (x[open_] * x[open_] - bound)
        near[open_] = k / x[open_]
    return x, near


def plane(dtype, rows, columns):
    return (np.linspace(-2.2, 0.8, columns) + 1j * np.linspace(-1.2, 1.2, rows)[:, None]).astype(dtype)


MARCHES = ["x86-64", "x86-64-v2", "x86-64-v3", "native"]


@pytest.fixture
def march(request):
    """Kernels that use no more of the CPU than this."""
    if request.param != "native" and request.param not in supported_marches():
        pytest.skip(f"this CPU has no {request.param}")
    before = accel.config.extra_flags
    accel.config.extra_flags = f"{before} -march={request.param}"
    yield request.param
    accel.config.extra_flags = before


def supported_marches():
    features = subprocess.run(["grep", "-m1", "^flags", "/proc/cpuinfo"], capture_output=True, text=True).stdout.split()
    needed = {"x86-64": {"sse2"}, "x86-64-v2": {"sse4_2"}, "x86-64-v3": {"avx2", "fma", "bmi2"}}
    return [march for march, names in needed.items() if names <= set(features)]


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("body", [escape, newton])
@pytest.mark.parametrize("march", MARCHES, indirect=True)
def test_loops_in_vectors(march, body, dtype):
    """Groups of lanes of all lengths, with the bits that NumPy has on this CPU."""
    for shape in ((1, 1), (3, 5), (7, 41), (13, 64)):
        c = plane(dtype, *shape)
        for steps in (0, 1, 30):
            with np.errstate(divide="ignore"):
                call = check(body, np.zeros_like(c), c, steps, 2.0)
    assert "raised.found()" in accel.explain(call)(np.zeros_like(c), c, steps, 2.0).source


@pytest.mark.parametrize("march", MARCHES, indirect=True)
def test_lanes_that_have_ended_are_silent(march):
    """Squares of what has escaped overflow; nothing but the lanes that have not ended is NumPy's."""
    c = plane("complex64", 20, 40)
    call = accel.compile(escape)
    with np.errstate(all="warn"), warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        for _ in range(2):
            assert_same(escape, call, np.zeros_like(c), c, 40, 2.0**40, times=1)
    assert not seen
    assert facts(call)["interpreted"] == 0


@pytest.mark.parametrize("march", MARCHES, indirect=True)
def test_events_of_active_lanes(march):
    """The last value of a lane says that it had an event, whatever the others did."""
    c = plane("complex64", 20, 40)
    for place in ((0, 0), (11, 17), (19, 39)):
        z = np.zeros_like(c)
        z[place] = 1.5e19 + 1e19j
        call = accel.compile(escape)
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            assert_same(escape, call, z, c, 40, 2.0**80, times=2)
        with np.errstate(over="ignore", invalid="ignore"):
            assert_same(escape, call, z, c, 40, 2.0**80, times=2)


@pytest.mark.parametrize("march", MARCHES, indirect=True)
def test_halves(march):
    """float16 is a type of the prelude's where the CPU does not convert it."""

    def function(x, y):
        return np.heaviside(x, y), np.sqrt(np.abs(x)) + y, np.maximum(x, y), np.sign(x) * y, x.astype("f") > y

    x = np.array([0, -0.0, 1, -2, 6e-8, 65504, np.inf, -np.inf, np.nan] * 9, np.float16)
    with np.errstate(all="ignore"):
        check(function, x, x[::-1].copy())


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")
@pytest.mark.parametrize(
    "march, instruction",
    [("x86-64-v4", "vaddps %zmm"), ("x86-64-v3", "vblendvps"), ("x86-64-v2", "movmskps"), ("x86-64", "movmskps")],
)
def test_masks_of_each_set(march, instruction):
    """Masked instructions where there are some, else selections between whole vectors."""
    c = plane("complex64", 7, 41)
    text = assembly(escape, np.zeros_like(c), c, 30, 2.0, march=march)
    assert instruction in text.replace("\t", " ")
    assert ("{%k" in text) == (march == "x86-64-v4")


def test_products_of_a_numpy_without_its_instructions(tmp_path):
    """Whether a product and a sum are rounded once is NumPy's choice, which the environment may change."""
    program = """
        import numpy as np, accel
        numbers = np.random.default_rng(0).normal(size=(4, 1000)).view("D")
        def function(a, b):
            return a * b, np.abs(a), a.astype("F") ** 2
        call = accel.compile(function)
        for _ in range(2):
            for found, wanted in zip(call(numbers[0], numbers[1]), function(numbers[0], numbers[1])):
                assert found.tobytes() == wanted.tobytes()
        assert accel.stats(call)["compiled"] == 2, accel.stats(call)
    """
    environment = {**os.environ, "NPY_DISABLE_CPU_FEATURES": " ".join(__cpu_dispatch__)}
    path = tmp_path / "products.py"
    path.write_text(textwrap.dedent(program))
    done = subprocess.run([sys.executable, "-W", "ignore", path], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")
def test_float16_without_its_instructions():
    """The same steps on every CPU: assemblers refuse some of the instructions for float16, and their events are others."""

    def function(x):
        y = x * 2
        y[y > 1] = 0
        y -= x
        return y

    text = assembly(function, np.arange(6, dtype=np.float16), march="sapphirerapids")
    assert "vcvtph2ps" in text
    assert not any(name in text for name in ("vaddph", "vmulph", "vsubph", "vmovsh", "vmovw", "vcmpph"))
