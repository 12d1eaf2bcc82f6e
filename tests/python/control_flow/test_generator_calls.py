"""Calls that return generators: what happens at the call, and what at the first item."""

from collections import deque

import numpy as np
import pytest
from support.compiled import facts
from support.outcome import assert_same

import accel


class Countdown:
    """Its iterator is made by Python code, which counts how often."""

    def __init__(self, n):
        self.n, self.made = n, 0

    def __iter__(self):
        self.made += 1
        return iter(range(self.n, 0, -1))


def of_an_object(x, y):
    made = Countdown(3)
    g = (v * 2.0 for v in made)
    before = made.made
    return x * sum(g) + y, before, made.made


def of_a_set(x, y):
    g = (v * 2.0 for v in {1.0, 2.0})
    return x * sum(g) + y


def of_no_iterable(x, y):
    try:
        g = (v for v in 3.5)
    except TypeError as e:
        return x + y, str(e)
    return x * 2, next(g)


def unused(x, y):
    g = (v for v in 3.5)
    return x * 2, g


def of_an_iterator(x, y):
    """The iterator is made at the call: what is appended later is seen, what the name refers to later is not."""
    items = [1.0, 2.0]
    g = (v for v in items)
    items.append(4.0)
    items = [8.0]
    return x * sum(g) + len(items) * y


def passed_on(x, y):
    g = (v for v in [1.0, 2.0, 4.0])
    return x + y, deque(g)


def captured_argument(x, y):
    def scaled(items, factor):
        def term(k):
            return items[k] * factor

        yield term(0)
        yield term(1)

    return x + y, deque(scaled([1.0, 2.0], 3.0))


def passed_on_after_an_item(x, y):
    g = (v for v in [1.0, 2.0, 4.0])
    return next(g) * x + y, deque(g)


def in_a_loop(x, y):
    total = 0.0
    for k in range(len(x)):
        total += sum(x[i] * y[i] for i in range(k))
    return total


FUNCTIONS = [
    of_an_object,
    of_a_set,
    of_no_iterable,
    unused,
    of_an_iterator,
    passed_on,
    captured_argument,
    passed_on_after_an_item,
    in_a_loop,
]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_calls_that_return_generators(function):
    x, y = np.linspace(0.0, 1.0, 7), np.linspace(2.0, 3.0, 7)
    assert_same(function, accel.compile(function), x, y, times=3)


@pytest.mark.parametrize("function", [of_an_iterator, passed_on, captured_argument, in_a_loop])
def test_they_are_compiled(function):
    x, y = np.linspace(0.0, 1.0, 7), np.linspace(2.0, 3.0, 7)
    call = accel.compile(function)
    call(x, y), call(x, y)
    before = facts(call)
    call(x, y)
    assert facts(call)["side_exits"] == before["side_exits"] and facts(call)["interpreted"] == 0, accel.explain(call)(x, y)
