"""Integer arrays as indices: gathers, scatters, NumPy's order of axes and memory, bounds."""

import numpy as np
import pytest
from support.compiled import facts
from support.differential import check, check_left_to_numpy, layouts, sample

I = np.array([2, 0, 3, 2, -1])
J = np.array([1, 4, -5, 0, 2])
GATHERS = [
    "x[i]",
    "x[i, j]",
    "x[i[:, None], j]",
    "x[:, j]",
    "x[:, :, k]",
    "x[..., k]",
    "x[i, :, k]",
    "x[:, j, k]",
    "x[0, :, k]",
    "x[:, 1, k]",
    "x[i, 0]",
    "x[i, 1:3]",
    "x[1:, j]",
    "x[::-1, j, ::2]",
    "x[None, i]",
    "x[:, None, j]",
    "x[i, None]",
    "x[i, ..., 0]",
    "x[i, None, j]",
    "x[i.reshape(5, 1), :, k]",
    "x[i.reshape(1, 5)]",
    "x[:, j.reshape(5, 1)]",
    "x[[0, 2]]",
    "x[[0, -1], [1, 2]]",
    "x[:, [1, 1, 0]]",
    "x[()]",
    "x[[]]",
    "x[i[:0]]",
    "x[i[i > 5]] if False else x[i]",
]


@pytest.mark.parametrize("code", GATHERS)
def test_gathers(code):
    """Each gather is of an array in C order and of one other: in Fortran order, or reversed."""
    function = eval(f"lambda x, i, j, k: ({code}, {code} + 1.0)", {"np": np})
    x, k = sample((4, 5, 6)), np.array([5, 0, -6, 3, 3])
    check(function, x, I, J, k)
    other = (np.asfortranarray(x), np.ascontiguousarray(x[::-1, :, ::-1])[::-1, :, ::-1])[GATHERS.index(code) % 2]
    check(eval(f"lambda x, i, j, k: {code} + 1.0", {"np": np}), other, I, J, k, times=1)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "uint32", "int64", "uint64", "intp"])
def test_index_dtypes(dtype):
    index = np.array([1, 0, 3], dtype)
    check(lambda x, i: (x[i], x[:, i]), sample((5, 6)), index)
    if np.dtype(dtype).kind == "i":
        check(lambda x, i: x[i], sample((5, 6)), -index)
    check_left_to_numpy(lambda x, i: x[i], sample((3, 6)), index)


@pytest.mark.parametrize("dtype", ["bool", "int16", "float32", "complex128"])
def test_element_dtypes(dtype):
    check(lambda x, i: (x[i], x[i, i]), sample((5, 6), dtype), I)


def test_index_layouts():
    x = sample((7, 3))
    for _, i in layouts(np.arange(12).reshape(3, 4) % 7):
        check(lambda x, i: (x[i], x[:, 0][i], x[i, i % 3], x[i, 0]), x, i, times=1)


def test_scalars():
    check(lambda x, i: (x[i], x[0, i], x[i, 1:]), sample((4, 5)), np.array(2))
    check(lambda x: (x[np.array(1)], x[np.int64(2), np.array(0)]), sample((4, 5)))


def test_out_of_bounds():
    for bad in (4, -5, 2**40):
        check_left_to_numpy(lambda x, i: x[i], sample((4, 5)), np.array([0, bad]))
        check_left_to_numpy(lambda x, i: x[:, 0][i], sample((4, 5)), np.array([0, bad]))
    check_left_to_numpy(lambda x: x[[0, 4]], sample((4, 5)))
    check_left_to_numpy(lambda x, i: x[i], sample((0, 5)), np.array([0]))
    check(lambda x, i: x[i], sample((0, 5)), np.array([], dtype=int))


def test_effects_before_an_error_stay():
    def function(x, i):
        x[0] = 1.0
        x[i] = 2.0
        return x

    check_left_to_numpy(function, sample(4), np.array([1, 9]))


def test_bad_indices():
    check_left_to_numpy(lambda x, i: x[i], sample(5), np.array([1.0]))
    check_left_to_numpy(lambda x, i: x[i], sample(5), np.array([]))
    check_left_to_numpy(lambda x, i: x[i, i], sample(5), np.array([1]))
    check_left_to_numpy(lambda x, i, j: x[i, j], sample((5, 5)), np.array([1, 2]), np.array([1, 2, 3]))
    check_left_to_numpy(lambda x: x[[1.0]], sample(5))


SCATTERS = [
    "z[i] = 7",
    "z[i] = y[:5]",
    "z[i, j] = 7.5",
    "z[i, j] = y[:5, 0]",
    "z[:, j] = y[0]",
    "z[:, j] = y[:4]",
    "z[1:, j] += 2",
    "z[i] += 1",
    "z[i, 1:3] *= 2.0",
    "z[::-1, j, ::2] = -1.0",
    "z.T[k] = 3",
    "z[:, :, k] = y[:4, :, :5]",
    "z[0, :, k] = y[0].T if False else 1.5",
    "z[i[:, None], j] = y[:, :5]",
    "z.reshape(-1)[i] = 4",
    "z.reshape(20, 6)[i, k] = 4",
    "z[[0, 2]] = 1",
    "z[[1, 1, 1]] = y[:3]",
    "z[1][j] = y[1]",
    "z[i, None] = 2",
    "z[[]] = 2",
]


@pytest.mark.parametrize("code", SCATTERS)
def test_scatters(code):
    source = f"def function(x, y, i, j, k):\n    z = x * 2.0\n    {code}\n    return z, z + 1.0\n"
    names = {"np": np}
    exec(source, names)
    k = np.array([5, 0, -6, 3, 3])
    check(names["function"], sample((4, 5, 6)), sample((5, 5, 6), seed=1), I, J, k)


def test_last_of_equal_indices_wins():
    def function(x, i, v):
        z = x * 1.0
        z[i] = v
        w = x * 1.0
        w[i, i] = v[:, 0]
        return z, w

    check(function, sample((3, 3)), np.array([1, 1, 2, 1]), sample((4, 1)))
    check(function, sample((3, 3)), np.array([1, 1, 2, 1])[::-1], sample((4, 1)))
    grid = np.arange(12).reshape(3, 4) % 3
    check(function, sample((3, 3)), grid, sample((3, 4, 1)))

    def plain(x, i, v):
        z = x * 1.0
        z[i] = v
        return z

    values = sample((3, 4))
    indices_and_values = [(i, values) for _, i in list(layouts(grid))[:3]] + [(grid, v) for _, v in list(layouts(values))[1:3]]
    for i, v in indices_and_values:
        check(plain, sample(3), i, v, times=1)


def test_permutations():
    def function(x, i):
        z = x * 1.0
        z[i] = z[i[::-1]]
        return z

    check(function, sample(4), np.array([0, 2, 1, 3]))


def test_casts():
    def function(x, i):
        a = np.zeros(6, dtype=np.int32)
        a[i] = x[:5]
        b = np.zeros(6, dtype=np.float32)
        b[i] = x[i] + 1
        b[i] = [1, 2, 3, 4, 5]
        return a, b

    check(function, sample(6), I)


def test_masks_and_indices():
    def function(x, m, i):
        return x[m, i] if False else x[i][:, m.shape[0] - 4 :]

    check(function, sample((4, 5)), np.array([True, False, True, True]), I)


def test_zero_dimensional_indices():
    def function(x, i):
        y = x[i]
        y += 1.0
        x[i] = 5.0
        x[i, 1] = 6.0
        return y

    check(function, sample((4, 5)), np.array(2))


def test_elements_of_a_view_of_a_number():
    """A number has no memory that indices could go to."""
    call = check_left_to_numpy(lambda x: np.isin(x, [1, 2]), 3)
    assert facts(call)["compiled"] > 0
