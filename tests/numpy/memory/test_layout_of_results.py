"""Strides of results, those of axes of extent 1 too, which NumPy chooses by other rules than its iterators."""

import numpy as np
import pytest
from support.compiled import assert_all_compiled, facts
from support.outcome import assert_same

import accel

CUBE = np.arange(60.0).reshape(3, 4, 5)
SINGLE = [
    np.asfortranarray(CUBE[:, :1]),
    np.asfortranarray(CUBE[None, :, :1]),
    CUBE.transpose(2, 0, 1)[:, :, 2:3],
    CUBE[:, 1:2],
    CUBE[:1],
    CUBE[:, :, :1].T,
]


def layout(value):
    """Strides and flags of all arrays in a result."""
    if isinstance(value, (tuple, list)):
        return [layout(v) for v in value]
    return (value.shape, value.strides, str(value.flags)) if isinstance(value, np.ndarray) else None


def check_layout(function, *arguments):
    call = accel.compile(function)
    assert_same(function, call, *arguments, times=2)
    assert layout(call(*arguments)) == layout(function(*arguments))
    assert_all_compiled(call)


def parts(a):
    return a.imag + 1, np.isreal(a), np.iscomplex(a)


@pytest.mark.parametrize(
    "array",
    [
        np.asfortranarray(CUBE),
        CUBE.transpose(1, 0, 2),
        CUBE.transpose(2, 0, 1)[:, ::-1],
        CUBE[0].T[::-1],
        CUBE[::2, ::2],
        np.broadcast_to(CUBE[0], (3, 4, 5)),
        np.broadcast_to(CUBE[:, :1, :1], (3, 4, 5)),
    ],
)
def test_imaginary_part_of_real_arrays(array):
    check_layout(parts, array)


def read_only_parts(a):
    whole = a.imag
    return whole, whole[1:], a[:1].imag, a.imag.T, a.imag.flags.writeable, a * 2


@pytest.mark.parametrize("array", [CUBE, np.asfortranarray(CUBE), CUBE.transpose(2, 0, 1)[:, ::-1]])
def test_imaginary_parts_are_handed_out_read_only(array):
    check_layout(read_only_parts, array)
    whole, *_ = accel.compile(read_only_parts)(array)
    assert not whole.flags.writeable and whole.flags.owndata


def broadcast(a):
    row = a[0, 0, :1]
    return np.broadcast_to(row, (1,)), np.broadcast_to(row, (1, 1)), np.broadcast_to(a[:1], (1, *a.shape[1:])), a[None] * 2


@pytest.mark.parametrize("array", [CUBE, CUBE[:, :, :1], np.asfortranarray(CUBE)[:1]])
def test_broadcast_views_of_extent_one_have_no_strides(array):
    check_layout(broadcast, array)


def views_of_nothing(a):
    rows = np.zeros((4, *a.shape))
    parts = a[::2], a[::-1], a[:0], a[1:2], a[..., :0], a[None], a[:, None], a.T, a[:0:-2], np.flip(a), np.expand_dims(a, 0)
    more = rows[::2], rows[0], rows.T[::-1], a.reshape(-1), a.reshape(a.shape[::-1]), np.broadcast_to(a, (2, *a.shape))
    return parts, more, np.array_split(a, 2), np.swapaxes(a, 0, -1), np.squeeze(a), np.roll(a, 1, 0), np.tile(a, 2), a * 2


@pytest.mark.parametrize(
    "array",
    [
        np.zeros((3, 0)),
        np.zeros(0).reshape(3, 0),
        np.zeros(0).reshape(3, 0).T,
        CUBE[::2, ::2, 2][:, :0],
        CUBE[0].T[:0, ::-1],
        CUBE[:, 1:1],
        np.zeros(0).reshape(2, 0, 1),
    ],
    ids=lambda a: f"{a.shape}{a.strides}",
)
def test_views_without_elements(array):
    check_layout(views_of_nothing, array)


def of_copies(a):
    return a.copy("K"), np.copy(a), np.zeros_like(a), a.astype("f4"), np.roll(a, 1, 0)


def of_loops(a):
    return a + 1, np.sin(a), a * a, np.isnan(a), -a, a < a, a[:, None] + 1, a[..., None] * 2


def of_casts(a):
    return a + np.ones(a.shape, "i4"), a.astype("f4") + a


@pytest.mark.parametrize("function", [of_copies, of_loops, of_casts])
@pytest.mark.parametrize("array", SINGLE, ids=lambda a: f"{a.shape}{a.strides}")
def test_axes_of_extent_one(function, array):
    check_layout(function, array)


def selected(a, i):
    return a[i, None], a[None, i], a[i, :, None], a[i[:1]], a[:, i[:1]], a[i[:, None], i]


@pytest.mark.parametrize("array", [CUBE, np.asfortranarray(CUBE), CUBE.transpose(1, 2, 0), CUBE.transpose(2, 0, 1)])
def test_new_axes_beside_index_arrays(array):
    check_layout(selected, array, np.array([0, 2]))


def reduced(a):
    return np.divide.reduce(a, axis=2), np.add.reduce(a, axis=1, keepdims=True)


@pytest.mark.parametrize("array", [np.asfortranarray(CUBE[:, :1] + 1), CUBE.transpose(1, 0, 2) + 1])
def test_reductions(array):
    call = accel.compile(reduced)
    for _ in range(3):
        assert layout(call(array)) == layout(reduced(array))
    assert facts(call)["compiled"] == 3


def reduced_extremes(a):
    return (
        (a[..., :0] + 1).sum(-1),
        a.max(0),
        a.sum(-1),
        np.nanmin(a, axis=1),
        a.prod(0),
        np.any(a, axis=-1),
        np.mean(a, axis=0),
        a.max(1, keepdims=True),
    )


def ordered_copies(a):
    made = np.asarray(a, "f4", order="A"), np.array(a, order="A"), np.array(a, order="F"), a.copy("A"), np.array(a, ndmin=5)
    return *made, np.array(a, ndmin=4, order="F"), np.sort(a, axis=0), np.array(a[:, :0], ndmin=4), np.require(a, "f4", "F")


@pytest.mark.parametrize("function", [reduced_extremes, ordered_copies])
def test_orders_that_axes_of_extent_one_leave_open(function):
    call = accel.compile(function)
    with accel.config(recompile_limit=30):
        for a in (SINGLE[0], SINGLE[1][0, 0, :, None], SINGLE[2], np.asfortranarray(CUBE[:1]), np.asfortranarray(CUBE[:1, :1])):
            assert layout(call(a)) == layout(function(a)), (a.shape, a.strides)
    assert facts(call)["interpreted"] == 0


def views_of_arguments(a):
    n = a.shape[0]
    return a[:n], a[::-1], a.T, a[None], a[..., None], np.rot90(a), np.expand_dims(a, 1), a.reshape(-1), a[:1, ::-1], a * 2


def test_strides_of_views_of_axes_of_extent_one():
    """The axis of an argument may have any stride, which its views go on with."""
    call = accel.compile(views_of_arguments)
    wide = np.ones((8, 8))
    for a in (wide[:3, :3].copy(), wide[::4][:1], wide[:, :1].T, np.broadcast_to(np.ones((1, 1)), (1, 1))):
        for _ in range(2):
            assert layout(call(a)) == layout(views_of_arguments(a)), a.strides
    assert facts(call)["interpreted"] == 0


def copied_onto_itself(a):
    np.copyto(a, a.T, where=a > 0)
    np.copyto(a, a[::-1])
    return a + 1


def test_views_of_read_only_elements_are_the_same_memory():
    call = accel.compile(copied_onto_itself)
    for a in (np.ones(1), np.broadcast_to(np.ones(1), (1,)), np.broadcast_to(np.ones(()), (1, 1))):
        for _ in range(2):
            assert_same(copied_onto_itself, call, a, share=True)


def products_of_stacks(a, v):
    return a @ a, np.matmul(a, v[..., None]), np.vecdot(v, v), np.matvec(a, v), np.vecmat(v, a), a[0] @ a, np.matmul(v[0, 0], a)


@pytest.mark.parametrize("axes", [(1, 0, 2, 3), (0, 1, 3, 2), (1, 0, 3, 2)])
def test_products_of_stacks(axes):
    stack = np.arange(96.0).reshape(2, 3, 4, 4).transpose(axes)
    check_layout(products_of_stacks, stack, stack[..., 0])
    check_layout(products_of_stacks, np.ascontiguousarray(stack), stack[..., 1])


def views_of_new_arrays(a):
    new = a * 2
    return (
        new,
        new[None],
        new[::-1],
        new.T,
        new[:, 1:],
        new.reshape(3, 2, 0),
        np.isclose(a, 1.0),
        np.roll(a, 1),
        np.argwhere(a),
        *np.nonzero(a),
    )


@pytest.mark.parametrize("shape", [(0, 3), (2, 0), (0, 0)])
def test_views_of_new_arrays_without_elements(shape):
    check_layout(views_of_new_arrays, np.ones(shape))


def test_memory_without_elements_is_contiguous():
    """Also in a version that was compiled for arrays with gaps."""

    def orders(x):
        made = np.asfortranarray(x), np.ascontiguousarray(x), np.require(x, requirements="F")
        return [part is x for part in made], x.flags.c_contiguous, x.flags.f_contiguous, x + 1.0

    call = accel.compile(orders)
    for shape in ((3, 2), (0, 2), (3, 0), (1, 2), (3, 2)):
        for x in (np.ones((6, 4))[: 2 * shape[0] : 2, : 2 * shape[1] : 2], np.ones(shape), np.asfortranarray(np.ones(shape))):
            for _ in range(2):
                got, expected = call(x), orders(x)
                assert got[:3] == expected[:3], (shape, x.strides)
    assert facts(call)["interpreted"] == 0


PROTOTYPES = [
    *SINGLE,
    CUBE,
    CUBE.T,
    np.asfortranarray(CUBE),
    CUBE.transpose(1, 0, 2),
    CUBE.transpose(2, 0, 1)[:, ::-1],
    CUBE[::2, ::2],
    CUBE[:0],
    CUBE[:0].T,
    np.broadcast_to(CUBE[:, :1, :1], (3, 4, 5)),
]


@pytest.mark.parametrize("number", range(len(PROTOTYPES)))
@pytest.mark.parametrize("shape", [(2, 3, 4), (1, 3, 2), (6, 1, 2), (0, 3, 4), (2, 5), (7,), 3, (2, 3, 4, 5)])
def test_shapes_in_the_order_of_another_array(number, shape):
    def likes(a):
        return (
            np.zeros_like(a, shape=shape),
            np.full_like(a, 2, shape=shape, order="K"),
            np.ones_like(a, shape=shape, dtype="f4"),
        )

    check_layout(likes, PROTOTYPES[number])


def test_shapes_in_the_order_of_arrays_with_axes_of_extent_one():
    """One compiled function for arrays of the same strides, of which NumPy finds some in C order."""

    def like(a):
        return np.zeros_like(a, shape=(3, 4))

    call = accel.compile(like)
    for shape in ((5, 3), (1, 3), (3, 1), (2, 2), (1, 1), (4, 5)):
        for array in (np.ones(shape), np.ones(shape[::-1]).T, np.ones((2 * shape[0], shape[1]))[::2]):
            assert layout(call(array)) == layout(like(array))
    assert_all_compiled(call)


def test_shapes_in_the_order_of_arrays_with_extents_of_the_run():
    """Compiled code takes an extent that it computes for larger than 1; the interpreter goes on where it is not."""

    def like(a, n):
        b = np.zeros_like(a, shape=(n[0], a.shape[1]))
        return b, np.zeros_like(b, shape=(b.shape[1], 4))

    call = accel.compile(like)
    a = np.ones((8, 6)).T
    for extent in (5, 2, 3):
        assert layout(call(a, np.array([extent]))) == layout(like(a, np.array([extent])))
    assert_all_compiled(call)
    for extent in (1, 0, 1, 4):
        assert layout(call(a, np.array([extent]))) == layout(like(a, np.array([extent])))
