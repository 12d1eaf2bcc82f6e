"""Functions of NumPy that warn on one of their ways: they are compiled whole, and the interpreter gives the warning."""

import numpy as np
import pytest
from support.compiled import facts
from support.differential import sample
from support.outcome import assert_same

import accel


def nan_mean(x):
    return np.nanmean(x * 2, axis=0) + 1


def mean_of_greater(x):
    return np.mean(x, where=x > 0.5) + 1


def all_means(x):
    total = 0.0
    for k in range(len(x)):
        total += np.nanmean(x[k])
        x[k] = total
    return total


@pytest.mark.parametrize("function", [nan_mean, mean_of_greater, all_means])
def test_whole_until_it_warns(function):
    call = accel.compile(function, fullgraph=True)
    quiet = sample((5, 4)) + 1
    assert_same(function, call, quiet)
    found = facts(call)
    assert found["compiled"] == 3 and found["interpreted"] == found["side_exits"] == 0, found
    warns = quiet.copy()
    warns[2] = np.nan
    warns[:, 1] = np.nan
    assert_same(function, call, warns)
    assert_same(function, call, np.zeros((2, 3)))


def mean_of_nothing(x):
    return (x + 1).mean() * 2


def test_a_warning_of_all_calls_is_given_by_a_call_of_the_interpreter():
    call = accel.compile(mean_of_nothing)
    assert_same(mean_of_nothing, call, np.zeros((0, 2)), times=4)
    assert facts(call)["interpreted"] == 0, accel.explain(call)(np.zeros((0, 2)))


def counts_of_floats(x):
    y = x * 2
    counts = np.bincount([1.0, 2.0])
    return y, counts


def test_a_warning_of_a_called_function_names_the_line_once():
    call = accel.compile(counts_of_floats)
    assert_same(counts_of_floats, call, np.arange(3.0), times=4)
    assert facts(call)["interpreted"] == 0, accel.explain(call)(np.arange(3.0))
