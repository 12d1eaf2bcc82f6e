"""Reshapes of what may be a view or a copy, with sizes known at run time only; blocks of images."""

import numpy as np
import pytest
from support.differential import check
from support.outcome import assert_same

import accel


def tiled(a, i):
    q = a[i[0] : i[1]]
    return np.tile(q, 2)


def split(a):
    return [np.tile(q, 2) for q in np.array_split(a, 2)]


def doubled(a, i):
    q = a[i[0] : i[1]]
    n = len(q)
    if n > 0:
        q = q.reshape(1, -1).repeat(2, 0)
    return q.reshape(2 * n)


@pytest.mark.parametrize("function", [tiled, doubled])
def test_slices_of_run_time_sizes(function):
    call = accel.compile(function)
    for ends in ((0, 3), (2, 2), (5, 1), (1, 6), (0, 3), (-2, 6), (1, 4)):
        assert_same(function, call, np.arange(6.0), np.array(ends))
    assert accel.stats(call)["compiled"] > 0


def test_parts_of_split():
    call = accel.compile(split)
    for a in (np.arange(6.0), np.arange(7.0), np.arange(7, dtype="f4"), np.arange(1.0), np.arange(6.0)):
        assert_same(split, call, a)
    assert accel.stats(call)["compiled"] > 0


def block_means(image, size):
    height, width = image.shape
    rows, columns = height // size * size, width // size * size
    blocks = image[:rows, :columns].reshape(rows // size, size, columns // size, size)
    return blocks.mean(axis=(1, 3)), blocks.sum(axis=(3, 1)), rows % size, (rows * columns) // columns


def test_blocks():
    rng = np.random.default_rng(0)
    for shape, size in (((101, 83), 4), ((16, 16), 4), ((16, 16), 1), ((7, 5), 5), ((64, 3), 3)):
        check(block_means, rng.random(shape), size)
        if size > 1:
            check(block_means, np.asfortranarray(rng.random(shape)), size)
