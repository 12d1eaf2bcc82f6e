"""Texts of NumPy's numbers and arrays depend on the print options, which the function or its callers may change."""

import re
import threading

import numpy as np
import pytest
from support.compiled import facts
from support.outcome import assert_same

import accel


def after_options(x):
    v = x * 2
    np.set_printoptions(legacy="1.13")
    return str(v), repr(v), f"{v} {v!r} {v!s}"


def within_options(x):
    v = x * 2
    before = str(v)
    with np.printoptions(legacy="1.21"):
        text = repr(v)
    return before, text, repr(v)


def around_options(x):
    s = repr(x.sum())
    np.set_printoptions(legacy="1.13")
    return s, repr(x.sum())


def of_containers(x):
    y, template = x + 1, "{!r} {:.3}"
    return y, str([np.float64(0.5)]), repr((np.float32(0.1), 1)), template.format(np.float64(0.1), np.float64(0.1))


def of_results(x):
    total = x.sum()
    return [str(total), repr(total), f"{total!r:>30}", ascii(total), str(x[0])]


CASES = [
    (after_options, np.float64(1 / 3)),
    (after_options, np.float32(1 / 3)),
    (after_options, np.complex128(1 / 3 + 2j)),
    (after_options, np.int64(4)),
    (within_options, np.float64(1 / 3)),
    (around_options, np.array([1 / 3, 1])),
    (of_containers, np.array([1.0])),
    (of_results, np.array([1 / 3, 1])),
]


@pytest.mark.parametrize(("function", "argument"), CASES)
def test_print_options(function, argument):
    call = accel.compile(function)
    for options in ({}, {"legacy": "1.13"}, {"legacy": "1.25"}, {}):
        with np.printoptions(**options):
            expected = function(argument)
        for _ in range(2):
            with np.printoptions(**options):
                assert str(call(argument)) == str(expected)
    left = function is of_containers or isinstance(argument, np.integer)  # nothing of it is worth compiling
    assert facts(call)["interpreted"] == 0 or left


def test_texts_of_results_are_compiled():
    call = accel.compile(of_results)
    x = np.array([1 / 3, 1])
    for _ in range(2):
        assert call(x) == of_results(x)
    found = facts(call)
    assert found["interpreted"] == found["side_exits"] == 0, accel.explain(call)(x)


LOCK = threading.Lock()


def texts_of_arrays(x):
    y = x * 2
    with np.printoptions(precision=3):
        text = str(y)
    return y + 1, text, f"{y}"


def within_a_lock(x):
    with LOCK:
        y = x * 2
    return y, LOCK.locked()


def raising(x):
    try:
        with np.printoptions(precision=2):
            x[5] = 1.0
    except IndexError:
        return str(x), x + 1


ARRAY = np.array([1 / 3, 2.0])


@pytest.mark.parametrize("function", [texts_of_arrays, within_a_lock])
def test_texts_of_arrays_are_compiled(function):
    """The process makes the texts, and enters and leaves context managers, in the midst of compiled code."""
    call = accel.compile(function)
    assert_same(function, call, ARRAY, times=6)  # each of the first calls finds out what one call gives
    before = facts(call)["side_exits"]
    assert_same(function, call, ARRAY, times=2)
    assert facts(call)["side_exits"] == before and facts(call)["interpreted"] == 0, accel.explain(call)(ARRAY)


def test_an_exception_leaves_a_context_manager():
    call = accel.compile(raising)
    assert_same(raising, call, ARRAY, times=4)
    assert facts(call)["compiled"] > 0 and np.get_printoptions()["precision"] == 8


@pytest.mark.parametrize("exit", range(3, 24, 4))
def test_texts_of_arrays_at_exits(exit):
    with accel.config(stress_exits=exit):
        call = accel.compile(texts_of_arrays, backend="numpy")
        assert_same(texts_of_arrays, call, ARRAY, times=5)
    assert np.get_printoptions()["precision"] == 8


def of_iterables(x):
    y = x * 2.0
    iterator, keys, pairs = iter([1.0]), {1: 2}.keys(), zip([1], [2])  # noqa: B905
    return str(iterator), repr(keys), str(keys), "{} {}".format(pairs, keys), sorted(keys), "".join(iter("ab")), y  # noqa: UP032


def of_unknown_objects(x):
    y = x * 2.0
    numbers = np.ma.array(x)
    return hasattr(numbers, "mask"), (numbers != numbers).any(), y  # noqa: PLR0124


@pytest.mark.parametrize("function", [of_iterables, of_unknown_objects])
def test_objects_that_are_not_their_items(function):
    """The text of an iterator or a view is not that of its items; what a call gives has attributes and comparisons of its
    own.
    """
    call = accel.compile(function, backend="numpy")

    def outcome(of):
        return [re.sub("0x[0-9a-f]+", "", part) if isinstance(part, str) else part for part in of(np.arange(3.0))[:-1]]

    assert outcome(call) == outcome(call) == outcome(call) == outcome(function)
    assert facts(call)["compiled"] > 0
