"""The function is left at each instruction in turn: results, effects, errors and identities are the same wherever that is."""

import numpy as np
import pytest
from support.differential import sample
from support.outcome import assert_same
from test_capture_exits import EXITS, LOG, RAISES
from test_capture_objects import CONTAINERS
from test_capture_python import CALLS, X, Y, branches, handlers, loops, replace_all, under_a_mask

import accel

MOST = 700  # exits of one function


def centred(x):
    return (x - np.mean(x, axis=0)) / np.std(x, axis=0, keepdims=True)


def distances(x):
    return np.linalg.norm(x[:, None, :] - x[None, :2, :], axis=-1).argmin(axis=1)


def logged(function):
    def run(*values):
        LOG.clear()
        return function(*values), [list(entry) for entry in LOG]

    return run


def check_at_every_exit(function, *arguments):
    for n in range(1, MOST):
        with accel.config(stress_exits=n):
            call = accel.compile(function, backend="numpy")
            assert_same(logged(function), logged(call), *arguments, times=2)
            if "an exit that was asked for" not in str(accel.explain(call)(*arguments)):
                assert n > 1, "no exit was taken"
                break


SLOW = {"many_iterations", "while_data"}  # thousands of instructions


@pytest.mark.parametrize("function", [f for f in EXITS if f.__name__ not in SLOW], ids=lambda f: f.__name__)
def test_exits(function):
    check_at_every_exit(function, X)


@pytest.mark.parametrize("name", CALLS)
def test_calls(name):
    check_at_every_exit(CALLS[name], X)


@pytest.mark.parametrize("name", CONTAINERS)
def test_containers(name):
    check_at_every_exit(CONTAINERS[name], X, Y)


@pytest.mark.parametrize("function", [centred, distances, loops, handlers], ids=lambda f: f.__name__)
def test_through_numpy(function):
    check_at_every_exit(function, X)


@pytest.mark.parametrize("function", [replace_all, under_a_mask], ids=lambda f: f.__name__)
def test_stores(function):
    check_at_every_exit(function, X, Y)


def test_branches():
    check_at_every_exit(branches, X, "double", 3, True)


@pytest.mark.parametrize("name", RAISES)
def test_errors(name):
    check_at_every_exit(RAISES[name], sample((4, 3)))
