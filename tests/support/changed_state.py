"""Objects and dicts of arrays that compiled functions change."""

import dataclasses

import numpy as np
from support.differential import sample

X = sample((4, 3))


@dataclasses.dataclass
class State:
    x: np.ndarray
    v: np.ndarray
    energy: float = 0.0
    other: object = None


def state(**more):
    return State(X * 2, X - 1, 2.5, **more)


def parameters(**more):
    return {"w": X * 2, "v": X + 1, "b": 2.0, **more}
