"""Cellular automata."""

import numpy as np
from support.whole_programs import Program


def life(board, generations):
    """The board is updated in place; its edge stays dead."""
    for _ in range(generations):
        n = (
            board[0:-2, 0:-2]
            + board[0:-2, 1:-1]
            + board[0:-2, 2:]
            + board[1:-1, 0:-2]
            + board[1:-1, 2:]
            + board[2:, 0:-2]
            + board[2:, 1:-1]
            + board[2:, 2:]
        )
        birth = (n == 3) & (board[1:-1, 1:-1] == 0)
        survive = ((n == 2) | (n == 3)) & (board[1:-1, 1:-1] == 1)
        board[...] = 0
        board[1:-1, 1:-1][birth | survive] = 1
    return board


def life_on_a_torus(board, generations):
    for _ in range(generations):
        neighbours = sum(np.roll(np.roll(board, i, 0), j, 1) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i != 0 or j != 0))
        board = (neighbours == 3) | (board & (neighbours == 2))
    return board


def life_by_cells(board, generations):
    rows, columns = board.shape
    for _ in range(generations):
        following = np.zeros_like(board)
        for i in range(rows):
            for j in range(columns):
                alive = 0
                for di in (-1, 0, 1):
                    for dj in (-1, 0, 1):
                        if di == 0 and dj == 0:
                            continue
                        alive += board[(i + di) % rows, (j + dj) % columns]
                if alive == 3 or (board[i, j] and alive == 2):
                    following[i, j] = 1
        if np.array_equal(following, board):
            break
        board = following
    return board, board.sum()


def elementary_automaton(rule, width, steps):
    """Wolfram's rules: a row per step."""
    table = np.array([(rule >> i) & 1 for i in range(8)], dtype=np.uint8)
    rows = np.zeros((steps, width), dtype=np.uint8)
    rows[0, width // 2] = 1
    for t in range(1, steps):
        previous = rows[t - 1]
        rows[t] = table[4 * np.roll(previous, 1) + 2 * previous + np.roll(previous, -1)]
    return rows


def sandpile(heights, most):
    """Topples until every height is under 4."""
    steps = 0
    while steps < most:
        over = heights >= 4
        if not over.any():
            break
        heights[over] -= 4
        heights[1:, :][over[:-1, :]] += 1
        heights[:-1, :][over[1:, :]] += 1
        heights[:, 1:][over[:, :-1]] += 1
        heights[:, :-1][over[:, 1:]] += 1
        steps += 1
    return steps


def board(rng, rows, columns, generations):
    return rng.integers(0, 2, (rows, columns)), generations


def pile(rng, n, grains):
    heights = np.zeros((n, n), dtype=int)
    heights[n // 2, n // 2] = grains
    return heights, 100_000


PROGRAMS = [
    Program(life, board, (8, 9, 4), (100, 80, 20), (1000, 1000, 20)),
    Program(life_on_a_torus, lambda rng, r, c, g: (rng.random((r, c)) < 0.4, g), (6, 7, 4), (100, 80, 10), (1000, 1000, 20)),
    Program(life_by_cells, board, (5, 6, 3), (16, 12, 4), (100, 100, 10)),
    Program(elementary_automaton, lambda rng, w, s: (110, w, s), (11, 6), (101, 50), (10_001, 1000)),
    Program(sandpile, pile, (9, 60), (25, 500), (101, 5000)),
]
