"""Lists of arrays that have other names while the list grows: the states of a simulation, kept step by step."""

import numpy as np
import pytest
from support.compiled import compile_count, facts
from support.outcome import assert_same

import accel

BACKENDS = ["native", "numpy"]


def trajectory(x, h, n):
    states = [x]
    for _ in range(n):
        x = x - h * x * x
        states.append(x)
    return np.array(states)


def two_names(x, h, n):
    states = []
    v = np.zeros_like(x)
    for _ in range(n):
        v = v - h * x
        x = x + h * v
        states.append(x)
    return np.stack(states, axis=1), x, v


def every_other(x, h, n):
    previous = x.copy()
    kept = []
    for k in range(n):
        following = np.zeros_like(x)
        following[1:-1] = 2 * x[1:-1] - previous[1:-1] + h * (x[2:] - 2 * x[1:-1] + x[:-2])
        previous, x = x, following
        if k % 2 == 0:
            kept.append(x)
    return np.stack(kept)


def twice(x, h, n):
    states = []
    for k in range(n):
        if k % 3 == 0:
            x = x * h
        states.append(x)
    return np.vstack(states), np.hstack(states), np.column_stack(states)


def last_and_first(x, h, n):
    best = x
    found = []
    for _ in range(n):
        x = x + h
        if x.sum() < 3:
            best = x
        found.append(best)
    return np.stack(found), best


WHOLE = [trajectory, two_names, every_other, twice]


def returned(x, h, n):
    states = []
    for _ in range(n):
        x = x * h
        states.append(x)
    return states, x


def written_later(x, h, n):
    states = []
    for _ in range(n):
        x = x * h
        states.append(x)
        x += 1
    return np.array(states), x


def written_by_another_name(x, h, n):
    y = x * 2
    states = [y]
    for k in range(n):
        y[k % len(y)] = h
        states.append(y)
    return np.array(states), states


def same_object_twice(x, h, n):
    states = []
    y = x * 2
    for _ in range(n):
        states.append(y)
    states[0][0] = 7
    return states


def arguments_kept(x, h, n):
    states = []
    for _ in range(n):
        states.append(x)
    return states


def handed_to_python(x, h, n):
    states = []
    seen = []
    for _ in range(n):
        x = x * h
        states.append(x)
        change(x, seen)
    return np.array(states), seen


def change(x, seen):
    x[0] = len(seen)
    seen.append(repr(x))


OTHERS = [last_and_first, returned, written_later, written_by_another_name, same_object_twice, arguments_kept, handed_to_python]


def sample(n):
    return np.linspace(0.1, 1, n), 0.3


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("function", WHOLE)
def test_captured_whole(function, backend):
    call = accel.compile(function, fullgraph=True, backend=backend)
    for n, steps in ((5, 9), (4, 20), (30, 3), (5, 100)):
        assert_same(function, call, *sample(n), steps, times=2)
    assert compile_count(call) <= 2
    assert facts(call)["interpreted"] == 0


@pytest.mark.parametrize("function", [*WHOLE, *OTHERS])
def test_same_as_numpy(function):
    """Which arrays are one object, and what a store shows in which of them."""
    call = accel.compile(function)
    for n, steps in ((5, 9), (4, 20), (30, 3), (5, 1), (5, 0)):
        assert_same(function, call, *sample(n), steps, times=2)


@pytest.mark.parametrize("function", [returned, same_object_twice, arguments_kept])
def test_identity(function):
    call = accel.compile(function)
    for _ in range(3):
        expected, found = (f(*sample(5), 6) for f in (function, call))
        found, expected = (x if isinstance(x, list) else [*x[0], x[1]] for x in (found, expected))
        same = [[a is b for b in found] for a in found]
        assert same == [[a is b for b in expected] for a in expected]


@pytest.mark.parametrize("exit", [1, 3, 8, 21])
@pytest.mark.parametrize("function", [*WHOLE, *OTHERS])
def test_left_at_an_exit(function, exit):
    with accel.config(stress_exits=exit):
        call = accel.compile(function, backend="numpy")
        assert_same(function, call, *sample(5), 7, times=2)


def rotations(angles):
    matrices = []
    for angle in angles:
        c, s = np.cos(angle), np.sin(angle)
        matrices.append(np.array([[c, -s], [s, c]]))
    return np.stack(matrices), np.stack(matrices, axis=-1), np.vstack(matrices), np.stack(matrices, 1)


def columns(x):
    parts = [x[k] * np.arange(3.0) for k in range(len(x))]
    return np.column_stack(parts), np.hstack(parts), np.vstack(parts), np.hstack([v * 2 for v in x])


@pytest.mark.parametrize("function", [rotations, columns])
def test_stacks(function):
    call = accel.compile(function, fullgraph=True)
    for n in (5, 40, 300):
        assert_same(function, call, np.random.default_rng(n).random(n), times=2)
    loose = accel.compile(function)
    for n in (3, 1, 0, 7):
        assert_same(function, loose, np.random.default_rng(n).random(n), times=2)
