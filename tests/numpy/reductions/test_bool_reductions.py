"""any, all, extremes and their places of bools, at all lengths: early ends change no result and drop no event."""

import numpy as np
import pytest
from support.compiled import assert_all_compiled
from support.differential import check, check_cases

import accel

FUNCTIONS = {
    "any": lambda m: m.any(),
    "all": lambda m: m.all(),
    "max": lambda m: m.max(),
    "min": lambda m: m.min(),
    "argmax": lambda m: m.argmax(),
    "argmin": lambda m: m.argmin(),
    "xor": lambda m: np.bitwise_xor.reduce(m),
    "extremes": lambda m: (np.maximum(m, m[::-1]), np.minimum(m, m[::-1]), np.fmax(m, ~m), np.fmin(m, ~m)),
}
LENGTHS = [1, 2, 31, 32, 63, 64, 65, 127, 200, 511, 512, 600, 2047, 2048, 2049, 5000, 8193, 20_000, 70_001]


def masks(length):
    """None true, all true, one true or one false at some places, many."""
    yield np.zeros(length, bool)
    yield np.ones(length, bool)
    for place in {0, length // 2, length - 1}:
        one = np.zeros(length, bool)
        one[place] = True
        yield one
        yield ~one
    yield np.random.default_rng(length).random(length) < 0.5


@pytest.mark.parametrize("name", FUNCTIONS)
def test_lengths(name):
    function = FUNCTIONS[name]
    call = accel.compile(function)
    for length in LENGTHS:
        for mask in masks(length):
            assert repr(call(mask)) == repr(function(mask)), (length, mask)
    assert_all_compiled(call)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("name", ["any", "all", "argmax", "argmin", "max"])
def test_rows(name, axis):
    rng = np.random.default_rng(1)

    def function(m):
        return getattr(np, name)(m, axis=axis)

    masks = [rng.random(shape) < 0.02 for shape in [(3, 5), (40, 200), (7, 70), (600, 3)]]
    cases = [(each,) for mask in masks for each in (mask, ~mask)]
    check_cases(function, cases + [(np.repeat(mask, 2, axis=1)[:, ::2],) for mask in masks], lambda function, case: True)


@pytest.mark.parametrize("reduce", ["any", "all", "argmax", "argmin"])
def test_events_after_the_deciding_element(reduce):
    """The first element decides; the last one divides by zero, and NumPy warns."""
    x = np.ones(5000)
    x[-1] = 0.0
    function = {
        "any": lambda x: (1 / x > 0).any(),
        "all": lambda x: (1 / x < 0).all(),
        "argmax": lambda x: (1 / x > 0).argmax(),
        "argmin": lambda x: (1 / x < 0).argmin(),
    }[reduce]
    call = accel.compile(function)
    call(np.ones(5000))
    assert_all_compiled(call, np.ones(5000))
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        assert call(x) == {"any": True, "all": False, "argmax": 0, "argmin": 0}[reduce]


@pytest.mark.parametrize("name", ["logical_and", "logical_or", "logical_xor"])
def test_logical_reductions_of_one_number_begin_with_initial(name):
    ufunc = getattr(np, name)

    def reduced(x):
        return [ufunc.reduce(x, axis=None, initial=first) for first in (0, 1, 2)], ufunc.reduce(x, axis=None)

    for x in (np.uint8(3), np.float32(0), np.array(3, "u1"), np.array(0.0), np.bool_(True)):
        check(reduced, x)
