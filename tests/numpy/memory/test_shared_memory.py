"""Stores where arguments, globals and arrays inside of objects share memory."""

import numpy as np
import pytest
from support.compiled import facts
from support.differential import check_at_exits, check_in_loops, check_left_to_numpy, check_made, layouts, sample

import accel


def both(a, b):
    a[1:] += b[:-1]
    b[0] = a.sum()
    return a is b, a, b + a


def test_the_same_array_twice():
    def twice():
        a = sample(6)
        return a, a

    check_made(both, lambda: (sample(6), sample(6, seed=1)), twice, whole=False)
    found = check_made(lambda a, b: both(a, b)[1:], twice, lambda: (sample(6), sample(6, seed=1)))
    assert facts(found)["compiled"] == 4


def test_views_of_each_other():
    def overlap(cut):
        def make():
            a = sample(12)
            return a[cut[0]], a[cut[1]]

        return make

    cuts = [(np.s_[:6], np.s_[6:]), (np.s_[:6], np.s_[3:9]), (np.s_[::2], np.s_[1::2]), (np.s_[:], np.s_[:]),
            (np.s_[3:9], np.s_[2:8]), (np.s_[:6], np.s_[5::-1])]  # fmt: skip
    check_made(lambda a, b: both(a, b)[1:], *map(overlap, cuts), whole=False)
    apart = [cuts[0], cuts[2]]
    check_made(lambda a, b: both(a, b)[1:], *map(overlap, apart))


def test_parts_of_a_matrix():
    def parts():
        a = sample((8, 8))
        return a[:4, :4], a[:4, 4:], a[4:], a.T[:4, :4]

    def change(a, b, c, d):
        a += b
        c[:4, :4] -= a
        return a.sum()

    def read_transposed(a, b, c, d):
        a += d
        return a.sum()

    check_made(change, parts)
    check_made(read_transposed, parts, whole=False)


def test_what_is_only_passed_along_may_overlap():
    def change(a, b):
        a[0] = 5
        return a, b

    def make():
        a = sample(5)
        return a, a[:2]

    check_made(change, make)


def test_read_after_the_store():
    def change(a, b):
        a[0] = 5.0
        a[1] = 6.0
        return b * 2

    def make():
        a = sample(5)
        return a, a[:2]

    check_made(change, make, lambda: (sample(5), sample(2)), whole=False)


class Box:
    def __init__(self, array):
        self.array = array
        self.total = 0.0


def test_arrays_inside_of_objects():
    def change(items, box, table):
        items[0][1:] += items[1][:-1]
        box.array *= 2
        table["x"][:, 0] = items[0][0]
        return table["x"].sum()

    def make():
        return [sample(4), sample(4, seed=2)], Box(sample(3)), {"x": sample((2, 2))}

    call = accel.compile(change)
    for _ in range(2):
        left, right = make(), make()
        assert call(*left) == change(*right)
        for a, b in zip(left[0], right[0], strict=True):
            assert a.tobytes() == b.tobytes()
        assert left[1].array.tobytes() == right[1].array.tobytes()
        assert left[2]["x"].tobytes() == right[2]["x"].tobytes()


GLOBAL = np.zeros(4)


def test_globals():
    def change(x):
        GLOBAL[1:] += x
        return GLOBAL.sum()

    call = accel.compile(change)
    x = sample(3)
    for _ in range(3):
        GLOBAL[...] = 1
        result = call(x)
        expected = np.ones(4)
        expected[1:] += x
        assert result == expected.sum()
        assert (expected == GLOBAL).all()


PAIR = (np.float64, (2,))


def change_parts(x):
    y = x.copy()
    parts = y.view(PAIR)
    parts *= 2
    parts[..., 1] -= 1
    y.real += y.imag
    flat = y.view(np.float64)
    flat[::3] = 7
    return y, parts, flat, flat.sum(), parts.sum(0), y.view() is y, y.view(y.dtype), parts[..., 0].sum(), parts.shape


def change_parts_of_argument(x):
    parts = x.view(dtype=("f8", 2))
    parts[0] = 3
    parts[..., 1] += parts[..., 0]
    return parts.T, x.view("f8"), parts[1:].max(), x


def change_parts_in_a_loop(x):
    for k in range(4):
        parts = x.view(PAIR)
        parts[k] *= k
        x = x * 1j
    return x


def change_parts_on_a_branch(x):
    parts = x.view(PAIR)
    if parts.sum() > 0:
        parts[0] = 1
    else:
        parts[1] = 2
    return x, parts


@pytest.mark.parametrize("function", [change_parts, change_parts_of_argument, change_parts_in_a_loop, change_parts_on_a_branch])
def test_views_as_parts(function):
    """Real and imaginary parts of complex numbers side by side."""
    for shape in ((4, 5), (6,), (4, 1, 3), (5, 0)):
        if shape[-1] > 0 or function is not change_parts_of_argument:
            check_in_loops(function, sample(shape, "complex128"))
            check_at_exits(function, sample(shape, "complex128"))


def test_views_as_parts_of_any_layout():
    def parts(x):
        parts = x.view(PAIR)
        return parts, parts * 2, parts[..., 1], parts.sum((0, 2)), parts.T.copy(), parts.max(-1), parts.reshape(-1)

    for _, x in layouts(sample((4, 6), "complex128")):
        check_in_loops(parts, x)
    check_in_loops(parts, sample((6, 8), "complex128").T[::2, ::-3])
    single = sample((6, 8), "complex64")
    check_in_loops(lambda x: (x.view(("f4", (2,))).sum(1), x.view("f4").argmax(1)), single)
    for bad in (lambda x: x[:, ::2].view("f4"), lambda x: x.view("i4"), lambda x: x.view(PAIR), lambda x: x[0, 0].view("f4")):
        check_left_to_numpy(bad, single)
    check_left_to_numpy(lambda x: x.reshape(()).view(PAIR), sample((1, 1), "complex128"))
