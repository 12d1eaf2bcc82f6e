"""What goes wrong at stores, what they leave behind, and stores that meet each other."""

import gc

import numpy as np
import pytest
from support.compiled import facts
from support.covering import pairs
from support.differential import check, check_left_to_numpy, layouts, sample
from support.outcome import assert_same, describe

import accel


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


FLAT_AND_MASKS = [flat_items, whole_flat, diagonal, put_masks]


@pytest.mark.parametrize("function", FLAT_AND_MASKS, ids=lambda f: f.__name__)
def test_flat_and_masks(function):
    v = sample((4, 5), seed=1)
    others = ("strided", "reversed", "padded", "padded")  # one of them in turns
    for name, a in layouts(sample((4, 5))):
        if name in ("C", "F", others[FLAT_AND_MASKS.index(function)]):
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


@pytest.mark.parametrize(
    ("store", "reduce", "axis"),
    pairs(
        ["v[0] = 3", "v[0, 0] = 3", "v[:, 0] = 2", "v.T[0] = 1", "v.reshape(-1)[1:] = 5", "v[...] = 4"],
        [np.sum, np.max, np.count_nonzero],
        [0, 1, (0, 1)],
    ),
)
def test_into_what_keepdims_made(store, reduce, axis):
    """The memory is itself a view in the graph: views of it lead to it, not past it."""
    scope = {"reduce": reduce}
    exec(f"def function(x, axis):\n    v = reduce(x, axis=axis, keepdims=True)\n    {store}\n    v //= -1\n    return v", scope)
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


STORES_OF_NUMBERS = [set_item, set_all, set_in_loop, multiply_item, fill_with, make_array, set_python_number]
# Integers to narrower ones, unsigned to signed and back, floats to signed and to unsigned integers, bools.
NARROWER = [("i8 i4", "i8 i1"), ("u8 i8", "u4 i4"), ("i8 u1", "i1 u4"), ("f8 i1", "f4 i2", "f8 i4"), ("f8 u1",), ("? i1",)]


@pytest.mark.parametrize(("function", "kind"), pairs(STORES_OF_NUMBERS, range(len(NARROWER))))
def test_numbers_that_do_not_fit(function, kind):
    """NumPy raises for some and wraps others around. The dtypes of a kind take turns over the functions."""
    dtypes = NARROWER[kind][STORES_OF_NUMBERS.index(function) % len(NARROWER[kind])]
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


def flat_of_itself_shifted(a):
    a.flat[1:] = a.ravel()[:-1]
    return a


def flat_of_itself_transposed(a):
    a.flat = a.T
    return a


def flat_of_itself_reversed(a):
    a.flat = a[::-1]
    a.flat[2:] = a[:, ::-1].ravel()[2:]
    return a


@pytest.mark.parametrize(
    "function", [flat_of_itself_shifted, flat_of_itself_transposed, flat_of_itself_reversed], ids=lambda f: f.__name__
)
def test_flat_is_written_element_by_element(function):
    check_left_to_numpy(function, np.arange(9.0).reshape(3, 3))


def element_of_an_unsigned(a):
    a[0] = np.uint8(200)


def elements_of_a_wide(a):
    a[...] = np.int64(300)


def fill_of_an_unsigned(a):
    a.fill(np.uint8(200))


@pytest.mark.parametrize(
    "function", [element_of_an_unsigned, elements_of_a_wide, fill_of_an_unsigned], ids=lambda f: f.__name__
)
def test_a_constant_numpy_integer_fits_or_is_refused(function):
    check(function, np.zeros(3, "i2"))
    call = accel.compile(function)
    for _ in range(2):
        assert_same(function, call, np.zeros(3, "i1"))
