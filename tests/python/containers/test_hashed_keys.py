"""Keys of dicts and elements of sets are one when they have one hash, too: a dtype and its name, a float32 and a float are
not.
"""

import numpy as np
import pytest
from support.compiled import facts
from support.differential import check
from support.outcome import assert_same

import accel

X = np.array([1.0, 2.0])
BY_NAME = {"float64": 1e-3}
BY_DTYPE = {np.dtype("f8"): 3}


def by_dtype(x, table):
    return x + table[x.dtype]


def is_there(x):
    return x * 2, BY_NAME.get(x.dtype, "missing"), x.dtype in BY_NAME, BY_DTYPE.get("f8"), BY_DTYPE[x.dtype]


def of_both(x):
    table = {np.dtype("f8"): 1, "f8": 2}
    return x * 2, len(table), table[x.dtype], table["f8"]


def of_numbers(x, a, b):
    table = {a: 1}
    table[b] = 2
    return x * 2, a == b, table, {a: 1}.get(b), b in {a: 1}


def of_sets(x, a, b):
    return x * 2, len({a, b})


def test_dtypes_and_their_names():
    check(is_there, X)
    check(of_both, X)
    check(by_dtype, X, {np.dtype("f8"): 1.0})


def test_the_key_is_missing():
    call = accel.compile(by_dtype)
    assert_same(by_dtype, call, X, {"float64": 1e-3})


@pytest.mark.parametrize("function", [of_numbers, of_sets], ids=lambda f: f.__name__)
@pytest.mark.parametrize(
    "pair", [(np.float32(0.1), 0.1), (0.1, np.float16(0.1)), (0.5, np.float32(0.5)), (1, 1.0), (np.int64(3), 3)]
)
def test_numbers_of_several_types(function, pair):
    call = accel.compile(function)
    assert_same(function, call, X, *pair)
    found = facts(call)
    assert found["compiled"] + found["side_exits"] > 0, found
