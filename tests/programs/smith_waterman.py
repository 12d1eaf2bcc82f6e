"""Alignment of two sequences by dynamic programming."""

import numpy as np
from support.whole_programs import Program


def smith_waterman(a, b, match, mismatch, gap):
    """The table of scores, and the best one."""
    m, n = len(a), len(b)
    score = np.zeros((m + 1, n + 1), dtype=np.int64)
    best = 0
    for i in range(1, m + 1):
        for j in range(1, n + 1):
            diagonal = score[i - 1, j - 1] + (match if a[i - 1] == b[j - 1] else mismatch)
            score[i, j] = max(0, diagonal, score[i - 1, j] + gap, score[i, j - 1] + gap)
            if score[i, j] > best:
                best = score[i, j]
    return score, best


def smith_waterman_traced(a, b, match, mismatch, gap):
    """With the way back from the best score: positions in both sequences."""
    m, n = len(a), len(b)
    score = np.zeros((m + 1, n + 1))
    for i in range(1, m + 1):
        for j in range(1, n + 1):
            s = match if a[i - 1] == b[j - 1] else mismatch
            score[i, j] = max(score[i - 1, j - 1] + s, score[i - 1, j] + gap, score[i, j - 1] + gap, 0.0)
    i, j = np.unravel_index(np.argmax(score), score.shape)
    path = np.zeros((m + n, 2), dtype=int)
    length = 0
    while score[i, j] > 0:
        path[length] = i, j
        length += 1
        if score[i, j] == score[i - 1, j - 1] + (match if a[i - 1] == b[j - 1] else mismatch):
            i, j = i - 1, j - 1
        elif score[i, j] == score[i - 1, j] + gap:
            i -= 1
        else:
            j -= 1
    return path[:length], score.max()


def edit_distance(a, b):
    """Two rows that are swapped."""
    previous = np.arange(len(b) + 1)
    current = np.zeros_like(previous)
    for i in range(len(a)):
        current[0] = i + 1
        for j in range(len(b)):
            cost = 0 if a[i] == b[j] else 1
            current[j + 1] = min(previous[j + 1] + 1, current[j] + 1, previous[j] + cost)
        previous, current = current, previous
    return previous[len(b)]


def by_antidiagonals(a, b, match, mismatch, gap):
    """The elements of an antidiagonal do not depend on one another."""
    m, n = len(a), len(b)
    score = np.zeros((m + 1, n + 1), dtype=np.int64)
    for d in range(2, m + n + 1):
        i = np.arange(max(1, d - n), min(m, d - 1) + 1)
        j = d - i
        s = np.where(a[i - 1] == b[j - 1], match, mismatch)
        best = np.maximum(score[i - 1, j - 1] + s, np.maximum(score[i - 1, j], score[i, j - 1]) + gap)
        score[i, j] = np.maximum(best, 0)
    return score


def sequences(rng, m, n):
    return rng.integers(0, 4, m), rng.integers(0, 4, n), 3, -3, -2


def in_bytes(rng, m, n):
    return rng.integers(65, 69, m).astype(np.uint8), rng.integers(65, 69, n).astype(np.uint8)


def in_reals(rng, m, n):
    return *in_bytes(rng, m, n), 3.0, -3.0, -2.0


PROGRAMS = [
    Program(smith_waterman, sequences, (6, 8), (40, 50), (400, 500)),
    Program(smith_waterman_traced, in_reals, (6, 8), (40, 50), (400, 500)),
    Program(edit_distance, in_bytes, (6, 8), (40, 50), (400, 500)),
    Program(by_antidiagonals, sequences, (6, 8), (60, 50), (2000, 1500), name="smith_waterman_by_antidiagonals"),
]
