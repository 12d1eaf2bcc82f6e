"""np.arange of numbers of all types: length, values and dtype as NumPy computes them from the objects."""

import itertools
import random
import warnings

import numpy as np
import pytest
from support.differential import check
from support.outcome import assert_same

import accel

INTEGERS = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64]
FLOATS = [np.float16, np.float32, np.float64]
KINDS = [int, float, bool, np.bool_, *INTEGERS, *FLOATS]
WHOLE = [0, 1, 3, 7, 100, 120, 127, 200, 250, -5, -1]
FRACTIONS = [0.0, 0.5, 1.5, 7.0, 0.1, -2.25, 0.001, 3.3, 0.30000001]


def one(b, x):
    return np.arange(b), x * 2.0


def two(a, b, x):
    return np.arange(a, b), x * 2.0


def three(a, b, c, x):
    return np.arange(a, b, c), x * 2.0


def stepped(b, c, x):
    return np.arange(b, step=c), x * 2.0


def as_float32(a, b, c, x):
    return np.arange(a, b, step=c, dtype=np.float32), x * 2.0


def as_float64(a, b, c, x):
    return np.arange(start=a, stop=b, step=c, dtype=np.float64), x * 2.0


def as_int8(a, b, c, x):
    return np.arange(a, b, c, np.int8), x * 2.0


def as_uint8(a, b, c, x):
    return np.arange(a, b, c, dtype=np.uint8), x * 2.0


FORMS = {one: 1, two: 2, three: 3, stepped: 2, as_float32: 3, as_float64: 3, as_int8: 3, as_uint8: 3}


def number(kind, rng):
    if kind in (bool, np.bool_):
        return kind(rng.random() < 0.7)
    if kind in (float, *FLOATS):
        return kind(rng.choice(FRACTIONS))
    fitting = [v for v in WHOLE if kind is int or np.iinfo(kind).min <= v <= np.iinfo(kind).max]
    return kind(rng.choice(fitting))


def is_short(form, numbers):
    """Not a range that fills the memory, as it does where unsigned integers wrap around."""
    names = {1: "b", 2: "bc" if form is stepped else "ab", 3: "abc"}[len(numbers)]
    given = dict(zip(names, numbers, strict=True))
    a, b, c = given.get("a", 0), given["b"], given.get("c", 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            counts = [abs(float((b - a) / c)), abs(float(b) - float(a)) / max(abs(float(c)), 1e-300)]
        except (TypeError, OverflowError, ZeroDivisionError):
            return True
    return all(n < 10_000 or not np.isfinite(n) or n > 1e200 for n in counts)


@pytest.mark.parametrize("form", FORMS, ids=lambda f: f.__name__)
def test_numbers_of_all_types(form):
    rng = random.Random(form.__name__)
    for _ in range(60):
        numbers = [number(rng.choice(KINDS), rng) for _ in range(FORMS[form])]
        if is_short(form, numbers):
            assert_same(form, accel.compile(form, backend="numpy"), *numbers, np.arange(3.0), times=2)


CASES = [
    (three, (np.float32(0), np.float32(1), np.float32(0.1))),
    (three, (np.float32(0.5), 3, 1)),
    (three, (np.int8(1), np.int8(100), np.int8(7))),
    (two, (np.uint8(3), np.uint8(200))),
    (three, (np.uint8(3), np.int16(200), np.int32(11))),
    (one, (np.float16(5.5),)),
    (one, (np.int32(5),)),
    (one, (np.bool_(True),)),
    (three, (0.0, 1.0, 0.1)),
    (three, (1, 2.5, np.float32(0.25))),
    (as_float32, (0, 5, 1)),
    (as_int8, (np.int16(5), 90, np.float32(2.0))),
]


@pytest.mark.parametrize("case", range(len(CASES)))
def test_compiled(case):
    form, numbers = CASES[case]
    check(form, *numbers, np.arange(3.0))


def test_differences_that_wrap_around_warn():
    for numbers in ((np.uint8(200), np.uint8(3)), (np.int8(-100), np.int8(100))):
        assert_same(two, accel.compile(two, backend="numpy"), *numbers, np.arange(3.0))
    assert_same(three, accel.compile(three, backend="numpy"), np.int8(100), np.int8(120), np.int8(100), np.arange(3.0))


def test_warnings_that_the_first_caller_ignores():
    call = accel.compile(three, backend="numpy")
    arguments = (np.int8(100), np.int8(120), np.int8(100), np.arange(3.0))
    with np.errstate(over="ignore"):
        assert_same(three, call, *arguments)
    assert_same(three, call, *arguments)


def test_quotients_that_underflow():
    numbers = 0, np.finfo(np.float64).eps, np.finfo(np.float64).max
    assert_same(three, accel.compile(three, backend="numpy"), *numbers, np.arange(3.0))


def test_integers_that_floats_do_not_hold():
    for start, form in itertools.product((2**24 - 2, 2**24, 2**30), (as_float32, as_float64)):
        assert_same(form, accel.compile(form, backend="numpy"), start, start + 5, 1, np.arange(3.0))
    assert_same(as_float64, accel.compile(as_float64, backend="numpy"), 2**53 - 1, 2**53 + 4, 1, np.arange(3.0))
    assert_same(three, accel.compile(three, backend="numpy"), 0, 2**60 + 1, 2**58, np.arange(3.0))
    assert_same(as_int8, accel.compile(as_int8, backend="numpy"), 127, 130, 1, np.arange(3.0))
    assert_same(as_int8, accel.compile(as_int8, backend="numpy"), 100, 128, 1, np.arange(3.0))


def test_one_version_for_all_sizes():
    def function(n, m):
        return np.arange(n, n + m, 2) * 3

    call = accel.compile(function)
    for n, m in itertools.product((0, 1, 5, 100), (0, 1, 7)):
        assert_same(function, call, n, m)
    assert accel.stats(call)["recompiles"] <= 1
