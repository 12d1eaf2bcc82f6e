"""Whole programs (tests/programs), written as a scientist writes them: each is one compiled function, and does what NumPy does."""

import numpy as np
import pytest
from support.compiled import compile_count, facts
from support.outcome import assert_same
from support.whole_programs import all_programs

import accel

PROGRAMS = all_programs()

# What is not captured whole yet: reason code, line in tests/programs, detail.
# `python tests/support/whole_programs.py --table` prints this table anew. A table that is up to date is strict.
UP_TO_DATE = False
LEFT = {
    "cholesky_by_elements": "will_raise, line 27: ValueError",
    "conjugate_gradient": "unsupported_value, line 21: arithmetic of Python numbers known at run time only",
    "durbin": "unsupported_value, line 14: an item of this object",
    "levinson": "generator, line 27: <genexpr>",
    "wave": "capture_budget, line 21: 32160 instructions",
    "life_on_a_torus": "generator, line 29: <genexpr>",
    "elementary_automaton": "generator, line 61: <genexpr>",
    "sandpile": "unsupported_index, line 72: an index that is no integer, slice, newaxis or Ellipsis",
    "successive_over_relaxation": "will_raise, line 37: a variable without a value",
    "jacobi_to_tolerance": "unsupported_value, line 26: arithmetic of Python numbers known at run time only",
    "kalman": "unsupported_attribute, line 12: numpy.ndarray.flat",
    "kalman_scalar": "unsupported_value, line 32: division by a Python number known at run time only",
    "binomial_option": "unsettled_types, line 97",
    "kmeans": "unsupported_index, line 11: an index that is no integer, slice, newaxis or Ellipsis",
    "kmeans_by_sums": "unsupported_call, line 24: bincount",
    "kmeans_by_points": "unsupported_value, line 52: arithmetic of Python numbers known at run time only",
    "nearest_neighbours": "unsupported_call, line 67: <method_descriptor>",
    "lattice_boltzmann": "generator, line 14: <genexpr>",
    "lu_with_pivots": "will_raise, line 33: ValueError",
    "solve_by_elements": "unsupported_attribute, line 45: numpy.ndarray.flat",
    "escape_time": "unsupported_index, line 14: an index that is no integer, slice, newaxis or Ellipsis",
    "escape_time_linspace": "unsupported_call, line 20: numpy._core._multiarray_umath._array_converter",
    "escape_step": "unsupported_index, line 36: an index that is no integer, slice, newaxis or Ellipsis",
    "escape_time_by_steps": "unsupported_index, line 36: an index that is no integer, slice, newaxis or Ellipsis",
    "escape_time_where": "unsupported_call, line 51: numpy.broadcast",
    "escape_time_by_points": "unsupported_argument, line 68: the value is known at run time only",
    "metropolis": "unsupported_attribute, line 14: numpy.random._generator.Generator.normal",
    "metropolis_drawn_before": "unsupported_value, line 34: arithmetic of Python numbers known at run time only",
    "ising": "unsupported_attribute, line 45: numpy.random._generator.Generator.integers",
    "ising_checkerboard": "generator, line 60: <genexpr>",
    "random_walks": "unsupported_attribute, line 72: numpy.random._generator.Generator.integers",
    "bootstrap": "unsupported_attribute, line 82: numpy.random._generator.Generator.choice",
    "nbody": "unsupported_index, line 11: an index that is no integer, slice, newaxis or Ellipsis",
    "pagerank": "unsupported_value, line 17: arithmetic of Python numbers known at run time only",
    "pagerank_sparse": "unsupported_argument, line 36: a range of huge bounds",
    "sparse_times_vector": "unsupported_index, line 47: an index that is no integer, slice, newaxis or Ellipsis",
    "breadth_first": "unsupported_index, line 59: an index that is no integer, slice, newaxis or Ellipsis",
    "triangles": "unsupported_value, line 73: arithmetic of Python numbers known at run time only",
    "ray_march": "unsupported_call, line 28: numpy._core._multiarray_umath._array_converter",
    "bilateral": "will_raise, line 52: ValueError",
    "julia": "unsupported_value, line 97: arithmetic of Python numbers known at run time only",
    "safe_solve": "will_raise, line 29: ZeroDivisionError",
    "checked_mean": "unsupported_opcode, line 40: the text of a value",
    "newton": "unsupported_value, line 66: division by a Python number known at run time only",
    "integrate": "unsupported_value, line 85: arithmetic of Python numbers known at run time only",
    "adaptive": "data_dependent_branch, line 98: the condition is computed from array data",
    "move": "unsupported_value, line 147: body: Body",
    "swap_rows": "unsupported_index, line 166: an index that is no integer, slice, newaxis or Ellipsis",
    "try_to_invert": "unsupported_call, line 174: errstate",
    "histogram": "unsupported_argument, line 78: int of a floating-point number",
    "scatter_add": "unsupported_call, line 96: <method_descriptor>",
    "gather_and_interpolate": "unsupported_index, line 105: an index that is no integer, slice, newaxis or Ellipsis",
    "mask_stores": "unsupported_index, line 124: an index that is no integer, slice, newaxis or Ellipsis",
    "linear_congruential": "unsupported_value, line 156: arithmetic of Python numbers known at run time only",
    "crc32": "unsupported_value, line 164: arithmetic of Python numbers known at run time only",
    "gray_codes": "unsupported_value, line 185: arithmetic of Python numbers known at run time only",
    "knapsack": "unsupported_argument, line 201: a range of huge bounds",
    "fast_fourier": "unsupported_index, line 257: an index that is no integer, slice, newaxis or Ellipsis",
    "local_maxima": "unsettled_types, line 274",
    "rotations": "will_raise, line 283: an index is out of bounds",
    "horner": "unsupported_argument, line 9: reversed of this object",
    "row_norms": "unsettled_types, line 32",
    "smallest_divisors": "unsupported_value, line 41: arithmetic of Python numbers known at run time only",
    "find_in_matrix": "unsupported_value, line 65: arithmetic of Python numbers known at run time only",
    "bisection": "unsupported_value, line 77: arithmetic of Python numbers known at run time only",
    "collatz": "unsupported_argument, line 90: the value is known at run time only",
    "sieve": "unsupported_value, line 98: arithmetic of Python numbers known at run time only",
    "simpson": "unsupported_value, line 106: arithmetic of Python numbers known at run time only",
    "insertion_sort": "unsupported_argument, line 129: the value is known at run time only",
    "bubble_sort": "unsupported_value, line 143: arithmetic of Python numbers known at run time only",
    "smith_waterman": "data_dependent_branch, line 15: the condition is computed from array data",
    "smith_waterman_traced": "data_dependent_branch, line 28: the condition is computed from array data",
    "edit_distance": "data_dependent_branch, line 52: the condition is computed from array data",
    "smith_waterman_by_antidiagonals": "unsupported_index, line 64: an index that is no integer, slice, newaxis or Ellipsis",
}


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


@pytest.mark.parametrize("name", PROGRAMS)
def test_same_as_numpy(name):
    """However much of it is compiled."""
    if LEFT.get(name, "").startswith("compiler_timeout"):
        pytest.skip(LEFT[name])
    program = PROGRAMS[name]
    call = accel.compile(program.function)
    for size in (program.small, program.large):
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
