"""Containers that hold themselves, one another again and again, or are nested very deeply: capture's walks over them end."""

import functools

import numpy as np
import pytest
from support.outcome import assert_same

import accel


def in_itself():
    items = []
    items.append(("f", items))
    return items


def in_one_another():
    first, second = [1.0], [2.0]
    first.append(second)
    second.append((first, {"first": first}))
    return first


def dict_in_itself():
    names = {"x": 1.0}
    names["self"] = names
    return names


def deep_list():
    return functools.reduce(lambda inner, _: [inner], range(20_000), 1.0)


def deep_tuple():
    return functools.reduce(lambda inner, _: (inner,), range(20_000), 1.0)


def doubled_list():
    return functools.reduce(lambda inner, _: [inner, inner], range(40), 1.0)


def doubled_tuple():
    return functools.reduce(lambda inner, _: (inner, inner), range(40), 1.0)


def deep_dict():
    return functools.reduce(lambda inner, _: {"inner": inner}, range(20_000), 1.0)


CONTAINERS = [in_itself, in_one_another, dict_in_itself, deep_list, deep_tuple, doubled_list, doubled_tuple, deep_dict]
ENDLESS = [in_itself, in_one_another, dict_in_itself]


def name_of_error(call, *arguments):
    try:
        call(*arguments)
    except Exception as error:
        return type(error).__name__


def as_dtype(c):
    return name_of_error(np.dtype, c)


def as_argument(c, x):
    return name_of_error(np.sum, x, c)


def as_index(c, x):
    try:
        return x[c]
    except Exception as error:
        return type(error).__name__


def looked_at(c, x):
    first = c[0] if isinstance(c, (list, tuple)) else c
    return len(c), isinstance(first, list), x * 2.0


def in_a_loop(c, x):
    for _ in range(x.shape[0]):
        x = x + len(c)
    return x


def compared(c, x):
    return c is c, [c] == [c], x + 1.0


def handed_on(c, x):
    return [(c, x * 2.0)][0][1], {"c": c}["c"] is c


def as_classes(c, x):
    return name_of_error(isinstance, x, c)


@pytest.mark.parametrize("make", CONTAINERS)
def test_arguments(make):
    container, x = make(), np.arange(3.0)
    doubled = make in (doubled_list, doubled_tuple)  # NumPy walks over these for ever
    for function in (
        (as_argument, looked_at) if doubled else (as_argument, as_index, as_classes, looked_at, compared, handed_on)
    ):
        assert_same_once(function, container, x)
    if make in (in_itself, deep_tuple):
        assert_same_once(in_a_loop, container, x)


def assert_same_once(function, container, x):
    """The arguments cannot be copied or described: that would walk over them."""
    call = accel.compile(function)
    expected = function(container, x)
    for _ in range(2):
        found = call(container, x)
        if isinstance(expected, tuple):
            assert all(np.array_equal(a, b) for a, b in zip(found, expected, strict=True))
        else:
            assert np.array_equal(found, expected)


@pytest.mark.parametrize("make", ENDLESS)
def test_dtypes_that_NumPy_refuses(make):
    call = accel.compile(as_dtype)
    container = make()
    assert call(container) == call(container) == as_dtype(container)


SELF = in_itself()
DEEP = deep_tuple()
DOUBLED = doubled_tuple()


def test_globals():
    def function(x):
        return name_of_error(np.dtype, SELF), len(DEEP), len(DOUBLED), len(SELF[0]), x * 2.0

    assert_same(function, accel.compile(function), np.arange(3.0))


def test_made_in_the_function():
    def dtype_of_itself(x):
        items = []
        items.append(("f", items))
        try:
            return np.dtype(items)
        except RecursionError:
            return x * 2.0

    def array_of_itself(x):
        items = [1.0]
        items.append(items)
        try:
            return np.array(items)
        except ValueError:
            return x * 2.0

    def nested_in_a_loop(x, n):
        items = [1.0]
        for _ in range(n):
            items = [items]
        return len(items), x * 2.0

    def doubled_in_a_loop(x, n):
        items = (1.0,)
        for _ in range(n):
            items = (items, items)
        return len(items), isinstance(items, tuple), x * 2.0

    def dict_of_itself(x):
        names = {"x": x}
        names["self"] = names
        return names["self"]["self"]["x"] * 2.0

    for function in (dtype_of_itself, array_of_itself, dict_of_itself):
        assert_same(function, accel.compile(function), np.arange(3.0))
    assert_same(nested_in_a_loop, accel.compile(nested_in_a_loop), np.arange(3.0), 3000)
    assert_same(doubled_in_a_loop, accel.compile(doubled_in_a_loop), np.arange(3.0), 50)
