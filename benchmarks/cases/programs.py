"""Whole programs with loops, branches and stores: those of tests/programs, at their full size."""

import ctypes
import dataclasses
import sys
from pathlib import Path

import numpy as np

from benchmarks.case import Case, Ceiling
from benchmarks.ceiling import library, pointer
from benchmarks.loops import sources

sys.path.append(str(Path(__file__).resolve().parents[2] / "tests"))
from support.whole_programs import all_programs  # noqa: E402


def _escape_time(real, imag, steps, bound, z, count):
    size = ctypes.c_int64
    run = library("mandelbrot").escape_time
    axes = pointer(real), size(len(real)), pointer(imag), size(len(imag))
    run(*axes, size(steps), ctypes.c_double(bound), pointer(z), pointer(count))


MANDELBROT = {"ceiling": Ceiling(_escape_time, "all steps in registers, strips that end when their points have escaped")}
CEILINGS = {"escape_time": MANDELBROT, "escape_time_by_steps": MANDELBROT}
LARGE = {"escape_time", "escape_time_linspace", "escape_time_by_steps", "escape_time_where"}


def case(program, loops):
    def make(size):
        return lambda rng: program.make(rng, *size)

    return Case(
        program.name,
        program.function,
        make(program.full or program.large),
        make(program.small),
        CEILINGS.get(program.name, {}),
        loops,
        about=" x ".join(map(str, program.full or program.large)) or "one call",
        large=program.name in LARGE,
        parallel=loops is not None,
        rows=False,
    )


def escape_step_by_step(step, real, imag, steps, bound):
    """The loop of the picture in Python; each of its iterations is a call of what was compiled."""
    c = real + 1j * imag[:, None]
    z = np.zeros(c.shape, dtype=np.complex64)
    count = np.zeros(c.shape, dtype=int)
    for k in range(steps):
        step(z, c, count, k, bound)
    count[count == steps - 1] = 0
    return z, count


SOURCES, PROGRAMS = sources(), all_programs()
CASES = [case(program, SOURCES.get(name)) for name, program in PROGRAMS.items()]
CASES.append(
    dataclasses.replace(
        case(PROGRAMS["escape_time_by_steps"], SOURCES["escape_step"]),
        name="escape_steps",
        function=PROGRAMS["escape_step"].function,
        caller=escape_step_by_step,
        ceilings={},
        large=False,
    )
)
