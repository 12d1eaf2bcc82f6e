"""Products of a matrix with a vector, whose rows are split among threads: their bits are those of NumPy's BLAS."""

import numpy as np
import pytest
from support.differential import check, check_left_to_numpy, layouts, sample
from support.outcome import assert_same

import accel

SHAPES = [
    (1, 500),
    (63, 100),
    (64, 3),
    (64, 4096),
    (65, 4000),
    (97, 100),
    (300, 300),
    (301, 77),
    (511, 513),
    (4099, 5),
    (3000, 0),
]


@pytest.fixture(autouse=True)
def on_two_threads():
    with accel.config(threads=2, parallel_threshold=1):
        yield


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_shapes(shape, dtype):
    a, x = sample(shape, dtype), sample(shape[1:], dtype, seed=1)
    check(lambda a, x: (a @ x, (2 * a) @ x[:, None], np.dot(a, x)), a, x)


@pytest.mark.parametrize("dtype", ["int64", "complex128", "float16", "bool"])
def test_other_dtypes(dtype):
    check(lambda a, x: a @ x, sample((130, 90), dtype), sample((90,), dtype, seed=1))


def test_layouts():
    x = sample((180,), seed=1)
    for _, a in layouts(sample((140, 90))):
        for vector in (x[:90], x[::2], x[89::-1]):
            check(lambda a, x: a @ x, a, vector)


LARGE = [(67, 7001), (130, 3546), (263, 1800), (1001, 463), (2001, 231), (2050, 300), (5000, 93), (999, 461), (70, 20000)]


@pytest.mark.parametrize("shape", LARGE, ids=str)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_what_a_blas_shares_among_its_threads(shape, dtype):
    a, x = sample(shape, dtype), sample(shape[1:], dtype, seed=1)
    call = check(lambda a, x: (a @ x, (2 * a) @ x, np.dot(a, x)), a, x)
    for other in (np.asfortranarray(a), np.empty((shape[0] + 5, shape[1]), dtype).T.copy().T[5:]):
        other[...] = a
        check(lambda a, x: (a @ x, (a * 2) @ x[:, None], np.matmul(a, x)), other, x)
    with accel.config(threads=5):
        assert_same(lambda a, x: (a @ x, (2 * a) @ x, np.dot(a, x)), call, a, x)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_columns_of_columns(shape):
    x = sample(shape[1:], seed=1)
    check(lambda a, x: (a @ x, (2 * a) @ x[:, None]), np.asfortranarray(sample(shape)), x)


def test_into_strided_memory():
    def function(a, x, out):
        for k in range(3):
            np.matmul(a, x[:, k], out=out[:, k])
            out[::-1, k + 3] = a @ x[:, k]
        return out

    check(function, sample((200, 90)), sample((90, 3), seed=1), np.zeros((200, 6)))


def test_result_over_the_operands():
    def function(a, x):
        x[:] = a @ x
        a[:, 0] = a @ x
        np.matmul(a, x, out=a[:, 1])
        return a @ a[3]

    check(function, sample((120, 120)) / 100, sample((120,), seed=1))


@pytest.mark.parametrize("row", [0, 31, 32, 150, 299])
def test_events(row):
    a, x = sample((300, 80)), sample((80,), seed=1)
    a[row, 7], x[7] = np.inf, 0.0
    check_left_to_numpy(lambda a, x: a @ x, a, x)
    a[row, 7], x[7] = 1e300, 1e300
    check_left_to_numpy(lambda a, x: a @ x, a, x)
    with np.errstate(all="ignore"):
        check(lambda a, x: a @ x, a, x)
    with np.errstate(all="raise"):
        check_left_to_numpy(lambda a, x: a @ x, a, x)
    a[row, 7] = np.nan
    check(lambda a, x: a @ x, a, x)


def test_in_loops():
    def function(a, x, steps):
        for _ in range(steps):
            y = a @ x
            x = y / np.abs(y).max()
        return x

    check(function, sample((260, 260)), sample((260,), seed=1), 20)
