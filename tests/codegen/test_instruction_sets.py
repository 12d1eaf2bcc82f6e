"""Kernels compiled for CPUs that this machine need not be."""

import shutil
import subprocess

import numpy as np
import pytest

import accel


def assembly(function, *arguments, march):
    source = accel.explain(accel.compile(function))(*arguments).source
    flags = ["-O3", "-ffp-contract=off", "-ftrapping-math", "-std=c++20", "-w", f"-march={march}"]
    done = subprocess.run(["g++", *flags, "-x", "c++", "-S", "-o", "-", "-"], input=source, capture_output=True, text=True)
    if "bad value" in done.stderr or "-march=" in done.stderr:
        pytest.skip(f"g++ does not know {march}")
    assert done.returncode == 0, done.stderr
    return done.stdout


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
