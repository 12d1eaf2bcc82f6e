"""Numbers, names and functions that one of several paths uses first."""

import numpy as np
import pytest
from support.outcome import assert_same

import accel


def kept_or_added(n, x, y):
    if x > 0:
        r = n
    else:
        y = np.sum(y)
        r = y + n
    return r


def total(d):
    s = 0.0
    for i in range(len(d)):
        s += d[i] * d[i + 1]
    return s


def total_or(d, default):
    try:
        return total(d)
    except IndexError:
        return default


def with_annotations(x, found):
    def inner(line: str) -> str:
        return line

    found.append(inner)
    return x.sum(), inner.__annotations__


@pytest.mark.parametrize("n", [np.int64(5), 5])
def test_a_size_that_one_path_computes_with(n):
    call = accel.compile(kept_or_added)
    for x in (1.0, -1.0, 2.0):
        assert_same(kept_or_added, call, n, x, np.array([4, 5, 6]))


def test_what_only_a_handler_reads():
    call = accel.compile(total_or)
    for d in ([1.0, 2.0], np.arange(3.0)):
        assert call(d, 7) == 7


def test_annotations():
    found = []
    total, annotations = accel.compile(with_annotations)(np.arange(3.0), found)
    assert total == 3.0 and annotations == {"line": str, "return": str} == found[0].__annotations__
