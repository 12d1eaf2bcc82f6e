"""Axes that are walked as one: values that are broadcast along them are no obstacle."""

import numpy as np
import pytest
from support.differential import check_in_loops

import accel

X = np.random.default_rng(5).normal(size=(30, 7, 40))
FUNCTIONS = {
    "all": lambda x: np.var(x),
    "first": lambda x: np.std(x, axis=(0, 1)),
    "last": lambda x: np.var(x, axis=(1, 2), keepdims=True),
    "own": lambda x: np.sum((x - np.max(x, axis=(1, 2), keepdims=True)) ** 2, axis=(1, 2)),
    "row": lambda x: np.sum(x - np.max(x, axis=2, keepdims=True), axis=(1, 2)),
}


def loops_of(function, *arguments):
    return accel.explain(accel.compile(function))(*arguments).nests


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("x", [X, X[:, ::2], X.T, X[:1], X[:, :1, :1]], ids="dense gaps transposed one column".split())
def test_values(name, x):
    with np.errstate(all="ignore"):
        check_in_loops(FUNCTIONS[name], x)


def test_no_array_for_the_deviations():
    assert len(loops_of(FUNCTIONS["all"], X)) == len(loops_of(FUNCTIONS["all"], X.ravel())) == 1
    assert len(loops_of(FUNCTIONS["last"], X)) == 1
