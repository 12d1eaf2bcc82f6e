"""Arrays that are reshaped, repeated and rolled and then used: indices whose quotients the loops decide, at all sizes."""

import numpy as np
import pytest
from support.compiled import assert_all_compiled

import accel


def reductions(x):
    """Of rows that do not follow each other in memory."""
    z = x + 1j
    moments = x.sum(), x.mean(), (x * 2.0).sum(), (x > 3).sum(), np.count_nonzero(x)
    return *moments, x.argmax(), x.argmin(), z.argmax(), x.max(), x.min(), (x > 3).any(), (x > 3).all(), (x > 3).argmax()


FUNCTIONS = {
    "repeat rows": lambda x: np.repeat(x, 2, axis=0) * 2.0,
    "repeat columns": lambda x: np.repeat(x, 3, axis=1) * 2.0,
    "repeat all": lambda x: np.repeat(x, 2) + 1.0,
    "ravel of a transpose": lambda x: np.transpose(x).ravel() * 2.0,
    "reshape of a transpose": lambda x: x.T.reshape(x.shape) - x,
    "sum of a reshaped transpose": lambda x: (x.T.reshape(-1) * 2.0).sum(),
    "mask of a reshaped transpose": lambda x: np.where(x.T.reshape(-1) > 0)[0],
    "extreme of a reshaped transpose": lambda x: x.T.reshape(-1).argmax() if x.size else 0,
    "roll": lambda x: np.roll(x, 3) * 2.0,
    "roll rows": lambda x: np.roll(x, -1, axis=0),
    "roll both": lambda x: np.roll(x, (1, 2), axis=(0, 1)) + 1.0,
    "tile": lambda x: np.tile(x, (2, 3)) * 2.0,
    "tile of parts": lambda x: np.tile(x[:, ::2], (2, 2)) + 1.0,
    "reductions of parts": lambda x: reductions(x[:, ::2]) if x.size else 0,
    "three axes": lambda x: np.repeat(x[:, None, :], 2, axis=1).transpose(2, 0, 1).reshape(-1) * 2.0,
}
SHAPES = [(3, 4), (4, 3), (1, 5), (5, 1), (1, 1), (2, 2), (7, 70), (70, 7), (40, 50), (200, 3)]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_sizes(name):
    """Floats and integers, in turns over the functions."""
    function = FUNCTIONS[name]
    dtype = ("float64", "uint8")[list(FUNCTIONS).index(name) % 2]
    call = accel.compile(function)
    for shape in SHAPES:
        x = (np.random.default_rng(0).standard_normal(shape) * 50).astype(dtype)
        want, got = function(x), call(x)
        assert np.asarray(got).tobytes() == np.asarray(want).tobytes(), (dtype, shape)
        assert np.shape(got) == np.shape(want)
    assert_all_compiled(call)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_no_elements(name):
    function = FUNCTIONS[name]
    call = accel.compile(function)
    for shape in [(3, 4), (0, 4), (3, 0), (0, 0), (3, 4)]:
        x = np.ones(shape)
        want, got = function(x), call(x)
        assert np.shape(got) == np.shape(want)
        assert np.array_equal(got, want)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_parallel(name):
    function = FUNCTIONS[name]
    x = np.random.default_rng(0).standard_normal((37, 211))
    with accel.config(threads=3, parallel_threshold=0):
        call = accel.compile(function)
        for _ in range(2):
            assert np.asarray(call(x)).tobytes() == np.asarray(function(x)).tobytes()
