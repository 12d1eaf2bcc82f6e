"""Calls that move elements and compute nothing: NumPy copies whole rows."""

import numpy as np

from benchmarks.case import Case

MOVES = {
    "repeat": lambda a: np.repeat(a, 3, axis=1),
    "tile": lambda a: np.tile(a, (2, 2)),
    "roll": lambda a: np.roll(a, 3, axis=1),
    "delete": lambda a: np.delete(a, 3, axis=0),
    "insert": lambda a: np.insert(a, 3, 0.5, axis=1),
    "pad": lambda a: np.pad(a, 1),
    "fftshift": lambda a: np.fft.fftshift(a),
    "transposed": lambda a: a.T.copy(),
    "transposed_line": lambda a: a.T.reshape(-1),
    "flipped": lambda a: a[::-1].copy(),
    "blocks": lambda a: a.reshape(len(a) // 10, 10, -1, 10).swapaxes(1, 2).reshape(-1, 10, 10),
}


def square(size):
    return lambda rng: (rng.random((size, size)),)


CASES = [Case(name, move, square(1000), square(30), about="1000 x 1000", large=False) for name, move in MOVES.items()]
