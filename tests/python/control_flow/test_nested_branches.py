"""Branches on data in Python code that C code calls: the path cannot part there, so it takes one way and leaves for the
other.
"""

import functools

import numpy as np
import pytest
from support.compiled import assert_all_compiled, facts
from support.differential import check_at_exits, check_left_to_numpy, sample
from support.outcome import assert_same

import accel


def means(x, m):
    return x.mean(where=m), x.mean(axis=0, where=m), x.var(axis=1, where=m), x.std(where=m, ddof=1)


def test_the_way_that_has_a_compiled_form():
    """The other one warns."""
    x = sample((4, 5))
    call = accel.compile(means, fullgraph=True)
    assert_same(means, call, x, x > x.min())
    assert_all_compiled(call)
    assert_same(means, call, x, x > x.max())
    assert facts(call)["side_exits"] > 0


def test_either_way():
    def chosen(x):
        return functools.reduce(lambda a, b: a + b if b > 0 else a - 1, [x[0], x[1], x[2]])

    for values in ([1.0, 2.0, 3.0], [1.0, -2.0, 3.0], [-1.0, -2.0, -3.0]):
        assert facts(check_left_to_numpy(chosen, np.array(values)))["compiled"] > 0


def test_the_false_way_fails():
    def chosen(x):
        return max([x[0], x[1]], key=lambda v: v * 2 if v > 0 else id(v))

    for values in ([1.0, 2.0], [3.0, 2.0]):
        assert facts(check_left_to_numpy(chosen, np.array(values)))["compiled"] > 0


def test_several_branches():
    def graded(x):
        def grade(v):
            if v > 3:
                return 3 * v
            if v > 2:
                return id(v)
            return v if v > 1 else -v

        return min([x[0], x[1], x[2]], key=grade)

    call = accel.compile(graded)
    for values in ([0.0, 0.5, 0.1], [1.5, 0.0, 4.0], [4.0, 5.0, 6.0]):
        assert_same(graded, call, np.array(values))
    assert facts(call)["compiled"] > 0


def test_what_was_done_before_stands():
    """A store before the branch, in the same call of C code."""

    def noted(x, seen):
        def key(v):
            seen[0] += 1
            return -v if v > 0 else v

        return max([x[0], x[1], x[2]], key=key), seen.copy()

    for values in ([1.0, 2.0, 3.0], [-1.0, 2.0, -3.0]):
        check_left_to_numpy(noted, np.array(values), np.zeros(2))


@pytest.mark.parametrize("share", [0.5, 2.0])
def test_in_a_loop(share):
    def relaxed(x, steps):
        total = 0.0
        for _ in range(steps):
            total += x.mean(where=x < share)
            x = x * 0.9
        return total, x

    check_at_exits(relaxed, np.linspace(0, 1, 12), 5, most=20)
