"""Statements one after the other that go over the rows of the same arrays: block of rows by block of rows."""

import numpy as np
import pytest
from support.differential import check, check_at_exits, check_cases, sample
from support.outcome import assert_same

import accel

NOTE = "block of rows by block of rows"
ROWS, COLUMNS = 300, 70


@pytest.fixture(autouse=True, params=["serial", "threads"])
def workers(request):
    threads, threshold = (1, 100_000) if request.param == "serial" else (2, 0)
    with accel.config(threads=threads, parallel_threshold=threshold):
        yield


def grids(count, rows=ROWS, columns=COLUMNS, dtype="float64"):
    return [sample((rows, columns), dtype) for _ in range(count)]


def check_blocks(function, *arguments):
    call = check(function, *arguments)
    assert NOTE in str(accel.explain(call, verbose=True)(*arguments))
    return call


def waves(ex, ey, hz):
    ey[0, :] = 2.5
    ey[1:, :] -= 0.5 * (hz[1:, :] - hz[:-1, :])
    ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
    hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])


def waves_in_time(ex, ey, hz, steps):
    for _ in range(steps):
        waves(ex, ey, hz)


def waves_that_follow(a, b, c):
    """The rows of each statement need rows before and behind theirs."""
    b[1:-1, 1:-1] = a[:-2, 1:-1] + a[2:, 1:-1] - a[1:-1, :-2]
    c[1:-1, 1:-1] = b[:-2, 1:-1] + b[2:, 1:-1] - b[1:-1, 2:]


def there_and_back(a, b):
    b[1:-1, 1:-1] = 0.25 * (a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:])
    a[1:-1, 1:-1] = 0.25 * (b[:-2, 1:-1] + b[2:, 1:-1] + b[1:-1, :-2] + b[1:-1, 2:])


def chain(a, b, c, d, e):
    """More rows would wait than a block leaves: several sequences."""
    b[1:-1] = a[:-2] + a[2:]
    c[1:-1, 1:] = b[:-2, 1:] + b[2:, :-1]
    d[1:-1] = c[:-2] - c[2:]
    e[1:-1, 1:] = d[:-2, 1:] + d[2:, :-1]
    a[1:-1, 2:] = e[:-2, 2:] + e[2:, :-2]


def upwards(a, b):
    b[:-2, 1:] = a[2:, 1:] - a[2:, :-1]
    a[:, 1:] = b[:, :-1] * 2


def read_as_a_whole(a, b):
    """The first row of what is stored to is read by all rows of the next statement."""
    b[:, 1:] = a[:, :-1] + 1
    a[2:, 1:] = b[2:, 1:] * b[0, 1:]


def other_directions(a, b):
    b[:, 1:] = a[::-1, 1:] + a[::-1, :-1]
    a[:, 1:] = b[:, 1:] * 0.5 + b[:, :-1]


def strides(a, b):
    b[::2, 1:] = a[::2, 1:] + a[::2, :-1]
    a[1::2, 1:] = b[::2, 1:] - b[::2, :-1]


def two_strides(a, b):
    """Of one array in one statement."""
    b[:150, 1:] = a[:300:2, 1:] + a[:150, 1:]
    a[:300:2, 1:] = b[:150, 1:] * 2 - b[:150, :-1]


def row_vectors(a, b, v):
    b[1:, 1:] = (a[1:, 1:] - a[:-1, 1:]) * v[1:]
    a[1:, 1:] += b[1:, 1:] * v[:-1] + b[:-1, 1:]


@pytest.mark.parametrize("dtype", ["float64", "float32", "int32", "complex128"])
@pytest.mark.parametrize("function", [waves_that_follow, there_and_back, upwards], ids=lambda f: f.__name__)
def test_blocks(function, dtype):
    check_blocks(function, *grids(function.__code__.co_argcount, columns=150, dtype=dtype))


def test_in_a_loop():
    check_blocks(waves_in_time, *grids(3), 4)


def test_results_that_the_function_makes():
    def function(a):
        b = np.zeros_like(a)
        c = np.ones_like(a)
        b[1:, 1:] = a[1:, 1:] - a[:-1, 1:]
        c[1:, 1:] = b[1:, 1:] * 2 + b[:-1, 1:]
        return b, c

    check_blocks(function, *grids(1))


def test_row_vectors():
    check_blocks(row_vectors, *grids(2), sample((COLUMNS,)))


@pytest.mark.parametrize("function", [chain, read_as_a_whole, other_directions, strides, two_strides], ids=lambda f: f.__name__)
def test_what_does_not_go_by_blocks_alone(function):
    check(function, *grids(function.__code__.co_argcount))


def test_several_sequences():
    check_blocks(chain, *grids(5))


@pytest.mark.parametrize("function", [waves, waves_that_follow, there_and_back, chain, upwards], ids=lambda f: f.__name__)
def test_numbers_of_rows(function):
    """Of one version: blocks that are full, short, missing, and edges of no rows."""
    count = function.__code__.co_argcount
    sizes = [ROWS, *range(4, 12), 63, 64, 65, 66, 127, 128, 129, 130, 192, 257]
    cases = [grids(count, rows=n) for n in sizes] + [grids(count, columns=2), grids(count, columns=3)]
    check_cases(function, cases, lambda f, c: True)


def test_other_layouts():
    for make in (np.asfortranarray, lambda a: np.repeat(a, 2, axis=1)[:, ::2], lambda a: a[::-1], lambda a: a.T.copy().T):
        check(there_and_back, *[make(a) for a in grids(2)])
    a, b = grids(2)
    check(there_and_back, a, np.asfortranarray(b))


def test_arguments_that_overlap():
    def function(a, b):
        b[1:, 1:] = a[1:, 1:] - a[:-1, 1:]
        a[1:, 1:] = b[1:, 1:] * 2 + b[:-1, 1:]

    call = accel.compile(function)
    call(*grids(2))
    for views in (lambda a: (a[3:], a[:-3]), lambda a: (a, a), lambda a: (a[:-1, 3:], a[1:, :-3])):
        expected, found = (sample((ROWS + 3, COLUMNS)) for _ in range(2))
        function(*views(expected))
        call(*views(found))
        np.testing.assert_array_equal(found, expected)


def test_events():
    """Nothing is stored before the events of all statements are known to be none."""

    def function(a, b, c):
        b[1:, 1:] = a[1:, 1:] * a[:-1, 1:]
        c[1:, 1:] = b[1:, 1:] / b[:-1, 1:]
        a[1:, 1:] = c[1:, 1:] + c[:-1, 1:]

    made = [np.abs(a) + 1 for a in grids(3)]
    call = check_blocks(function, *made)
    for place, value in ((17, 1e200), (64, np.inf), (200, 0.0), (299, np.nan)):
        bad = [a.copy() for a in made]
        bad[0][place] = value
        assert_same(function, call, *bad, times=2)
        with np.errstate(all="ignore"):
            assert_same(function, call, *bad, times=1)


def test_exits():
    def function(a, b, limit):
        b[1:, 1:] = a[1:, 1:] - a[:-1, 1:]
        a[1:, 1:] = b[1:, 1:] * 0.5 + b[:-1, 1:]
        return a.sum() > limit

    check_at_exits(function, *grids(2), 3.0, most=30)
