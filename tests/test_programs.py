"""Whole programs (tests/programs), written as a scientist writes them: each is one compiled function, and does what NumPy does."""

import numpy as np
import pytest
from support.compiled import compile_count, facts
from support.outcome import assert_same
from support.whole_programs import all_programs

import accel

PROGRAMS = all_programs()

# What is not captured whole yet: reason code, line in tests/programs, detail.
# `python tests/support/whole_programs.py --table` prints this table anew.
LEFT = {
    "cholesky": "store_to_argument, line 8: a",
    "cholesky_by_elements": "unsupported_opcode, line 20: a loop over a range that is not constant",
    "gram_schmidt": "unsupported_opcode, line 39: a loop over a range that is not constant",
    "conjugate_gradient": "data_dependent_branch, line 13: the condition is computed from array data",
    "bicgstab": "unsupported_opcode, line 32: a loop over a range that is not constant",
    "poisson_cg": "unsupported_opcode, line 67: a loop over a range that is not constant",
    "power_iteration": "data_dependent_branch, line 88: the condition is computed from array data",
    "newton_roots": "unsupported_opcode, line 96: a loop over a range that is not constant",
    "deep": "unsupported_opcode, line 8: iteration over an array",
    "durbin": "unsupported_opcode, line 12: a loop over a range that is not constant",
    "levinson": "unsupported_opcode, line 26: a loop over a range that is not constant",
    "fdtd_2d": "unsupported_opcode, line 8: a loop over a range that is not constant",
    "wave": "unsupported_opcode, line 20: a loop over a range that is not constant",
    "upwind": "unsupported_opcode, line 33: a loop over a range that is not constant",
    "heat_implicit": "unsupported_opcode, line 46: a loop over a range that is not constant",
    "burgers": "unsupported_opcode, line 62: a loop over a range that is not constant",
    "floyd_warshall": "unsupported_opcode, line 8: a loop over a range that is not constant",
    "floyd_warshall_by_elements": "unsupported_opcode, line 15: a loop over a range that is not constant",
    "bellman_ford": "unsupported_opcode, line 29: a loop over a range that is not constant",
    "life": "unsupported_opcode, line 9: a loop over a range that is not constant",
    "life_on_a_torus": "unsupported_opcode, line 28: a loop over a range that is not constant",
    "life_by_cells": "unsupported_opcode, line 38: a loop over a range that is not constant",
    "elementary_automaton": "unsupported_opcode, line 61: a loop over a range that is not constant",
    "sandpile": "data_dependent_branch, line 72: the condition is computed from array data",
    "gauss_seidel": "unsupported_opcode, line 9: a loop over a range that is not constant",
    "gauss_seidel_9_points": "unsupported_opcode, line 16: a loop over a range that is not constant",
    "successive_over_relaxation": "unsupported_opcode, line 30: a loop over a range that is not constant",
    "red_black": "unsupported_opcode, line 42: a loop over a range that is not constant",
    "gray_scott": "unsupported_opcode, line 13: a loop over a range that is not constant",
    "fitzhugh_nagumo": "unsupported_opcode, line 27: a loop over a range that is not constant",
    "lotka_volterra": "unsupported_opcode, line 53: a loop over a range that is not constant",
    "jacobi": "unsupported_opcode, line 8: a loop over a range that is not constant",
    "jacobi_two_grids": "unsupported_opcode, line 13: a loop over a range that is not constant",
    "jacobi_to_tolerance": "store_to_argument, line 24: u",
    "kalman": "unsupported_attribute, line 12: numpy.ndarray.flat",
    "kalman_scalar": "unsupported_opcode, line 30: a loop over a range that is not constant",
    "viterbi": "unsupported_argument, line 44: the value is known at run time only",
    "forward_backward": "unsupported_argument, line 62: the value is known at run time only",
    "garch": "unsupported_opcode, line 82: a loop over a range that is not constant",
    "binomial_option": "compiler_timeout, line 101: the loop is unrolled",
    "kmeans": "unsupported_opcode, line 8: a loop over a range that is not constant",
    "kmeans_by_sums": "unsupported_call, line 24: bincount",
    "kmeans_by_points": "unsupported_opcode, line 40: a loop over a range that is not constant",
    "nearest_neighbours": "unsupported_opcode, line 65: iteration over an array",
    "lattice_boltzmann": "compiler_timeout, line 12: the loop is unrolled",
    "cavity_flow": "unsupported_opcode, line 36: a loop over a range that is not constant",
    "lu": "unsupported_opcode, line 9: a loop over a range that is not constant",
    "lu_by_columns": "unsupported_opcode, line 20: a loop over a range that is not constant",
    "lu_with_pivots": "unsupported_opcode, line 30: a loop over a range that is not constant",
    "solve_by_elements": "unsupported_attribute, line 45: numpy.ndarray.flat",
    "triangular_solve": "unsupported_opcode, line 69: a loop over a range that is not constant",
    "escape_time": "unsupported_opcode, line 11: a loop over a range that is not constant",
    "escape_time_linspace": "unsupported_call, line 20: numpy._core._multiarray_umath._array_converter",
    "escape_step": "store_to_argument, line 35: count",
    "escape_time_by_steps": "unsupported_opcode, line 43: a loop over a range that is not constant",
    "escape_time_where": "unsupported_call, line 51: numpy.broadcast",
    "escape_time_by_points": "unsupported_opcode, line 66: a loop over a range that is not constant",
    "metropolis": "unsupported_opcode, line 13: a loop over a range that is not constant",
    "metropolis_drawn_before": "unsupported_opcode, line 29: a loop over a range that is not constant",
    "ising": "unsupported_opcode, line 43: a loop over a range that is not constant",
    "ising_checkerboard": "unsupported_opcode, line 58: a loop over a range that is not constant",
    "random_walks": "unsupported_opcode, line 71: a loop over a range that is not constant",
    "bootstrap": "unsupported_opcode, line 81: a loop over a range that is not constant",
    "nbody": "store_to_argument, line 30: a store into an array that Python can reach",
    "planets": "unsupported_opcode, line 49: a loop over a range that is not constant",
    "lennard_jones": "unsupported_opcode, line 70: a loop over a range that is not constant",
    "pagerank": "data_dependent_branch, line 18: the condition is computed from array data",
    "pagerank_sparse": "unsupported_opcode, line 27: a loop over a range that is not constant",
    "sparse_times_vector": "unsupported_opcode, line 45: a loop over a range that is not constant",
    "breadth_first": "data_dependent_branch, line 57: the condition is computed from array data",
    "triangles": "unsupported_opcode, line 67: a loop over a range that is not constant",
    "ray_march": "unsupported_call, line 28: numpy._core._multiarray_umath._array_converter",
    "bilateral": "data_dependent_branch, line 52: the truth of an array",
    "dither": "unsupported_opcode, line 69: a loop over a range that is not constant",
    "julia": "unsupported_value, line 97: arithmetic of Python numbers known at run time only",
    "standardise": "data_dependent_branch, line 13: the condition is computed from array data",
    "softplus": "data_dependent_branch, line 19: the condition is computed from array data",
    "safe_solve": "data_dependent_branch, line 28: the condition is computed from array data",
    "checked_mean": "data_dependent_branch, line 37: the condition is computed from array data",
    "quadratic": "unsupported_opcode, line 50: a loop over a range that is not constant",
    "newton": "not_profitable, line 68: no array",
    "adaptive": "data_dependent_branch, line 104: the condition is computed from array data",
    "move": "unsupported_opcode, line 146: a loop over a range that is not constant",
    "swap_rows": "unsupported_index, line 166: an index that is no integer, slice, newaxis or Ellipsis",
    "try_to_invert": "unsupported_call, line 174: errstate",
    "piecewise": "unsupported_opcode, line 181: a loop over a range that is not constant",
    "running_mean": "unsupported_opcode, line 11: a loop over a range that is not constant",
    "exponential_smoothing": "unsupported_opcode, line 20: a loop over a range that is not constant",
    "prefix_sums": "unsupported_opcode, line 28: a loop over a range that is not constant",
    "fibonacci": "unsupported_opcode, line 36: a loop over a range that is not constant",
    "logistic_map": "unsupported_opcode, line 43: a loop over a range that is not constant",
    "upper_triangle": "unsupported_opcode, line 51: a loop over a range that is not constant",
    "symmetrise": "unsupported_opcode, line 58: a loop over a range that is not constant",
    "pairwise_distances": "unsupported_opcode, line 67: a loop over a range that is not constant",
    "histogram": "unsupported_opcode, line 76: iteration over an array",
    "histogram_2d": "unsupported_opcode, line 88: a loop over a range that is not constant",
    "scatter_add": "unsupported_opcode, line 94: iteration over an array",
    "gather_and_interpolate": "unsupported_index, line 105: an index that is no integer, slice, newaxis or Ellipsis",
    "fill_gaps": "unsupported_opcode, line 112: a loop over a range that is not constant",
    "mask_stores": "store_to_argument, line 121: a",
    "relax": "unsupported_opcode, line 132: a loop over a range that is not constant",
    "xorshift": "unsupported_opcode, line 144: a loop over a range that is not constant",
    "linear_congruential": "unsupported_opcode, line 155: a loop over a range that is not constant",
    "crc32": "unsupported_opcode, line 163: iteration over an array",
    "popcounts": "data_dependent_branch, line 172: the condition is computed from array data",
    "knapsack": "unsupported_opcode, line 200: a loop over a range that is not constant",
    "longest_increasing": "unsupported_opcode, line 209: a loop over a range that is not constant",
    "matrix_chain": "unsupported_opcode, line 220: a loop over a range that is not constant",
    "convolve": "unsupported_opcode, line 235: a loop over a range that is not constant",
    "matrix_product": "unsupported_opcode, line 243: a loop over a range that is not constant",
    "fast_fourier": "unsupported_index, line 257: an index that is no integer, slice, newaxis or Ellipsis",
    "local_maxima": "unsupported_opcode, line 274: a loop over a range that is not constant",
    "rotations": "unsupported_opcode, line 283: iteration over an array",
    "horner": "unsupported_argument, line 9: reversed of this object",
    "weighted_columns": "unsupported_opcode, line 16: iteration over an array",
    "pairs": "unsupported_opcode, line 24: iteration over an array",
    "row_norms": "unsupported_opcode, line 32: iteration over an array",
    "smallest_divisors": "unsupported_opcode, line 38: a loop over a range that is not constant",
    "first_above": "unsupported_opcode, line 51: iteration over an array",
    "find_in_matrix": "unsupported_opcode, line 61: a loop over a range that is not constant",
    "bisection": "data_dependent_branch, line 78: the condition is computed from array data",
    "collatz": "unsupported_opcode, line 87: a loop over a range that is not constant",
    "sieve": "unsupported_value, line 98: arithmetic of Python numbers known at run time only",
    "simpson": "unsupported_value, line 106: arithmetic of Python numbers known at run time only",
    "euclid": "unsupported_opcode, line 116: a loop over a range that is not constant",
    "insertion_sort": "unsupported_opcode, line 125: a loop over a range that is not constant",
    "bubble_sort": "unsupported_opcode, line 138: a loop over a range that is not constant",
    "smith_waterman": "unsupported_opcode, line 12: a loop over a range that is not constant",
    "smith_waterman_traced": "unsupported_opcode, line 25: a loop over a range that is not constant",
    "edit_distance": "unsupported_opcode, line 48: a loop over a range that is not constant",
    "smith_waterman_by_antidiagonals": "unsupported_opcode, line 61: a loop over a range that is not constant",
    "integrate": "compiler_timeout, line 86: the loop is unrolled",
    "gray_codes": "guard_failed, line 181: a version for each argument",
}


def marked(name):
    left = pytest.mark.xfail(strict=True, reason=LEFT.get(name, ""))
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
