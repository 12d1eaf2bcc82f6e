"""Checks of indices on a device are not awaited one by one: errors, arguments and exits are NumPy's all the same."""

import numpy as np
import pytest
from support.device_arrays import on_host

import accel
from accel._accel import record

rng = np.random.default_rng(0)


def jumps(parents, rounds):
    for _ in range(rounds):
        parents = parents[parents]
    return parents


def walks(x, position, steps, rounds):
    """Each round stores to the argument x, so that a later error must leave what earlier rounds have stored."""
    for k in range(rounds):
        x[position] += 1.0
        position = position + steps[position]
        x[1:] *= 0.5
    return position, k


def fills(x, position, steps, rounds):
    for k in range(rounds):
        x[position] = k
        position = position + steps[position]
    return x.sum()


def adds(x, position, steps, rounds):
    for k in range(rounds):
        np.add.at(x, position, k)
        position = position + steps[position]
    return position


def until_far(x, position, steps, bound):
    """The condition of the loop needs a wait in each round."""
    rounds = 0
    while position.max() < bound:
        position = position + steps[position]
        x[:-1] += x[1:]
        rounds += 1
    return position, rounds


def rows(table, position, steps, rounds):
    total = np.zeros(table.shape[1])
    for _ in range(rounds):
        total += table[position, position // 2].sum()
        total += table[position].sum(axis=0)
        position = position + steps[position]
    return total


def quotients(x, position, steps, rounds):
    """Numbers that kernels compute and use; exits hand them over."""
    greatest = total = 1.0
    for k in range(rounds):
        greatest = x.max()
        y = x[position] / greatest
        total += y.sum() + greatest
        x[position] = y / total + k
        position = position + steps[position]
    return x * greatest, total, k


def scaled(x, position, rounds):
    for _ in range(rounds):
        greatest = x.max()
        y = x[position] / greatest
        x = y / (y.sum() + greatest)
    return x


def looked_up(x, position):
    return x[position] * 2.0


PROGRAMS = [walks, fills, adds, until_far, quotients]
FULL = 40


def resident(arguments):
    return [accel.to_device(a) if isinstance(a, np.ndarray) else a for a in arguments]


def outcome(call, arguments):
    """The result or the error, with the arrays as the call left them."""
    try:
        result = call(*arguments)
    except IndexError as error:
        result = type(error)
    parts = result if isinstance(result, tuple) else (result,)
    return [np.asarray(on_host(a)) if hasattr(a, "shape") else a for a in (*parts, *arguments)]


def check(function, arguments, device_arrays):
    """Compares two calls of one compiled function with NumPy's. Compiled code begins all calls, and has device kernels."""
    wanted = outcome(function, [a.copy() if isinstance(a, np.ndarray) else a for a in arguments])
    compiled = accel.compile(function, device="cuda")
    for _ in range(2):
        mine = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
        found = outcome(compiled, resident(mine) if device_arrays else mine)
        assert len(found) == len(wanted)
        for got, want in zip(found, wanted, strict=True):
            assert type(got) is type(want)
            if isinstance(want, np.ndarray):
                np.testing.assert_allclose(got, want, rtol=1e-13)
            else:
                assert got == want
    assert accel.stats(compiled)["interpreted"] == 0
    assert all(version["device"]["name"] == "cuda:0" for version in record(compiled)["versions"])


@pytest.mark.parametrize("device_arrays", [True, False], ids=["resident", "numpys"])
@pytest.mark.parametrize("bad_round", [None, 0, 1, 7, 19])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_an_index_out_of_bounds_in_some_round(program, bad_round, device_arrays):
    x, steps = rng.random(FULL), np.ones(FULL, int)
    last = FULL if program is until_far else 20
    position = np.array([3, 0, 5])
    if bad_round is not None:
        steps[5 + max(bad_round - 1, 0)] = 1000 if bad_round > 0 else 1
        position[1] = -1000 if bad_round == 0 else 0
    limit = 30 if program is until_far else last
    check(program, [x, position, steps, limit], device_arrays)


@pytest.mark.parametrize("device_arrays", [True, False], ids=["resident", "numpys"])
@pytest.mark.parametrize("bad", [None, 1, 2, 5])
def test_rows(bad, device_arrays):
    table, steps = rng.random((FULL, 7)), np.ones(FULL, int)
    if bad is not None:
        steps[4 + bad] = -500
    check(rows, [table, np.array([0, 4]), steps, 9], device_arrays)


def test_there_is_one_wait():
    parents = np.maximum(np.arange(1000) - 1, 0)
    there = accel.to_device(parents)
    why = accel.explain(accel.compile(jumps))(there, 200)
    assert why.compiled and why.device["name"] == "cuda:0" and why.device["waits"] <= 1, str(why)
    assert np.array_equal(why.result.numpy(), jumps(parents, 200))
    x, position, steps = accel.to_device(np.zeros(300)), accel.to_device(np.array([0, 5])), accel.to_device(np.ones(300, int))
    why = accel.explain(accel.compile(walks))(x, position, steps, 200)
    assert why.compiled and why.device["waits"] <= 1, str(why)
    for function, *arguments in [(looked_up, x, position), (scaled, x + 1.0, accel.to_device(np.arange(300)), 200)]:
        why = accel.explain(accel.compile(function))(*arguments)
        assert why.compiled and why.device["waits"] <= 1, str(why)
    why = accel.explain(accel.compile(quotients))(x + 1.0, position, steps, 200)
    assert why.compiled and why.device["waits"] <= 3, str(why)  # for numbers that exits hand over


@pytest.mark.parametrize("indices", [np.empty(0, int), np.array([0]), np.array([-1, 3])])
@pytest.mark.parametrize("function", [looked_up, lambda x, i: x[:0][i], lambda x, i: x[len(x) :][i] + 1.0])
def test_empty_arrays(function, indices):
    for x in (np.empty(0), np.arange(5.0)):
        for there in (True, False):
            check(function, [x, indices], there)


def stored(x, i, v):
    for _ in range(2):
        x[i] = v
        i = i + 0
    return x


@pytest.mark.parametrize("indices", [np.empty(0, int), np.array([0])])
def test_stores_to_empty_arrays(indices):
    for there in (True, False):
        check(stored, [np.empty(0), indices, 2.0], there)
        check(stored, [np.empty((0, 3)), indices, 2.0], there)


@pytest.mark.parametrize("exits", range(1, 16, 3))
def test_forced_exits(exits):
    x, steps = rng.random(FULL), np.ones(FULL, int)
    for bad in (None, 8):
        if bad:
            steps[bad] = 1000
        for program in PROGRAMS:
            with accel.config(stress_exits=exits):
                check(program, [x, np.array([3, 0]), steps, 12], True)
