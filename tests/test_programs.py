"""Whole programs (tests/programs), written as a scientist writes them: each is one compiled function, and does what NumPy
does.
"""

import numpy as np
import pytest
from support.compiled import compile_count, facts
from support.outcome import assert_same
from support.whole_programs import all_programs

import accel

PROGRAMS = all_programs()

# What is not captured whole yet: reason code, line in tests/programs, detail.
# `python tests/support/whole_programs.py --table` prints this table anew. A table that is up to date is strict.
UP_TO_DATE = True
LEFT = {}


def marked(name):
    left = pytest.mark.xfail(strict=UP_TO_DATE, reason=LEFT.get(name, ""))
    return pytest.param(PROGRAMS[name], id=name, marks=[left] if name in LEFT else [])


@pytest.mark.parametrize("program", [marked(name) for name in PROGRAMS])
def test_captured_whole(program):
    """One compile serves the small call and the large one, and nothing of either runs in the interpreter."""
    call = accel.compile(program.function, fullgraph=True)
    for size in (program.small, program.large):
        call(*program.arguments(size))  # raises when it is not captured whole
    for size in (program.small, program.large, program.small):
        assert_same(program.function, call, *program.arguments(size), times=1)
    assert compile_count(call) == 1
    assert facts(call)["interpreted"] == facts(call)["side_exits"] == 0


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name in LEFT or PROGRAMS[name].bad])
def test_same_as_numpy(name):
    """However much of it is compiled, and after bad input."""
    if LEFT.get(name, "").startswith("compiler_timeout"):
        pytest.skip(LEFT[name])
    program = PROGRAMS[name]
    call = accel.compile(program.function)
    for size in (program.small, program.large) if name in LEFT else (program.small,):
        assert_same(program.function, call, *program.arguments(size), times=1)
    if program.bad:
        assert_same(program.function, call, *program.bad(np.random.default_rng(0)), times=2)
        assert_same(program.function, call, *program.arguments(program.small), times=1)


def test_table_names_programs():
    assert set(LEFT) <= set(PROGRAMS)


def test_a_step_that_is_called_200_times():
    """The caller keeps the arrays; the compiled function changes them each time."""
    program = PROGRAMS["escape_step"]
    step = accel.compile(program.function)
    arrays = []
    for function in (program.function, step):
        z, c, count, _, bound = program.arguments(program.small)
        for k in range(200):
            assert function(z, c, count, k, bound) is None
        arrays.append((z, c, count))
    for expected, found in zip(*arrays):
        assert expected.tobytes() == found.tobytes()
    assert len(np.unique(arrays[0][2])) > 3


@pytest.mark.parametrize("exit", [3, 11, 37])
@pytest.mark.parametrize("name", PROGRAMS)
def test_left_at_an_exit(name, exit):
    """The interpreter goes on from there as if it had run everything."""
    program = PROGRAMS[name]
    with accel.config(stress_exits=exit):
        call = accel.compile(program.function, backend="numpy")
        assert_same(program.function, call, *program.arguments(program.small), times=2)
