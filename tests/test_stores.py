"""Stores into arguments and fresh arrays: values, aliasing, flags, and memory after errors."""

import gc

import numpy as np
import pytest
from support.compiled import facts
from support.differential import check, check_left_to_numpy, check_made, layouts, sample
from support.outcome import assert_same, describe

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
    v = sample((4, 5), seed=1)
    for name, a in layouts(sample((4, 5))):
        if function is reshaped and name != "C":
            continue
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


# --- what goes wrong --------------------------------------------------------------------------------------------------------


def wrong_shape(a, v):
    a[0] = 1
    a[1:] = v[:, :2]


def wrong_rank(a, v):
    a += 1
    a[0] = v


def wrong_augmented(a, v):
    a[0] = 1
    a[0] += v


def wrong_cast(a, v):
    a -= 1
    a.view()[...] += 1j * v


def out_of_bounds(a, v):
    a[0] = 2
    a[40] = v[0]


def wrong_out(a, v):
    a[1] = 4
    np.add(a, v, out=a[0])


@pytest.mark.parametrize("function", [wrong_shape, wrong_rank, wrong_augmented, wrong_cast, out_of_bounds, wrong_out])
def test_errors(function):
    check_left_to_numpy(function, sample((4, 5)), sample((4, 5), seed=1))


def test_an_event_leaves_memory_as_numpy_does():
    def change(a, v):
        a[0] = 1
        a[1:] /= v
        a[2] = 5
        np.log(v, out=v)

    v = sample(4)
    v[2] = 0
    check_left_to_numpy(change, sample(5), v)
    call = accel.compile(change)
    with np.errstate(all="ignore"):
        for _ in range(2):
            a, b, c, d = sample(5), sample(5), v.copy(), v.copy()
            call(a, c)
            change(b, d)
            assert a.tobytes() == b.tobytes() and c.tobytes() == d.tobytes()
    assert facts(call)["interpreted"] == 0


def test_effects_before_an_exit():
    def change(a, log):
        a[1:] += a[:-1]
        log.append(1)
        a *= 2
        log.append(a[0])
        return a

    check_left_to_numpy(change, sample(5), [])


def test_flags_and_base_of_results():
    def change(a):
        b = a[1:]
        b[0] = 3
        return a, b, b[::2], a.T, np.broadcast_to(a, (2, 5))

    call = accel.compile(change)
    a = sample(5)
    results = call(a)
    assert results[0] is a
    assert all(r.base is a for r in results[1:4])
    assert [r.flags.writeable for r in results[:4]] == [True] * 4
    results[2][0] = 77
    assert a[1] == 77


def test_dead_stores_keep_nothing_alive():
    def change(a):
        b = a * 2
        b[0] = 1
        c = b[1:]
        c += 1
        return a.sum()

    check(change, sample(50))
    gc.collect()


def test_matmul_out():
    def product(a, b, out):
        np.matmul(a, b, out=out)
        out[0] += 1
        np.dot(a, b[:, 0], out=out[1])
        return out

    check(product, sample((4, 4)), sample((4, 4), seed=1), np.zeros((4, 4)))


def flat_items(a, v):
    a.flat[2] = 7
    a.flat[1:9:3] = v.flat[:3]
    a.flat[-1] = a.flat[0] + v.flat[4]
    return a.flat[3:6], isinstance(a.flat, np.flatiter)


def whole_flat(a, v):
    a.flat[...] = v * 2
    a.flat[::2] += 1
    a.flat = v + a


def diagonal(a, v):
    np.fill_diagonal(a, 9)
    np.fill_diagonal(a[1:], v[0, 0])
    return a.sum(), np.eye(len(a)), np.eye(a.shape[0], a.shape[1], 1), np.eye(a.shape[1], k=-2), np.identity(3)


def put_masks(a, v):
    np.putmask(a, v > 0, v)
    np.putmask(a, a > 1, 0.5)
    np.place(a, v < -1, 4)


@pytest.mark.parametrize("function", [flat_items, whole_flat, diagonal, put_masks], ids=lambda f: f.__name__)
def test_flat_and_masks(function):
    v = sample((4, 5), seed=1)
    for _, a in layouts(sample((4, 5))):
        check(function, a, v, times=1)
    if function is diagonal:
        call = check(function, sample((4, 4)), v)
        for shape in [(5, 3), (3, 5), (6, 6)]:
            a, b = sample(shape), sample(shape)
            assert describe(list(call(a, v))) == describe(list(function(b, v)))
            assert a.tobytes() == b.tobytes()


def test_vectors_that_overlap_with_other_strides():
    def change(a, n):
        a[::2] = a[: (len(a) + 1) // 2]
        return a

    check_left_to_numpy(change, sample(9), 3)

    def rows_and_columns(a):
        a[3, :9] = a[1:, 3]
        return a

    check_left_to_numpy(rows_and_columns, sample((10, 10)))

    def apart(a):
        n = len(a)
        for i in range(n):
            a[i, :i] = a[:i, i]
        a[0, ::-1] = a[:, 0]
        return a

    check(apart, sample((6, 6)))


def elements_of_two_arrays(x, y):
    """The element that is read is stored to later: one view, read as a scalar and used as a place."""
    a, b = x.copy(), y.copy()
    for i in range(len(x)):
        a[i] = b[i] + 0.5
        b[i] = 3.0
        b[i] += a[i] * y[i]
    return a, b


def test_an_element_is_read_before_another_store_and_written_after_it():
    check(elements_of_two_arrays, sample((7,)), sample((7,), seed=1))


@pytest.mark.parametrize("shift", [0, 1, -1, 3, -7, 100])
@pytest.mark.parametrize("shape", [(5, 7), (1, 7), (5, 1), (0, 3), (3, 0)])
def test_rolled_planes(shape, shift):
    """Extents that a guard found equal are one: elements keep their indices."""

    def rolled(f, shifts):
        for i in range(len(shifts)):
            f[:, :, i] = np.roll(f[:, :, i], shifts[i], axis=1)
            f[:, :, i] = np.roll(f[:, :, i], shifts[i], axis=0)
        return f

    check(rolled, sample((*shape, 3)), np.array([shift, 0, 2]))


@pytest.mark.parametrize("columns", [1, 3])
@pytest.mark.parametrize("which", [-1, 1])
def test_what_was_stored_is_read_back(columns, which):
    """What a store wrote is read where it was stored, before and after both have changed."""

    def there_and_back(f, x, which):
        t = x + 1.0 if x[0] * which > 0 else x - 1.0
        for i in range(f.shape[1]):
            f[:, i] = t
            first = f[:, i].copy()
            t[1:] = f[:-1, i]
            second = f[:, i].copy()
            f[0] = first[2]
            third = f[:, i].copy()
            f[:, i] = t
            t = f[::-1, i] + 0.0
            f[:, 0] = f[:, i]
        return first, second, third, t, f

    x = np.abs(sample(6)) + 1
    check(there_and_back, sample((6, columns)), x, which)


@pytest.mark.parametrize("reduce", [np.sum, np.max, np.mean, np.prod, np.count_nonzero])
@pytest.mark.parametrize(
    "store", ["v[0] = 3", "v[0, 0] = 3", "v[:, 0] = 2", "v.T[0] = 1", "v.reshape(-1)[1:] = 5", "v[...] = 4"]
)
def test_into_what_keepdims_made(reduce, store):
    """The memory is itself a view in the graph: views of it lead to it, not past it."""
    scope = {"reduce": reduce}
    exec(f"def function(x, axis):\n    v = reduce(x, axis=axis, keepdims=True)\n    {store}\n    v //= -1\n    return v", scope)
    for axis in (0, 1, (0, 1)):
        if not (axis == (0, 1) and "1:" in store):
            check(scope["function"], sample((3, 4)), axis)
    if reduce is not np.max:
        check(scope["function"], np.array([[True, False], [True, True]]), 1)


def set_item(b, v):
    b[1] = v[0]


def set_all(b, v):
    b[...] = v[0]


def set_in_loop(b, v):
    for k in range(len(v)):
        b[k] = v[k]


def multiply_item(b, v):
    b[0] *= v[0]


def fill_with(b, v):
    b.fill(v[0])


def make_array(b, v):
    return np.array([v[0], v[1]], dtype=b.dtype)


def set_python_number(b, v):
    b[0] = float(v[0]) + 0.5
    b[1] = int(v[1])


NARROWER = ["i8 i4", "i8 i1", "u8 i8", "u4 i4", "i8 u1", "f8 i1", "f4 i2", "f8 u1", "f8 i4", "i1 u4", "? i1"]


@pytest.mark.parametrize("dtypes", NARROWER)
@pytest.mark.parametrize("function", [set_item, set_all, set_in_loop, multiply_item, fill_with, make_array, set_python_number])
def test_numbers_that_do_not_fit(function, dtypes):
    """NumPy raises for some and wraps others around."""
    source, dtype = dtypes.split()
    call = accel.compile(function)
    with np.errstate(all="ignore"):
        for v in ([1, 2], [127, 128], [-128, -129], [255, 256], [2**31 - 1, 2**31], [2**31, 1], [-1, 0], [2**62, 2**63 - 1]):
            values = np.array(v, object).astype(float).astype(source) if source[0] == "f" else np.array(v).astype(source)
            assert_same(function, call, np.ones(2, dtype), values, times=1)
        if source[0] == "f":
            for bad in (np.nan, np.inf, 300.7, -1.5, 1e19):
                assert_same(function, call, np.ones(2, dtype), np.array([bad, 1], source), times=1)
    assert facts(call)["interpreted"] < facts(call)["calls"]
