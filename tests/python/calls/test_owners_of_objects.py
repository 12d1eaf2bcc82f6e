"""Objects that calls give live as long as something that is made of them, and no longer than in the interpreter."""

import gc
import weakref

import numpy as np
import pytest
from support.outcome import assert_same

import accel

alive = []
seen = []


class Part:
    def __init__(self, number):
        self.number = number

    def __format__(self, spec):
        return f"part {self.number:06d}"


def text_of(number):
    eval("0")
    return f"piece {number:06d}"


def reuse_memory(number):
    """Make texts of the size of `text_of`, in the memory of those that are gone."""
    eval("0")
    alive.append([f"other {each:06d}" for each in range(20)])
    return number


def show(text):
    eval("0")
    seen.append(text)


def drop(items, number):
    eval("0")
    items.clear()
    return reuse_memory(number)


def in_a_text(count):
    total = 0
    for number in range(count):
        text = f"<{text_of(number)}>"
        total += reuse_memory(number)
        show(text)
    return total


def in_a_text_alone(count):
    total = 0
    for number in range(count):
        piece = text_of(number)
        text = f"<{piece}, {piece}>"
        piece = None
        total += reuse_memory(number)
        show(text)
    return total


def in_a_list_that_the_callee_clears(count):
    total = 0
    for number in range(count):
        piece = text_of(number)
        text = f"<{piece}>"
        total += drop([piece], number)
        piece = None
        show(text)
    return total


def shown_before_the_text(count):
    total = 0
    for number in range(count):
        piece = text_of(number)
        text = f"<{piece}>"
        total += drop([number], (show(piece), number)[1])
        show(text)
    return total


def in_a_nested_tuple(count):
    total = 0
    for number in range(count):
        pair = (number, (text_of(number), text_of(number + 1)))
        total += reuse_memory(number)
        show(pair[1][0])
        total += reuse_memory(number)
        show(pair[1][1])
    return total


def in_a_message(kind):
    for number in range(max(np.iinfo(kind).min, 0), 128):
        message = f"of {kind}({number})"
        if kind(number).bit_count() != number.bit_count():
            raise ValueError(message)


@pytest.mark.parametrize(
    "function", [in_a_text, in_a_text_alone, in_a_list_that_the_callee_clears, shown_before_the_text, in_a_nested_tuple]
)
def test_pieces_live_as_long_as_what_is_made_of_them(function):
    def shown_by(called):
        seen.clear()
        total = called(9)
        alive.clear()
        return total, list(seen)

    expected, compiled = shown_by(function), accel.compile(function)
    for _ in range(5):
        assert shown_by(compiled) == expected
    assert accel.explain(compiled)(9).compiled


@pytest.mark.parametrize("kind", [np.int8, np.int16, np.int64])
def test_messages_of_exceptions(kind):
    compiled = accel.compile(in_a_message)
    assert_same(in_a_message, compiled, kind, times=6)
    assert accel.explain(compiled)(kind).compiled


def part(number):
    eval("0")
    made = Part(number)
    alive.append(weakref.ref(made))
    return made


def count_alive():
    eval("0")
    return sum(each() is not None for each in alive)


def in_a_variable(count):
    counts = []
    for number in range(count):
        made = part(number)
        counts.append(count_alive())
        made = None  # noqa: F841
        counts.append(count_alive())
    return counts


def in_an_argument(count):
    counts = []
    for number in range(count):
        show(f"{part(number)}")
        counts.append(count_alive())
    return counts


@pytest.mark.parametrize("function", [in_a_variable, in_an_argument])
def test_objects_die_when_they_do_in_the_interpreter(function):
    def counts_of(called):
        gc.collect()
        alive.clear()
        return called(5)

    expected, compiled = counts_of(function), accel.compile(function)
    for _ in range(5):
        assert counts_of(compiled) == expected
    assert accel.explain(compiled)(5).compiled
    alive.clear()
    seen.clear()
