"""k-means' assignment step: the index of the nearest centre of each point."""

import ctypes
import math

import numpy as np

from benchmarks.case import Case, Ceiling
from benchmarks.ceiling import library, pointer

try:
    from numba import prange
except ImportError:
    prange = range

POINTS = 20_000_000


def points_first(points, centres):
    return np.argmin(np.linalg.norm(points[:, None, :] - centres[None, :, :], axis=-1), axis=1)


def centres_first(points, centres):
    return np.argmin(np.linalg.norm(points[None, :, :] - centres[:, None, :], axis=-1), axis=0)


def inputs(count, dims=2, centres=2):
    return lambda rng: (rng.standard_normal((count, dims)), rng.standard_normal((centres, dims)))


def by_loops(points, centres):
    """As a Numba user writes it."""
    result = np.empty(points.shape[0], np.int64)
    for i in prange(points.shape[0]):
        best, best_distance = 0, math.inf
        for c in range(centres.shape[0]):
            total = 0.0
            for d in range(points.shape[1]):
                difference = points[i, d] - centres[c, d]
                total += difference * difference
            distance = math.sqrt(total)
            if distance < best_distance:
                best, best_distance = c, distance
        result[i] = best
    return result


def _general(points, centres, result):
    size = ctypes.c_int64
    run = library("kmeans").kmeans_general
    run(pointer(points), pointer(centres), size(len(centres)), size(points.shape[1]), size(len(points)), pointer(result))


def _two_by_two(points, centres, result):
    library("kmeans").kmeans_two_by_two(pointer(points), pointer(centres), ctypes.c_int64(len(points)), pointer(result))


BOTH = {
    "ceiling": Ceiling(_two_by_two, "2 centres in 2 dims known"),
    "ceiling, general": Ceiling(_general, "any sizes"),
}
GENERAL = {"ceiling, general": Ceiling(_general, "any sizes")}

CASES = [
    Case("kmeans_step", points_first, inputs(POINTS), inputs(100_000), BOTH, by_loops, about="20M points, 2 centres, 2 dims"),
    Case(
        "kmeans_centres_first",
        centres_first,
        inputs(POINTS),
        inputs(100_000),
        BOTH,
        by_loops,
        about="the other order of axes",
    ),
    Case(
        "kmeans_50",
        points_first,
        inputs(200_000, 2, 50),
        inputs(20_000, 2, 50),
        GENERAL,
        by_loops,
        about="200k points, 50 centres, 2 dims",
    ),
    Case(
        "kmeans_16d",
        points_first,
        inputs(500_000, 16, 8),
        inputs(20_000, 16, 8),
        GENERAL,
        by_loops,
        about="500k points, 8 centres, 16 dims",
    ),
]
