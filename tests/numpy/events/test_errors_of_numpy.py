"""Errors and warnings of NumPy that do not depend on whether the result is used."""

import numpy as np
import pytest
from support.compiled import facts
from support.differential import check, sample
from support.outcome import assert_same

import accel


def check_left_to_numpy(function, *arguments):
    """The same outcome as NumPy's, without a compiler: calls that raise or warn."""
    assert_same(function, accel.compile(function, backend="numpy"), *arguments, times=2)


def too_many_elements(x):
    np.zeros([975] * 7, np.int8)
    return x * 2.0


def too_many_elements_fused(x):
    return (np.zeros([975] * 7, np.int8) + 1).sum() + x


def too_many_although_empty(x):
    return np.zeros((0, 2**40, 2**40)).sum() + x


def too_much_memory(x):
    unused = np.empty(10**14)  # noqa: F841
    return x * 2.0


def too_much_memory_of_ones(x):
    return np.ones((10**7, 10**7)).sum() + x


def too_large_identity(x):
    return np.eye(10**8).shape, x * 2.0


def too_long_range(x):
    np.arange(10**14)
    return x * 2.0


def too_many_repeats(x):
    return np.repeat(x, 10**14).sum()


@pytest.mark.parametrize(
    "function",
    [
        too_many_elements,
        too_many_elements_fused,
        too_many_although_empty,
        too_much_memory,
        too_much_memory_of_ones,
        too_large_identity,
        too_long_range,
        too_many_repeats,
    ],
)
def test_arrays_that_cannot_exist(function):
    with pytest.raises((ValueError, MemoryError)):
        function(sample(3))
    check_left_to_numpy(function, sample(3))


def caught(copy):
    """A function that makes copies nobody uses, of a view beyond any memory, and catches what NumPy raises."""

    def function(view, x):
        failed = 0
        for _ in range(3):
            try:
                copy(view)
            except (MemoryError, ValueError):
                failed += 1
        return failed, x * 2.0

    return function


COPIES = [
    np.array,
    np.copy,
    np.negative,
    lambda view: np.array([view]),
    lambda view: view.copy(),
    lambda view: view.astype("f4"),
    lambda view: view + 1,
    lambda view: view.ravel(),
    lambda view: np.concatenate([view, view]),
    lambda view: np.roll(view, 1),
    lambda view: np.ones_like(view),
]


@pytest.mark.parametrize("copy", COPIES)
def test_copies_of_views_beyond_memory(copy):
    """A broadcast view may have more elements than any memory: its copy fails, even where it is not used."""
    view = np.broadcast_to(np.array(0, np.uint8), 2**62)
    assert caught(copy)(view, sample(3))[0] == 3
    compiled = accel.compile(caught(copy))
    assert [compiled(view, sample(3))[0] for _ in range(2)] == [3, 3]

    def local(x):
        return caught(copy)(np.broadcast_to(x[:1], 2**50), x)

    assert local(sample(3))[0] == 3
    assert_same(local, accel.compile(local), sample(3), times=2)


def test_views_within_memory():
    """A view that fits comes first; the larger one has a capture of its own."""

    def function(view):
        try:
            view + 1
        except MemoryError:
            return "too large", view.shape
        return "exists", view.shape, np.exp(view[:3] + 1.0).sum()

    compiled = accel.compile(function)
    for extent in (1000, 2000, 2**62, 3000, 2**61):
        view = np.broadcast_to(np.array(3, np.uint8), extent)
        assert compiled(view) == function(view)
    assert accel.stats(compiled)["compiled"] >= 3


def test_views_of_computed_extents():
    def function(x, n, m):
        view = np.broadcast_to(x, (n, m, len(x)))
        return view.shape, (view + 1.0).sum()

    check(function, sample(3), 4, 5)
    compiled = accel.compile(function)
    assert_same(function, compiled, sample(3), 4, 5)
    with pytest.raises(MemoryError):
        compiled(sample(3), 2**20, 2**35)


def test_sizes_that_arrive():
    def function(n, m):
        np.empty((n, m, n), np.float32)
        return np.zeros((n, m)).sum() + np.arange(n).sum()

    call = check(function, 3, 4)
    assert call(0, 0) == function(0, 0)
    with pytest.raises(ValueError):
        call(2**31, 2**31)
    with pytest.raises(MemoryError):
        call(2**14, 2**20)
    assert call(5, 6) == function(5, 6)


def test_more_axes_than_there_may_be():
    def outer(x, n):
        a = x.reshape((1,) * n + (-1,))
        np.add.outer(a, a)
        return x * 2.0

    def new_axes(x, n):
        return x[(None,) * n].ndim, x * 2.0

    for function in (outer, new_axes):
        check(function, sample(3), 31)
        with pytest.raises((ValueError, IndexError)):
            function(sample(3), 64)
        check_left_to_numpy(function, sample(3), 64)


STORED = {"list": [5.0], "nested": [[5.0]], "row": [[1.0, 2.0, 3.0]], "array": np.array([5.0]), "matrix": np.array([[5.0]])}
AT = {"nothing": (), "ellipsis": ..., "last": (..., 0), "slice": slice(None), "number": 0}


@pytest.mark.parametrize("shape", [(), (1,), (3,), (2, 3)], ids=str)
@pytest.mark.parametrize("at", AT)
def test_stores_of_what_is_nested_more_deeply(shape, at):
    index = AT[at]
    for value in STORED.values():

        def function(t):
            t[index] = value
            return t + 1.0

        check_left_to_numpy(function, np.zeros(shape))


def test_stores_that_fit_are_compiled():
    def function(t):
        t[...] = [5.0]
        t[0, ...] = [[1.0]][0]
        t[1] = np.array([[[2.0]]])
        np.copyto(t[:1], [[[7.0, 8.0, 9.0]]], casting="unsafe")
        return t + 1.0

    check(function, np.zeros((2, 3)))


@pytest.mark.parametrize("name", ["cumsum", "cumprod", "nancumsum", "nancumprod"])
def test_axes_of_arrays_without_axes(name):
    accumulate = getattr(np, name)
    for axis in (1, -2):
        check_left_to_numpy(lambda z: accumulate(z, axis=axis), np.array(3.0))
    for axis in (0, -1, None):
        check(lambda z: accumulate(z, axis=axis) * 2.0, np.array(3.0))
    if not name.startswith("nan"):
        check_left_to_numpy(lambda z: getattr(z, name)(1), np.array(3.0))


# --- dispatchers


def test_dispatchers_that_iterate():
    for function in (lambda: np.roots(3), lambda: np.poly(3), lambda: np.histogramdd(3)):
        with pytest.raises(TypeError):
            function()
        check_left_to_numpy(function)
    check_left_to_numpy(lambda z: np.roots(z), np.float64(3.0))
    check_left_to_numpy(lambda z: np.poly(z), np.array(3.0))


def test_dispatchers_that_use_up_an_iterator():
    def stacked(x):
        return np.vstack(x * i for i in range(3))

    def multiplied(x):
        return np.linalg.multi_dot(a for a in [x, x, x])

    def joined(x):
        return np.hstack(iter([x, x]))

    for function in (stacked, multiplied, joined):
        check_left_to_numpy(function, sample((3, 3)))


def test_functions_that_dispatchers_call_are_compiled():
    def function(x):
        return np.vstack([x, x * 2.0]), np.hstack((x, x)), np.select([x > 1.0, x < 0.0], [x, -x]), np.stack([x, x], axis=-1)

    check(function, sample(5))


# --- warnings


@pytest.mark.parametrize("ufunc", [np.maximum, np.minimum, np.add], ids=lambda u: u.__name__)
def test_results_given_by_position(ufunc):
    def by_position(a, b, out):
        return ufunc(a, b, out) * 2.0

    def by_name(a, b, out):
        return ufunc(a, b, out=out) * 2.0

    check_left_to_numpy(by_position, sample(3), sample(3, seed=1), np.zeros(3))
    check(by_name, sample(3), sample(3, seed=1), np.zeros(3))


def test_results_given_twice_or_in_too_short_a_tuple():
    def empty(x):
        return np.sqrt(x * x, out=()), x * 2.0

    def short(x):
        return np.modf(x, out=(None,)), x * 2.0

    def twice(x):
        return np.floor(x, None, out=np.zeros(3)), x * 2.0

    for function in (empty, short, twice):
        check_left_to_numpy(function, sample(3))


def test_items_that_are_no_numbers():
    def function(x):
        return np.fromiter(x, np.float64), x * 2.0

    check_left_to_numpy(function, sample((2, 3)))
    check(function, sample(3))


def test_flags_that_are_none():
    check_left_to_numpy(lambda x: x.all(keepdims=None), sample(3))
    check_left_to_numpy(lambda x: np.sum(x, keepdims=None), sample(3))


def test_truths_over_no_axis():
    def function(x):
        return np.any(x, axis=()), x.all(()), np.logical_or.reduce(x, axis=())

    check_left_to_numpy(function, sample((2, 3)))


def test_names_of_dtypes_that_are_deprecated():
    def function(x):
        return x.astype("a"), np.zeros(3, "a5"), x * 2.0

    check_left_to_numpy(function, sample(3))


# --- results that nobody uses


def inverse(x):
    np.linalg.inv(x * 0.0)
    return x * 2.0


def wrong_shape(x):
    x.reshape(7, 5)
    return x * 2.0


def wrong_product(x):
    x @ x[:2]
    return x * 2.0


def wrong_index(x):
    x[5]
    return x * 2.0


def wrong_indices(x):
    x[np.array([0, 9])]
    return x * 2.0


def negative_power(x):
    x.astype(np.int64) ** -1
    return x * 2.0


def no_number(x):
    int(x[0, 0] * np.inf - x[0, 0] * np.inf)
    return x * 2.0


def no_extreme(x):
    x[:0].max()
    return x * 2.0


def no_position(x):
    x[:0].argmin()
    return x * 2.0


def taken(x):
    np.take(x, [9])
    return x * 2.0


def counted(x):
    np.bincount(np.array([-1, 2]))
    return x * 2.0


def divided(x):
    with np.errstate(divide="raise"):
        x / 0.0
    return x * 2.0


def joined_wrongly(x):
    np.concatenate([x, x[0]])
    return x * 2.0


def decomposed(x):
    np.linalg.cholesky(-np.abs(x) - np.eye(3))
    return x * 2.0


UNUSED = [
    inverse,
    wrong_shape,
    wrong_product,
    wrong_index,
    wrong_indices,
    negative_power,
    no_number,
    no_extreme,
    no_position,
    taken,
    counted,
    divided,
    joined_wrongly,
    decomposed,
]


@pytest.mark.parametrize("function", UNUSED, ids=lambda f: f.__name__)
def test_results_that_nobody_uses(function):
    with np.errstate(all="ignore"):
        check_left_to_numpy(function, sample((3, 3)))
        with pytest.raises(Exception):  # noqa: B017, PT011
            accel.compile(function, backend="numpy")(sample((3, 3)))


def test_more_index_arrays_than_iterators_take():
    def store(i):
        most = np.zeros((1,) * 64)
        most[(i,) * 63] = 1.0
        most[(i,) * 64] = 2.0
        return most

    assert_same(store, accel.compile(store), np.array([0]))


def made_of_computed_sizes(n):
    k = int(n.sum())
    return np.zeros((k, k), np.int8).shape, np.ones(k).size, np.full(k, 2.0).strides, np.tile(np.ones(3), k).shape


def test_arrays_of_computed_sizes_may_be_too_large():
    call = accel.compile(made_of_computed_sizes)
    for size in (3, 2**62, 5, 2**60, 2**46, -1, 0):
        assert_same(made_of_computed_sizes, call, np.array([size]), times=2)
    found = facts(call)
    assert found["compiled"] > 0 and found["recompiles"] == 0, found
