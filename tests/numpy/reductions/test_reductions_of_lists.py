"""where= and initial= of reductions as lists, tuples and constants."""

import numpy as np
import pytest
from support.differential import check, sample
from support.outcome import assert_same

import accel

MASKS = {
    "list": [True, True, False],
    "tuple": (True, False, True),
    "rows": [[True, False, True]],
    "columns": [[True], [False]],
    "nested": [[True, False, False], (False, True, True)],
}


@pytest.mark.parametrize("name", MASKS)
def test_masks(name):
    mask = MASKS[name]

    def all_of(x):
        extremes = x.max(where=mask, initial=-9.0), np.min(x, where=mask, initial=9.0)
        truths = np.any(x > 1.0, where=mask), (x > 0.0).all(where=mask)
        return np.add.reduce(x.astype(np.int64), axis=0, where=mask), extremes, truths

    def floats(x):
        return x.sum(axis=1, where=mask), x.prod(axis=1, where=mask)

    check(all_of, sample((2, 3)))
    check(floats, sample((2, 3)))


def test_masks_made_of_what_arrives():
    def function(x, flag):
        return x.sum(where=[flag, True, not flag]), x.max(where=(flag, True, x[0] > 0), initial=-9.0)

    check(function, sample(3), True)
    check(function, sample(3), False)


@pytest.mark.parametrize("initial", [[1.0], [[1.0]], (2.0,), [1.0, 2.0], [], np.array(2.0), np.array([2.0])])
def test_initial(initial):
    def function(x):
        return x.sum(initial=initial)

    assert_same(function, accel.compile(function, backend="numpy"), sample(3))


@pytest.mark.parametrize("mask", [[], [True] * 4, [[True] * 3] * 2, ["a"], [None], [0.5, 1.0, 0.0], [1, 0, 1], np.True_, False])
def test_masks_that_numpy_refuses_or_casts(mask):
    def function(x):
        return x.sum(where=mask), x * 2.0

    assert_same(function, accel.compile(function, backend="numpy"), sample(3))
