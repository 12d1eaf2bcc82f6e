"""Selections by masks and lists of indices, whose sizes the device finds out."""

import numpy as np
import pytest
from support.device_arrays import on_host, ran_on_device

import accel


def selected(x):
    return x[x > 0]


def indices(x):
    return np.nonzero(x > 0), np.flatnonzero(x), np.argwhere(x > 0.5), np.count_nonzero(x > 0)


def twice(x):
    y = x[x > 0.3]
    return y[y < 0.6], y.size, x[~(x > 0.3)].sum()


def rows(x):
    return x[x[:, 0] > 0]


def of_views(x):
    z = x[::2, ::-1]
    return x.T[x.T > 0], z[z > 0]


def narrowed(x):
    rounds = 0
    while x.size > 3:
        x = x[x > x.mean()]
        rounds += 1
    return x, rounds


def stored(x, y):
    inside = x > 0
    x[inside] = x[inside] * 2
    y[x > 1] = x[x > 1]
    return x[inside].sum(), np.where(y > 0)


def of_integers(x):
    small = x < 5
    return x[small] % 3, x[small].astype(np.uint8), x[small].size + x[~small].size


SHAPES = [(0,), (1,), (7,), (257,), (20_000,), (3, 4), (130, 70), (5, 6, 7), (0, 3)]


def data(shape, density):
    rng = np.random.default_rng(len(shape) + int(100 * density))
    return np.where(rng.random(shape) < density, rng.random(shape), -rng.random(shape))


def check(function, *arguments):
    theirs = [a.copy() for a in arguments]
    wanted = function(*theirs)
    for is_resident in (False, True):
        mine = [accel.to_device(a) if is_resident else a.copy() for a in arguments]
        found = ran_on_device(accel.compile(function, device="cuda"), *mine)
        compare(found, wanted)
        compare(tuple(mine), tuple(theirs))


def compare(found, wanted):
    if isinstance(wanted, tuple):
        assert type(found) is tuple and len(found) == len(wanted)
        for one, other in zip(found, wanted, strict=True):
            compare(one, other)
    elif isinstance(wanted, np.ndarray):
        found = on_host(found)
        assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
        assert np.array_equal(found, wanted)
    else:
        assert type(found) is type(wanted) and np.isclose(found, wanted)


@pytest.mark.parametrize("density", [0, 0.02, 0.5, 1])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("function", [selected, indices, twice])
def test_shapes(function, shape, density):
    check(function, data(shape, density))


@pytest.mark.parametrize("shape", [(1, 1), (40, 3), (600, 500)])
@pytest.mark.parametrize("function", [rows, of_views])
def test_rows_and_views(function, shape):
    check(function, data(shape, 0.5))


@pytest.mark.parametrize("size", [5, 3000])
def test_control_flow_by_what_is_left(size):
    check(narrowed, data((size,), 1))


def test_stores_and_selections():
    check(stored, data((4000,), 0.5), np.zeros(4000))


@pytest.mark.parametrize("dtype", ["int8", "uint32", "int64"])
def test_dtypes(dtype):
    check(of_integers, np.arange(5000).astype(dtype))


def test_long_lists_are_divided_between_blocks():
    """The same list as of one block: of each part as many elements as it has."""
    x = data((1 << 18,), 0.4)
    compiled = accel.compile(selected, device="cuda")
    why = accel.explain(compiled)(x)
    assert np.array_equal(why.result, selected(x))
    assert why.device["waits"] == 1 and any(name.endswith("_5") for name in why.device["kernels"]), why.device["kernels"]
