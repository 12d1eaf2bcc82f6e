"""Products of complex numbers have NumPy's bits whatever way NumPy goes through the arrays: fused, or not."""

import numpy as np
import pytest
from support.compiled import facts
from support.differential import check_left_to_numpy
from support.outcome import assert_same

import accel

LAYOUTS = {
    "whole": lambda x: x,
    "backwards": lambda x: x[::-1],
    "steps": lambda x: np.repeat(x, 2, axis=0)[::2],
    "steps_back": lambda x: np.repeat(x, 2, axis=0)[::-2],
    "columns": lambda x: np.repeat(x[..., None], 3, axis=-1)[..., 1],
}
SHAPES = [(1,), (2,), (5,), (40,), (1, 1), (1, 5), (5, 1), (4, 5)]


def numbers(shape, dtype, seed=0):
    rng = np.random.default_rng(seed)
    return (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(dtype)


def multiply_in_place(x, y):
    x *= y
    return x


def square_in_place(x, y):
    x **= 2
    np.square(y, out=y)


def multiply_into(x, y):
    np.multiply(y, x, out=x)
    np.multiply(x, 1.5 - 0.5j, out=x)


def products(x, y):
    return x * y, x * x, x**2, y * (2.5 + 1j), (x * y) * x


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("function", [multiply_in_place, square_in_place, multiply_into, products])
def test_layouts(function, layout, dtype):
    lay = LAYOUTS[layout]
    call = accel.compile(function)
    for shape in SHAPES:
        for other in LAYOUTS:
            for seed in range(4):
                x, y = numbers(shape, dtype, seed), numbers(shape, dtype, seed + 50)
                assert_same(function, call, lay(x.copy()), LAYOUTS[other](y.copy()), times=1)
    assert facts(call)["compiled"] > 0


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_ranks_that_differ(dtype):
    """NumPy's iterator aligns the operands and gives the loop of a single element no strides."""
    call = accel.compile(products)
    for left, right in (
        ((1, 1), (1,)),
        ((1,), (1, 1)),
        ((1, 1, 1), (1,)),
        ((2, 3), (3,)),
        ((1, 3), (3,)),
        ((2, 1), (1,)),
        ((1, 1), ()),
    ):
        for seed in range(8):
            assert_same(products, call, numbers(left, dtype, seed), np.asarray(numbers(right, dtype, seed + 50)), times=1)
    if dtype == "complex128":  # one complex64 number may lie backwards
        assert facts(call)["interpreted"] == facts(call)["side_exits"] == 0


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_one_element_in_place_is_compiled(dtype):
    call = accel.compile(multiply_in_place, fullgraph=True)
    for size in (1, 2, 7):
        for seed in range(8):
            assert_same(multiply_in_place, call, numbers(size, dtype, seed), numbers(size, dtype, seed + 50), times=1)
    assert facts(call)["interpreted"] == facts(call)["side_exits"] == 0


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("chosen", [0, 1, 2, 9])
def test_selections(dtype, chosen):
    """How many elements a mask selects is known at run time."""

    def scaled(x, m):
        x[m] *= 0.5 - 1.25j
        x[m] = x[m] * x[m]
        return x

    m = np.zeros(9, bool)
    m[:chosen] = True
    for seed in range(8):
        call = check_left_to_numpy(scaled, numbers(9, dtype, seed), m)
        assert facts(call)["compiled"] > 0
        assert (facts(call)["side_exits"] > 0) == (chosen == 1)


@pytest.mark.parametrize("backend", ["native", "numpy"])
def test_backends(backend):
    call = accel.compile(products, backend=backend)
    for shape in ((1, 1), (2, 2)):
        assert_same(products, call, numbers(shape, "complex128"), numbers(shape[1:], "complex128", 3), times=2)
