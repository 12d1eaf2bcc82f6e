"""Work on the rows of a matrix: a reduction, then its result against the row again."""

import ctypes

import numpy as np

from benchmarks.case import Case, Ceiling
from benchmarks.ceiling import library, loop, pointer

try:
    from numba import prange
except ImportError:
    prange = range


def softmax(x):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


def layer_norm(x, scale, shift):
    mean = np.mean(x, axis=-1, keepdims=True)
    variance = np.var(x, axis=-1, keepdims=True)
    return (x - mean) / np.sqrt(variance + 1e-5) * scale + shift


def softmax_by_loops(x):
    """As a Numba user writes it."""
    result = np.empty_like(x)
    for r in prange(x.shape[0]):
        top = x[r].max()
        total = np.float32(0)
        for c in range(x.shape[1]):
            result[r, c] = np.exp(x[r, c] - top)
            total += result[r, c]
        for c in range(x.shape[1]):
            result[r, c] /= total
    return result


def _softmax(x, result):
    size = ctypes.c_int64
    library("softmax").softmax(
        ctypes.byref(loop(np.exp, "f4")[0]), pointer(x), size(x.shape[0]), size(x.shape[1]), pointer(result)
    )


def matrix(rows, columns):
    return lambda rng: (rng.standard_normal((rows, columns), np.float32),)


def matrix_and_vectors(rows, columns):
    return lambda rng: (
        rng.standard_normal((rows, columns)),
        rng.standard_normal(columns),
        rng.standard_normal(columns),
    )


CASES = [
    Case(
        "softmax",
        softmax,
        matrix(4096, 4096),
        matrix(256, 256),
        {"ceiling": Ceiling(_softmax, "NumPy's exp loop and its tree of additions, row by row")},
        numba=softmax_by_loops,
        about="4096 x 4096 float32",
    ),
    Case(
        "layer_norm",
        layer_norm,
        matrix_and_vectors(2048, 1024),
        matrix_and_vectors(64, 256),
        about="2048 x 1024 float64",
    ),
]
