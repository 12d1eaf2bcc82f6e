"""Indices of array.flat: what NumPy takes, and what it refuses though an array of one axis would take it."""

import numpy as np
import pytest
from support.differential import check
from support.outcome import assert_same

import accel

GOOD = ["1", "-1", "1:4", "::2", "...", "[1, 2]", "[]", "np.array([4, 0])", "np.array([1, 1, 0, 1, 0, 1], bool)"]
OTHERS = [
    *(
        "None",
        "(None,)",
        "(1, 2)",
        "(slice(1, 3), None)",
        "(..., None)",
        "(None, 1)",
        "(..., 1)",
        "()",
        "(1,)",
        "(slice(1, 3),)",
    ),
    *("True", "1.0", "[1.0]", "np.array(1)", "np.array(1.0)", "[[1, 2], [0, 1]]", "7", "-7"),
]


def reader(index):
    return eval(f"lambda x: (x.flat[{index}], x * 2)", {"np": np})


def writer(index):
    scope = {"np": np}
    exec(f"def write(x):\n    x.flat[{index}] = 5\n    return x * 2", scope)
    return scope["write"]


@pytest.mark.parametrize("make", [reader, writer])
def test_good_indices(make):
    for index in GOOD:
        check(make(index), np.arange(6.0).reshape(2, 3))


@pytest.mark.parametrize("make", [reader, writer])
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_other_indices(make):
    for index in OTHERS:
        function = make(index)
        assert_same(function, accel.compile(function), np.arange(6.0).reshape(2, 3), times=2)
