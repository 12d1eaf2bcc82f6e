"""Numbers, names and functions that one of several paths uses first."""

import numpy as np
import pytest
from support.compiled import facts
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


def with_annotations(x):
    def inner(line: str, times: int = 2) -> str:
        return line * times

    return inner, x.sum()


@pytest.mark.parametrize("n", [np.int64(5), 5])
def test_a_size_that_one_path_computes_with(n):
    call = accel.compile(kept_or_added)
    for x in (1.0, -1.0, 2.0):
        assert_same(kept_or_added, call, n, x, np.array([4, 5, 6]), times=2)
    found = facts(call)
    assert found["compiled"] == 6 and found["interpreted"] == found["side_exits"] == 0, found


def test_what_only_a_handler_reads():
    call = accel.compile(total_or)
    for d in ([1.0, 2.0], np.arange(3.0)):
        assert call(d, 7) == 7
    assert facts(call)["compiled"] > 0


def test_annotations():
    call = accel.compile(with_annotations)
    for _ in range(2):
        inner, total = call(np.arange(3.0))
        assert inner.__annotations__ == {"line": str, "times": int, "return": str}
        assert inner("a") == "aa" and total == 3.0
    assert facts(call)["compiled"] == 2
