"""Stores into arguments and fresh arrays: values, aliasing, flags, and memory after errors."""

import numpy as np
import pytest
from support.compiled import facts
from support.differential import check, check_left_to_numpy, check_made, layouts, sample
from support.outcome import assert_same

import accel

# --- where a store goes -------------------------------------------------------------------------------------------------


def whole(a, v):
    a[...] = v


def inner(a, v):
    a[1:-1, 1:-1] = v[1:-1, 1:-1]


def steps(a, v):
    a[::2, 1::2] = v[::2, 1::2]


def reversed_rows(a, v):
    a[::-1] = v


def reversed_steps(a, v):
    a[-1:0:-2, ::-3] = 1 + v[-1:0:-2, ::-3]


def one_row(a, v):
    a[1] = v[0]
    a[-1] = v[1]


def one_element(a, v):
    a[1, 2] = v[0, 0]
    a[-1, -1] = 7
    a[0][1] = 2.5


def column(a, v):
    a[:, 0] = v[:, -1]
    a[..., 1] = 3


def new_axes(a, v):
    a[:, None] = v[:, None, :]
    a[None, ..., None] += v[None, ..., None]


def transposed(a, v):
    a.T[...] += v.T
    a.T[1:, 0] = 9
    a.transpose(1, 0)[0] = v[:, 0]
    np.swapaxes(a, 0, 1)[2] *= 3


def reshaped(a, v):
    a.reshape(-1)[1::3] = 5
    a.reshape(-1)[:4] += v.reshape(-1)[:4]
    a.ravel()[-1] = 1


def views_of_views(a, v):
    b = a[1:]
    c = b[:, ::2]
    d = c.T[1:]
    d[...] = v[1:, ::2].T[1:]
    c[0] -= 2
    b[-1, -1] = 100
    return b, c, d


def two_names(a, v):
    b = a
    c = a[:]
    b[0] = v[0]
    c[1] = a[0] + b[0]
    return b is a, c is a, c.sum()


def augmented(a, v):
    a += v
    a -= 1
    a[1:] *= v[:-1]
    a[:, :2] /= 2
    b = a
    b += 1
    return b


def overlapping(a, v):
    a[1:] = a[:-1]
    a[:, :-1] += a[:, 1:]
    a[::-1] = a
    a[...] = a.T if a.shape[0] == a.shape[1] else a + v
    a[1:, 1:] = a[:-1, :-1] - a[1:, :-1]


def old_contents(a, v):
    before = a * 2
    row = a[0]
    total = a.sum()
    kept = a[1] + 0
    a[0] = v[1]
    after = a.sum()
    a[1] = before[0] + row
    return before, row, total, after, kept, a.max()


def broadcasting(a, v):
    a[...] = v[0]
    a[:, 1] = v[0, 0]
    a[1:3] = v[:1]
    a[...] += v[:, :1]
    a[2] = v[None, None, 1]


def numbers(a, v):
    a[0] = 3
    a[1] = 2.75
    a[2, 0] = True
    a[3] = np.float32(1.1)
    a[0, 1:] = [1, 2, 3, 4]
    a[1] = (1.5, 2, 3.5, 4, 5)
    a[2:4] = [[1], [2.5]]


def functions(a, v):
    np.add(a, v, out=a)
    np.multiply(v, 2, a[..., :])
    np.subtract(a[1:], 1, out=a[:-1])
    np.copyto(a[0], v[1])
    np.copyto(a, 2.0, where=v > 1)
    np.copyto(a, v * 2, where=v < -1)
    np.copyto(a[:, 1], v[:, 0], where=v[:, 2] > 0)
    np.negative(a, out=a, where=v > 0)
    np.add(a, v[0], out=a, where=v[:, :1] > 0)
    np.sum(v, axis=0, out=a[3])
    v.max(1, out=a[:, 2])
    a[0].fill(4)


def swap(a, v):
    b, c = a, v
    for _ in range(3):
        c[1:-1] = b[1:-1] * 0.5 + b[:-2] + b[2:]
        b, c = c, b
    return b, c


def swap_rows(a, v):
    a[0], a[1] = a[1].copy(), a[0].copy()
    a[2], a[3] = v[3], a[2] * 1


def nothing(a, v):
    a[5:] = 3
    a[:0] += v[:0]
    a[2:1, 3:0] = 9


STORES = [
    whole, inner, steps, reversed_rows, reversed_steps, one_row, one_element, column, new_axes, transposed, reshaped,
    views_of_views, two_names, augmented, overlapping, old_contents, broadcasting, numbers, functions, swap, swap_rows, nothing,
]  # fmt: skip


@pytest.mark.parametrize("function", STORES, ids=lambda f: f.__name__)
def test_into_arguments(function):
    """C and reversed memory, or Fortran's and padded memory, in turns; memory in C order is that of fresh arrays, too."""
    v = sample((4, 5), seed=1)
    names = ("C",) if function is reshaped else (("C", "reversed"), ("F", "padded"))[STORES.index(function) % 2]
    for name, a in layouts(sample((4, 5))):
        if name in names:
            check(function, a, v, times=2)


@pytest.mark.parametrize("function", STORES, ids=lambda f: f.__name__)
def test_into_fresh_arrays(function):
    def fresh(a, v):
        b = a.copy()
        return function(b, v + 0), b

    check(fresh, sample((4, 5)), sample((4, 5), seed=1), times=2)


def test_sizes():
    call = accel.compile(augmented)
    for shape in [(4, 5), (1, 5), (7, 3), (0, 3), (5, 0), (300, 70)]:
        a, b, v = sample(shape), sample(shape), sample(shape, seed=1)
        call(a, v)
        augmented(b, v)
        assert a.tobytes() == b.tobytes()
    assert facts(call)["interpreted"] == 0


def test_rank_0():
    def change(a, b):
        a += b
        a[...] = a * 2
        b[()] = 3
        a.fill(a + b)
        return a, a + 1, b

    check(change, np.array(2.0), np.array(5.0))


def test_complex_parts():
    def parts(a, x):
        a.real = x
        a.imag[1:] = 2
        a.imag += x
        a.real[::2] *= a.imag[::2]
        a.T.imag = 1

    for _, a in layouts(sample((4, 6), "complex128")):
        check(parts, a, sample((4, 6)))
    check(lambda a, x: setattr(a, "flat", x) or None, sample((2, 3)), sample((2, 3)), times=0)

    def flat(a, x):
        a.flat = x
        a.real = 1 if a.size > 100 else x.reshape(a.shape)

    check(flat, sample((2, 3)), sample(6))


@pytest.mark.parametrize("target", ["bool", "int8", "int32", "uint16", "int64", "float16", "float32", "float64", "complex64"])
def test_casts(target):
    def cast(a, x, i, b):
        a[0] = i
        a[1] = b
        a[2] = x
        a[3:] = i[:1]
        a[4, 0] = i[1]
        a[4, 1] = np.float32(2.5)

    check(cast, sample((5, 4), target), sample(4, "float64"), sample(4, "int64"), sample(4, "bool"))


@pytest.mark.parametrize("dtype", ["int8", "float16", "float64", "complex128"])
def test_a_scalar_under_a_mask(dtype):
    """The memory of an array without axes is a register."""

    def replaced(x):
        y = np.array(x)
        np.copyto(y, 7, where=np.isnan(x))
        z = y.copy()
        np.copyto(z, 3, where=y > 2)
        return y, z

    call = check(replaced, np.dtype(dtype).type(2))
    assert_same(replaced, call, np.dtype(dtype).type(5))
    if np.dtype(dtype).kind != "i":
        assert_same(replaced, call, np.dtype(dtype).type(np.nan))
    check(lambda x: (np.nansum(x), np.nanmax(x)), np.dtype(dtype).type(2))


def test_a_scalar_under_masks_in_a_loop():
    def last_positive(x):
        y = np.array(-1.0)
        for k in range(len(x)):
            np.copyto(y, x[k], where=x[k] > 0)
        return y

    def both(x):
        y = np.array(0.0)
        for v in x:
            if v > 0:
                np.copyto(y, v, where=v > 1)
            else:
                y[...] = y - 1
        return y

    for x in (sample(7), -np.abs(sample(3)), np.zeros(0)):
        check(last_positive, x)
        check(both, x)


def test_views_of_an_array_without_axes():
    def stored(x):
        y = np.array(1.5)
        z = y.reshape(1, 1)
        z[0, 0] = x[0]
        y[None][:] *= 2
        np.copyto(z, 5, where=x[1] > 0)
        return y, z

    check(stored, np.array([1.0, 2.0]))
    check(stored, np.array([1.0, -2.0]))


def test_read_only():
    def change(a, x):
        y = x * 2
        a[0] = y[0]
        return y

    a = sample(5)
    a.flags.writeable = False
    check_left_to_numpy(change, a, sample(5))
    check_left_to_numpy(change, np.broadcast_to(sample(1), 5), sample(5))
    call = accel.compile(change)
    with pytest.raises(ValueError, match="read-only"):
        call(a, sample(5))
    b = sample(5)
    call(b, sample(5, seed=3))
    assert b[0] == 2 * sample(5, seed=3)[0]


def test_elements_that_share_memory():
    def change(a):
        a[...] = np.arange(12.0).reshape(4, 3)
        return a + 1

    def windows():
        return (np.lib.stride_tricks.as_strided(np.zeros(6), (4, 3), (8, 8)),)

    check_made(change, windows, lambda: (np.zeros((4, 3)),), whole=False)
