"""Sequences of tuples of numbers, of which one is picked by an index that is known at run time only."""

import numpy as np
import pytest
from support.compiled import facts
from support.differential import check, check_at_exits
from support.outcome import assert_same

import accel

MOVES = ((-1, 0, 0.5), (0, 1, 1.5), (1, 0, 2.5), (0, -1, 3.5))


def walk(turns):
    moves = [(-1, 0), (0, 1), (1, 0), (0, -1)]
    y = x = 0
    for k in turns:
        dy, dx = moves[k]
        y += dy
        x += dx
    return y, x


def weighted(turns):
    y, x, total, d = 0, 0, 0.0, 0
    for k in turns:
        d = (d + k) % 4
        dy, dx, w = MOVES[d]
        y, x, total = y + dy, x + dx, total + w * MOVES[k - 4][2]
    return y, x, total, MOVES[d]


def ant(n, steps):
    grid = np.zeros((n, n), dtype=bool)
    y = x = n // 2
    d = 0
    for _ in range(steps):
        d = (d + (1 if grid[y, x] else -1)) % 4
        grid[y, x] = not grid[y, x]
        y, x = (y + MOVES[d][0]) % n, (x + MOVES[d][1]) % n
    return grid, y, x


def nested(k, a):
    table = [((1, 2), a[0]), ((3, 4), a[1])]
    (p, q), r = table[k[0]]
    return p * 10 + q, r, table[k[1]][0]


def of_several_types(k):
    table = [(1, 2.0), (3, 4)]
    return table[k[0]]


def changed(k):
    table = [(1, 2), (3, 4)]
    first = table[k[0]]
    table[0] = (5, 6)
    return first, table[k[0]], table


TURNS = np.random.default_rng(0).integers(0, 4, 40)


@pytest.mark.parametrize("function", [walk, weighted])
def test_walks(function):
    call = check(function, TURNS)
    for turns in ([], [0], [-1, -4], [3, 4], [-5], [1, 100]):
        assert_same(function, call, np.array(turns, dtype=int))


def test_ant():
    check(ant, 30, 700)


def test_tables_made_in_the_call():
    for k in ((0, 1), (1, 0), (-1, -2)):
        check(nested, np.array(k), np.array([1.5, -0.0]))
        check(changed, np.array(k))


def test_entries_of_several_types_are_left_to_python():
    call = accel.compile(of_several_types)
    for k in (0, 1, -1, 2):
        assert_same(of_several_types, call, np.array([k]))
    assert facts(call)["side_exits"] + facts(call)["interpreted"] > 0


def test_every_exit():
    check_at_exits(walk, TURNS[:3])
    check_at_exits(nested, np.array([0, 1]), np.array([1.5, 2.5]))
