"""Arrays of a few numbers that are made to be stored, or to be read again."""

import numpy as np
import pytest
from support.compiled import facts
from support.differential import check, check_at_exits, layouts
from support.outcome import assert_same

import accel


def lorenz(n, dt):
    out = np.zeros((n, 3))
    x, y, z = 1.0, 0.5, 0.2
    for i in range(n):
        dx, dy, dz = 10.0 * (y - x), x * (28.0 - z) - y, x * y - 8.0 / 3.0 * z
        x, y, z = x + dx * dt, y + dy * dt, z + dz * dt
        out[i] = x, y, z
    return out


def test_rows_of_a_path():
    check(lorenz, 200, 0.01)
    check(lorenz, 40, 5.0)  # overflows


def swap_columns(p):
    """What is stored is read from where it is stored."""
    for i in range(len(p)):
        p[i] = p[i, 1], p[i, 0]


def rotate(p, angle):
    c, s = np.cos(angle), np.sin(angle)
    for i in range(len(p)):
        p[i] = [c * p[i, 0] - s * p[i, 1], s * p[i, 0] + c * p[i, 1]]


ROW_DTYPES = [np.float64, np.float32, np.float16, np.int64, np.uint8, np.complex64, bool]


@pytest.mark.parametrize("dtype", ROW_DTYPES)
def test_rows_read_and_written(dtype):
    """Memory in C order, and one of the others in turns over the dtypes."""
    p = (np.arange(14).reshape(7, 2) % 5).astype(dtype)
    other = ("F", "strided", "reversed", "padded")[ROW_DTYPES.index(dtype) % 4]
    for name, each in layouts(p):
        if name in ("C", other):
            check(swap_columns, each)
    if np.dtype(dtype).kind == "f":
        check(rotate, p, 0.5)


def test_rows_in_one_memory():
    call = accel.compile(swap_columns)
    memory = np.arange(12.0)
    for p in (memory.reshape(6, 2), memory.reshape(6, 2)[::-1, ::-1], np.lib.stride_tricks.as_strided(memory, (5, 2), (8, 8))):
        assert_same(swap_columns, call, p)
    assert facts(call)["compiled"] > 0


def parts(a, x, y):
    a[::-1][0] = x, y
    a[:, 1] = [y, x, x * y]
    a[1:, ::-1][0] = np.array([x, y]) * 1
    a[:2] = [[x, y], [y, 2 * x]]
    a[2][:] = (y,)
    return a


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int8, np.complex128])
@pytest.mark.parametrize("x, y", [(2, 3), (2.75, -0.0), (-1, np.int16(7)), (np.float32(0.1), True)])
def test_parts_of_arrays(dtype, x, y):
    call = accel.compile(parts)
    assert_same(parts, call, np.ones((3, 2), dtype), x, y)
    assert facts(call)["compiled"] > 0


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int8])
def test_numbers_that_do_not_fit(dtype):
    call = accel.compile(parts)
    for x, y in ((2, 3), (300, 1), (2.0, 3.0), (1e300, np.nan), (3.0, 1e200)):
        assert_same(parts, call, np.ones((3, 2), dtype), x, y)
    assert facts(call)["compiled"] > 0


def planes(a, x):
    for i in range(a.shape[0]):
        a[i] = [[x, x + i], [x * i, i]]
    return a


def test_planes():
    check(planes, np.zeros((4, 2, 2)), 1.5)
    check(planes, np.zeros((2, 2, 4)).T, 1.5)


def read_again(x, y):
    pair = np.array([x, y * 2])
    table = np.array([[x, y], [y, x]])
    first, second = pair
    return first - second, table[1, 0], table[:, 1][1], table.T[0][1], pair[-1], pair


def test_elements_of_new_arrays():
    for x, y in ((1.5, 2.0), (1, 2), (1, 2.5), (np.float32(1.5), np.float32(3)), (True, 2), (1j, 2)):
        check(read_again, x, y)


def changed_between(x, y):
    pair = np.array([x, y])
    other = pair.copy()
    pair[0] = 7
    first = pair[0]
    pair[1], pair[0] = pair[0], pair[1]
    return first, other[0], pair[0], pair, other


def test_elements_that_changed():
    check(changed_between, 1.5, 2.5)
    check(changed_between, 1, 2)


def wrong_count(a, x):
    for i in range(len(a)):
        a[i] = x, x, x
    return a


def test_counts_that_do_not_fit():
    call = accel.compile(wrong_count)
    for columns in (3, 2, 1, 4, 0):
        assert_same(wrong_count, call, np.zeros((2, columns)), 1.5)


def test_every_exit():
    check_at_exits(lorenz, 3, 0.01)
    check_at_exits(read_again, 1.5, 2.5)
