"""Products of complex numbers have NumPy's bits whatever way NumPy goes through the arrays: fused, or not."""

import numpy as np
import pytest
from support.compiled import facts
from support.covering import pairs
from support.differential import check_in_loops, check_left_to_numpy, layouts
from support.outcome import assert_same

import accel

LAYOUTS = {
    "whole": lambda x: x,
    "backwards": lambda x: x[::-1],
    "steps": lambda x: np.repeat(x, 2, axis=0)[::2],
    "steps_back": lambda x: np.repeat(x, 2, axis=0)[::-2],
    "columns": lambda x: np.repeat(x[..., None], 3, axis=-1)[..., 1],
}
SHAPES = [(1,), (2,), (40,), (1, 5), (5, 1), (4, 5)]


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


@pytest.mark.parametrize(
    ("function", "layout", "dtype"),
    pairs([multiply_in_place, square_in_place, multiply_into, products], list(LAYOUTS), ["complex64", "complex128"]),
)
def test_layouts(function, layout, dtype):
    lay = LAYOUTS[layout]
    call = accel.compile(function)
    for k, shape in enumerate(SHAPES):
        for other in {layout, list(LAYOUTS)[k % 2]}:  # whole memory and backwards in turns
            for seed in range(4):
                x, y = numbers(shape, dtype, seed), numbers(shape, dtype, seed + 50)
                assert_same(function, call, lay(x.copy()), LAYOUTS[other](y.copy()), times=1)
    assert facts(call)["compiled"] > 0


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_numbers_without_axes_in_place(dtype):
    """NumPy takes the product of a number with itself as out for a reduction."""

    def products_in_place(x, y, a, b, out):
        x *= y
        np.multiply(y, a, out=a)
        b **= 2
        np.multiply(x, y, out=out)

    call = accel.compile(products_in_place)
    for seed in range(30):
        arguments = [np.array(number) for number in numbers(5, dtype, seed)]
        assert_same(products_in_place, call, *arguments, times=1)
    assert facts(call)["interpreted"] == facts(call)["side_exits"] == 0


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
    assert facts(call)["interpreted"] == facts(call)["side_exits"] == 0


def lonely(shape, dtype, backwards, seed):
    """An array of one element, whose axes may have negative strides."""
    x = numbers((3,) * len(shape), dtype, seed)
    for axis in range(len(shape)):
        x = np.flip(x, axis)[(slice(None),) * axis + (slice(0, 1),)] if backwards else np.take(x, [2], axis)
    return x


def one_element(x, y, out, wide, m):
    """NumPy's iterator gives loops of one element no strides: where it casts, aligns or has a mask."""
    first, second = out.copy(), wide.astype(np.complex128)
    np.multiply(x, y, out=second)
    np.multiply(x, y, out=first, where=m)
    return np.multiply(x, y, out=out), x * y, np.square(x), np.multiply(x, 1.5 - 0.5j), np.abs(x), np.outer(x, y), second, first


ONE_ELEMENT = [((1,), (1,)), ((1, 1), (1,)), ((1, 1), (1, 1)), ((), (1, 1))]


@pytest.mark.parametrize("dtypes", [("complex64", "complex64"), ("complex64", "complex128"), ("complex128", "complex128")])
def test_one_element(dtypes):
    """Whether its product is fused depends on the ranks, on casts, on a mask, and on the signs of strides."""
    call = accel.compile(one_element)
    for shapes in ONE_ELEMENT:
        shape = max(shapes, key=len)
        for backwards in (False, True) if shapes == ONE_ELEMENT[0] else (False,):
            for seed in range(8):
                x, y = (lonely(shapes[k], dtypes[k], backwards, seed + 50 * k) for k in range(2))
                out, wide = lonely(shape, np.result_type(x, y), backwards, 0), np.zeros(shape)
                assert_same(one_element, call, x, y, out, wide, np.ones(shape[:1], bool), times=1)
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


START = 0.7 - 1.3j


def over_axes(x):
    column = np.multiply.reduce(x, axis=0, initial=START)
    return x.prod(), x.prod(0), x.prod(-1), x.prod(1, keepdims=True), column, x.prod(1, initial=START), x.prod(initial=START)


def over_several_axes(x):
    return (
        *(x.prod(axis=axis) for axis in ((0, 2), (1, 2), (0, 1), 1)),
        *(np.prod(x, axis=axis, initial=START) for axis in ((0, 1), (0, 2), 0, 1, 2, ())),
    )


def under_a_mask(x, m):
    return (
        *(x.prod(axis=axis, where=m) for axis in (0, 1, None)),
        *(x.prod(axis=axis, where=m, initial=START) for axis in (0, 1)),
        *(x.prod(axis=1, where=part) for part in (m[0], m[:, :1])),
    )


def into(x, row, column):
    same = x.prod(0, out=row) is row, np.multiply.reduce(x, axis=1, out=column, keepdims=True, initial=START) is column
    return same, row, column


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
class TestReductions:
    """Fused where NumPy's inner loop goes along a kept axis: extents of 1 and signs of strides decide."""

    @pytest.mark.parametrize("shape", [(5, 9), (1, 5), (5, 1), (1, 1), (2, 3), (0, 3), (3, 0)], ids=str)
    def test_two_axes(self, shape, dtype):
        """The dtypes take turns over the layouts."""
        x = numbers(shape, dtype)
        arrays = [*(array for _, array in layouts(x)), x[::-1], x[:, ::-1], x[::-1, ::-1], np.asfortranarray(x)[::-1]]
        for array in arrays[dtype == "complex64" :: 2]:
            check_in_loops(over_axes, array)

    @pytest.mark.parametrize("shape", [(3, 4, 5), (1, 4, 3), (3, 1, 4), (3, 4, 1), (3, 1, 1), (1, 1, 4)], ids=str)
    def test_three_axes(self, shape, dtype):
        """The dtypes take turns over the layouts that are the same to NumPy for both."""
        x = numbers(shape, dtype)
        arrays = [*(array for _, array in layouts(x)), x.transpose(1, 0, 2), x.transpose(2, 0, 1)]
        for array in arrays[dtype == "complex64" :: 2]:
            check_in_loops(over_several_axes, array)
        # Buffers have no negative strides, and whether NumPy uses them may depend on sizes.
        check_in_loops(over_several_axes, x[::-1, ::-1, ::-1])
        for array in (x[:, ::-1], x[:, ::-1, ::-1], x[:, :, ::-1]):
            (check_left_to_numpy if dtype == "complex64" else check_in_loops)(over_several_axes, array)
        check_in_loops(lambda x: (x[:, ::-1, ::-1].prod(0), x[:, ::-1].prod(2), x[:, :, ::-1].prod(1)), x)

    def test_long(self, dtype):
        x = 1 + numbers((300, 40), dtype) / 50
        check_in_loops(over_axes, x)
        check_in_loops(over_axes, x.T[::-1])
        check_in_loops(lambda x: x.prod(0), 1 + numbers((3, 8193), dtype) / 50)

    def test_one_version_for_all_sizes(self, dtype):
        call = accel.compile(lambda x: (x.prod(), x.prod(initial=START)), fullgraph=True)
        for size in range(12):
            assert_same(call.__wrapped__, call, numbers(size, dtype), times=1)
        assert facts(call)["compiles"] == 1 and facts(call)["interpreted"] == 0

    @pytest.mark.parametrize("shape", [(5, 9), (1, 5), (5, 1), (1, 1)], ids=str)
    def test_masks(self, shape, dtype):
        m = np.random.default_rng(2).random(shape) < 0.6
        check_in_loops(under_a_mask, numbers(shape, dtype), m)
        check_in_loops(under_a_mask, numbers(shape, dtype)[::-1, ::-1], m[::-1, ::-1])
        check_left_to_numpy(under_a_mask, np.asfortranarray(numbers(shape, dtype)), m)
        x = np.where(m, numbers(shape, dtype), np.inf)  # no events where nothing counts
        check_in_loops(lambda x, m: (x.prod(0, where=m), x.prod(1, where=m)), x.astype(dtype), m)

    def test_into_arrays(self, dtype):
        x, wide = numbers((5, 9), dtype), np.zeros((6, 18), dtype)
        for i, array in enumerate((x, x[:, ::-1], np.asfortranarray(x))):
            outs = [(wide[0, :9], wide[:5, :1]), (wide[1, ::-2], wide[:0:-1, :1]), (wide[1, ::2], wide[1:, 3:4])]
            # The wide dtype goes into two of the three, the other one into the third.
            for row, column in [outs[i]] if dtype == "complex64" else outs[:i] + outs[i + 1 :]:
                check_in_loops(into, array, row.copy() if row.flags.forc else row, column)
        x, out = numbers((5, 3, 4), dtype), np.zeros((5, 4), dtype)
        for array in (x, x.transpose(2, 1, 0).copy().transpose(2, 1, 0), x.transpose(2, 0, 1).copy().transpose(1, 2, 0)):
            other = np.asfortranarray(out) if dtype == "complex64" else out
            check_left_to_numpy(lambda x, out: x.prod(1, out=out), array, other)
        check_left_to_numpy(lambda x: x.prod(0, out=x[1]), numbers((3, 4), dtype))
        check_left_to_numpy(lambda z: z[:, ::2].prod(0, out=z[0, 1::2]), numbers((3, 8), dtype))

    def test_repeated_and_computed_elements(self, dtype):
        def repeated(x):
            wide = np.broadcast_to(x[:, :1], (5, 6))
            return wide.prod(0), wide.prod(1), np.broadcast_to(x[:1], (6, 9)).prod(0), wide.prod(1, initial=START)

        def computed(x):
            return (x * 2).prod(0), (x + 1).prod(1), (x - x[::-1]).prod(), x[::2, ::-1].prod(0), (x * x).T.prod(1)

        check_in_loops(repeated, numbers((5, 9), dtype))
        check_in_loops(computed, numbers((5, 9), dtype))

    def test_casts(self, dtype):
        for other in ("float32", "complex64", "complex128", "int16"):
            x = (10 * numbers((5, 9), "complex128")).astype("int16").astype(other) if other == "int16" else None
            x = numbers((5, 9), "complex128").astype(other) if x is None else x
            for array in (x, x[::-1, ::-1], x.T):
                check_in_loops(lambda x: (x.prod(0, dtype=dtype), x.prod(1, dtype=dtype, initial=START)), array)

    def test_numbers(self, dtype):
        check_in_loops(lambda x: (x.prod(), x.prod(initial=START), x * 1), np.array(2 + 3j, dtype))
        check_in_loops(lambda x: (x[0].prod(), x[1].prod(initial=START), x * 1), numbers(3, dtype))

    @pytest.mark.parametrize("value", [complex(-0.0, -0.0), complex(0.0, -0.0), complex(np.inf, 1), complex(np.nan, 1), 1e300j])
    def test_special_values(self, value, dtype):
        """Of NaNs the sign is not told."""

        def parts(results):
            return [np.nan_to_num(np.atleast_1d(each).view(each.real.dtype), nan=7.0, posinf=8.0) for each in results]

        with np.errstate(all="ignore"):
            x, m = np.full((3, 4), value, dtype), np.arange(12).reshape(3, 4) % 3 > 0
            for function, arguments in ((over_axes, (x,)), (under_a_mask, (x, m))):
                got, expected = accel.compile(function)(*arguments), function(*arguments)
                assert [each.tobytes() for each in parts(got)] == [each.tobytes() for each in parts(expected)]


def test_products_of_python_numbers_by_the_numpy_backend():
    def product(z, c):
        return z * c, z * 2, z * c * z

    rng = np.random.default_rng(5)
    call = accel.compile(product, backend="numpy")
    for _ in range(200):
        assert_same(product, call, complex(*rng.normal(size=2)), complex(*rng.normal(size=2)), times=1)
    assert facts(call)["compiled"] > 0


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_squares_of_numbers(dtype):
    """NumPy's first square of a number in a process is another one: only after it are its bits those of all later ones."""

    def squares(z, x):
        return np.square(z), np.square(x[0]), np.square(z + 1), np.sum(np.square(x[1])), np.square(x[2:3]), np.multiply(z, z)

    np.square(np.dtype(dtype).type(1j))
    np.square(1j)
    rng = np.random.default_rng(6)
    call = accel.compile(squares, fullgraph=True)
    for _ in range(60):
        x = (rng.normal(size=3) + 1j * rng.normal(size=3)).astype(dtype)
        assert_same(squares, call, x[0], x, times=1)
        assert_same(squares, call, x[0].item(), x, times=1)
    for x in (np.array(x[0]), x[:1]):
        call = accel.compile(lambda x: np.square(x), fullgraph=True)
        assert_same(np.square, call, x)
