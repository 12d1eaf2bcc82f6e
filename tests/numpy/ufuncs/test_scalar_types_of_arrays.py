"""numpy.float64(array) and the like: the array itself where nothing has to be converted; single numbers beyond uint32."""

import numpy as np
import pytest
from support.differential import check
from support.outcome import assert_same

import accel


def normalise(data, n):
    x = np.float64(data)
    x -= x.mean()
    for _ in range(n):
        x /= np.abs(x).max()
    return x


def stored(x):
    y = np.float64(x)
    y[0] = 99
    return y, y is x


def local(x):
    y = x * 2
    z = np.float64(y)
    z += 1
    return y, z, y is z


def test_the_array_itself():
    check(normalise, np.array([1.0, 2.0, 6.0]), 2)
    for data in (np.arange(3.0), np.arange(6.0)[::-1], np.arange(6.0)[::2], np.arange(3), np.arange(3, dtype=np.float32)):
        assert_same(stored, accel.compile(stored), data, times=2)
        assert_same(local, accel.compile(local), data, times=2)


@pytest.mark.parametrize("name", ["float32", "int64", "uint8", "bool_", "complex128"])
def test_other_types(name):
    convert = getattr(np, name)

    def function(x):
        y = convert(x)
        return y, y is x, y.strides, y * 2 if name != "bool_" else y

    for dtype in (name, "float32", "int16"):
        data = np.arange(6).reshape(2, 3).astype(dtype)
        for array in (data, data.T, data[::-1], data[:, ::2], data[0, 0, None], data[:0]):
            assert_same(function, accel.compile(function), array, times=2)


def rounded(v):
    with np.errstate(invalid="ignore"):
        return np.uint32(v), v.astype(np.uint32)


def loop(out, v):
    with np.errstate(all="ignore"):
        for i in range(len(v)):
            out[i] = v[i]
    return out


def mixed(v):
    s = np.uint32(7)
    with np.errstate(all="ignore"):
        for i in range(len(v)):
            s ^= np.uint32(v[i])
    return s, np.full(3, v[0], np.uint32)


NUMBERS = [0.0, -1.0, 3e9, 5e9, -3e9, 1e10, -1e20, 2.0**63, np.nan, np.inf, 1.5]


@pytest.mark.parametrize("dtype", ["f8", "f4", "f2"])
def test_single_numbers_beyond_uint32(dtype):
    with np.errstate(over="ignore"):
        numbers = np.array(NUMBERS).astype(dtype)
    for x in numbers:
        assert_same(rounded, accel.compile(rounded), x, times=2)
    assert_same(loop, accel.compile(loop), np.ones(len(numbers), np.uint32), numbers, times=2)
    assert_same(mixed, accel.compile(mixed), numbers, times=2)
    assert_same(loop, accel.compile(loop), np.ones(3, np.uint32), numbers[3:6], times=2)
