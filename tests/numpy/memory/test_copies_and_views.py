"""Functions that only move elements: values, and whose memory the results are."""

import numpy as np
import pytest
from support.compiled import facts
from support.differential import check, layouts, sample
from support.outcome import assert_same

import accel

FUNCTIONS = {
    "reshape_transposed": lambda f: f.T.reshape(-1),
    "reshape_backwards": lambda f: np.reshape(f, (f.size,), order="F"),
    "reshape_reversed": lambda f: f[:, ::-1].reshape(-1),
    "reshape_taken": lambda f: f[:, [0, 1, 1, 2]].reshape(-1, 2),
    "reshape_computed": lambda f: (f + 1).T.reshape(2, -1),
    "ravel_transposed": lambda f: f.T.ravel(),
    "ravel_backwards": lambda f: f.ravel("F"),
    "flatten_reversed": lambda f: f[:, ::-1].flatten(),
    "blocks": lambda f: f.reshape(f.shape[0] // 2, 2, f.shape[1] // 2, 2).swapaxes(1, 2).reshape(-1, 2, 2),
    "copy_backwards": lambda f: f.copy("F"),
    "roll": lambda f: np.roll(f, 3),
    "roll_along": lambda f: np.roll(f, 1, axis=1),
    "delete": lambda f: np.delete(f, 1, axis=0),
    "insert": lambda f: np.insert(f, 1, 0.5, axis=1),
    "pad": lambda f: np.pad(f, 1),
    "pad_with_edges": lambda f: np.pad(f, 2, mode="edge"),
    "fftshift": lambda f: np.fft.fftshift(f),
    "tile": lambda f: np.tile(f, (2, 3)),
    "repeat": lambda f: np.repeat(f, 3, axis=1),
    "repeat_all": lambda f: f.repeat(2),
    "split": lambda f: np.split(f, 2, axis=1),
    "linspace": lambda f: np.linspace(f[0], f[1], 7),
    "triu": lambda f: np.triu(f),
    "full_like": lambda f: (np.full_like(f, 3.0), np.zeros_like(f.T), np.ones_like(f)),
    "moved": lambda f: np.moveaxis(f.reshape(-1, 2, 2), 0, -1).reshape(4, -1),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_whose_memory(name):
    """Each layout and function meets one of two shapes."""
    for k, layout in enumerate(("C", "F", "reversed", "padded")):  # "padded" has strides, too
        a = dict(layouts(sample(((4, 6), (40, 300))[(k + list(FUNCTIONS).index(name)) % 2])))[layout]
        call = check(lambda f: (FUNCTIONS[name](f), f + 1), a)  # moving elements alone is not compiled
        expected, result = FUNCTIONS[name](a), call(a)[0]
        if isinstance(expected, np.ndarray):
            assert result.flags.owndata == expected.flags.owndata


def test_stores_that_are_returned():
    def stored(a):
        out = np.zeros(a.shape)
        out[1:, :-1] = a[:-1, 1:]
        return out

    def stored_in_a_loop(a):
        out = np.zeros(a.shape)
        for k in range(len(a)):
            out[k, k:] = a[k, k:]
        return out, out.sum()

    def one_of_two(a):
        first, second = np.zeros(a.shape), np.ones(a.shape)
        first[0] = a[0]
        second[1:] = a[1:]
        if a.sum() > 0:
            return first, second
        return second, first

    def twice(a):
        out = np.zeros(a.shape)
        out[0] = a[0]
        return out, out, out[1:]

    def in_turns(a):
        old, new = np.zeros(a.shape), a.copy()
        old[0] = 1
        for _ in range(3):
            new[1:] = old[:-1] + 1
            old, new = new, old
        return old

    for a in (sample((5, 6)), -np.abs(sample((40, 500)))):
        for function in (stored, stored_in_a_loop, one_of_two, twice, in_turns):
            check(function, a)


def test_parts_of_complex_numbers_are_joined():
    def joined(x):
        y = x.copy()
        parts = y.view((np.float64, (2,)))
        parts[0] = 1
        return np.concatenate([parts, parts]), parts.copy(), parts.T.reshape(-1)

    check(joined, sample((4, 5), "complex128"))


def test_several_arrays_of_one_shape_that_are_not_filled():
    def neighbours(x):
        return np.roll(np.roll(x, 1, 0), 1, 1) + np.roll(x, -1, 0) - np.roll(x, 1, 1)

    def rounds(x, n):
        for k in range(n):
            x = np.roll(x, k, 0) + np.roll(x, -k, 1)
        return x

    check(neighbours, sample((3, 4)))
    check(rounds, sample((3, 4)), 5)
    check(rounds, sample((3, 4)), 0)


def in_order(y, order):
    t = y.astype("f8", order=order, copy=False)
    t[0] = 99.0
    return t, t is y, t.sum() + y.sum()


@pytest.mark.parametrize("order", ["C", "F", "A", "K"])
def test_casts_that_need_no_copy(order):
    call = accel.compile(in_order)
    y = np.arange(24.0)
    for each in (
        y,
        y.reshape(4, 6),
        y.reshape(4, 6, order="F"),
        y[::2],
        y.reshape(4, 6)[:, ::2],
        y.reshape(2, 3, 4).transpose(1, 0, 2),
    ):
        for dtype in (np.float64, np.float32):
            assert_same(in_order, call, each.astype(dtype, copy=dtype is np.float32), order, times=2)
    assert facts(call)["compiled"] > 0
