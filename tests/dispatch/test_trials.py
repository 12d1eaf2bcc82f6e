"""Versions that call unknown code very often: the interpreter gets them where it is faster, whatever they compute."""

from random import Random

import numpy as np
from support.compiled import facts
from support.outcome import assert_same

import accel


def many_calls(a, rounds, rng):
    total = 0.0
    for i in range(rounds):
        total = total + a[i % 3] * rng.random()
    return total


def few_calls(a, rng):
    total = 0.0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            total += a[i, j] * 0.5
        if i % 100 == 0:
            total = total + rng.random()
    return total


A = np.array([1.0, 2.0, 3.0])


def test_calls_that_cost_more_than_they_win():
    call = accel.compile(many_calls)
    for _ in range(12):
        assert_same(many_calls, call, A, 2000, Random(5), times=1)
    assert facts(call)["interpreted"] >= 3
    before = facts(call)["interpreted"]
    assert_same(many_calls, call, A, 2000, Random(5), times=1)
    assert facts(call)["interpreted"] == before + 1
    assert "take longer" in str(accel.explain(call)(A, 2000, Random(5)))


def test_few_calls_are_on_no_trial():
    call = accel.compile(many_calls)
    for _ in range(8):
        assert_same(many_calls, call, A, 20, Random(5), times=1)
    assert facts(call)["interpreted"] == 0


def test_what_wins_stays_compiled():
    grid = np.ones((60000, 8))
    call = accel.compile(few_calls)
    for _ in range(9):
        assert few_calls(grid, Random(5)) == call(grid, Random(5))
    assert facts(call)["interpreted"] <= 3


def test_whole_graphs_are_on_no_trial():
    call = accel.compile(many_calls, fullgraph=True)
    for _ in range(8):
        assert_same(many_calls, call, A, 2000, Random(5), times=1)
    assert facts(call)["interpreted"] == 0
