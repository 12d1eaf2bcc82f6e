"""Dicts that change while they are iterated over: entries are read when their turn comes, other keys are an error."""

import numpy as np
import pytest
from support.differential import check, check_at_exits, check_left_to_numpy


def later_item(x):
    d = {"a": 1.0, "b": 2.0}
    out = []
    for _, v in d.items():
        d["b"] = v + 10
        out.append(v)
    return out, d, x + 1


def later_value(x):
    d = {"a": 1.0, "b": 2.0}
    total = 0.0
    for v in d.values():
        d["b"] = 5.0
        total += v
    return total, x + 1


def later_array(x):
    d = {"a": x, "b": x + 1}
    for _i, (_k, v) in enumerate(d.items()):
        d["b"] = v * 2
        x = x + v
    return d, x


def view_before_the_change(x):
    d = {"a": 1, "b": 2, "c": 3}
    v, both = d.values(), zip(d.keys(), d.items())
    d["a"] = 7
    return sum(v), list(both), x + 1


def key_that_comes_back(x):
    d = {"a": 1, "b": 2, "c": 3}
    total = 0
    for k, v in d.items():
        if k == "a":
            del d["c"]
            d["c"] = 9
        total += v
    return total, x + 1


def other_keys_at_the_end(x):
    d = {"a": 1, "b": 2, "c": 3}
    for k in d:
        if k == "b":
            d["z"] = 1
            break
    for k in list(d):
        del d[k]
    return d, x + 1


@pytest.mark.parametrize(
    "function",
    [later_item, later_value, later_array, view_before_the_change, key_that_comes_back, other_keys_at_the_end],
    ids=lambda f: f.__name__,
)
def test_entries_are_read_in_their_turn(function):
    check(function, np.arange(3.0))


def of_the_caller(x, d):
    total = 0.0
    for v in d.values():
        d["b"] = x.sum()
        total = total + v
    return total


def test_dict_of_the_caller():
    check(of_the_caller, np.arange(3.0), {"a": 1.0, "b": 2.0})


def left_in_the_middle(x, n):
    d = {"a": 1, "b": 2, "c": 3}
    out = []
    for k, v in d.items():
        d["c"] = v + 10
        n = n * n
        out.append((k, v, n))
    return out, d, x + 1


def test_the_interpreter_goes_on_in_the_middle():
    check_left_to_numpy(left_in_the_middle, np.arange(3.0), 2**20)
    check_at_exits(left_in_the_middle, np.arange(3.0), 3)


def new_key(x, n):
    d = {"a": 1, "b": 2}
    for k in d:
        d[k + "x"] = 1
        n = n * n
    return d, n


def new_item(x, n):
    d = {"a": 1.0, "b": 2.0}
    for k, v in d.items():
        d[k + "x"] = v
    return d, x + 1


def one_key_for_another(x, n):
    d = {"a": 1, "b": 2, "c": 3}
    for k in d:
        if k == "a":
            del d["a"]
            d["z"] = 1
        n = n * n
    return d, n


def key_taken_out(x, n):
    d = {"a": 1, "b": 2}
    for _k in d:
        del d["b"]
        n = n * n
    return d, n


@pytest.mark.parametrize("n", [3, 2**40])
@pytest.mark.parametrize("function", [new_key, new_item, one_key_for_another, key_taken_out], ids=lambda f: f.__name__)
def test_other_keys_raise(function, n):
    check_left_to_numpy(function, np.arange(3.0), n)
