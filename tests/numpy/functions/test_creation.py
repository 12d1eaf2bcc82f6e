"""New arrays: zeros and its kin, arange, conversions, joins, where, dtypes."""

import numpy as np
import pytest
from support.differential import check, check_left_to_numpy, layouts, sample


def test_filled():
    check(lambda x: (np.zeros(3) + x, np.ones((2, 3)) + x, np.full(3, 2.5) * x, np.full((2, 3), 7) + x), sample(3))
    check(
        lambda x: (
            np.zeros(3, dtype=np.float32),
            np.ones(3, int),
            np.full(3, 1, dtype="i2"),
            np.zeros((2, 3), order="F"),
            x + 1,
        ),
        sample(3),
    )
    check(
        lambda x: (np.zeros(x.shape), np.ones(x.shape, x.dtype), np.zeros(x.shape[0]), np.zeros((x.shape[1], 2)), x + 1),
        sample((3, 4)),
    )
    check_left_to_numpy(lambda n: np.zeros(n), -1)


def test_the_class_of_arrays():
    def made(x):
        a, b = np.ndarray(x.shape), np.ndarray((2, x.shape[0]), np.float32, order="F")
        c, d = np.ndarray(shape=3, dtype=bool), np.ndarray((), x.dtype)
        a[:], b[...], c[:], d[...] = x, 2, x[0] > 0, x[0]
        return a, b, c, d

    check(made, sample(4))
    check(made, sample(3, "int16"))
    check_left_to_numpy(lambda x: (np.ndarray(4, buffer=x), np.ndarray(2, offset=8, buffer=x)), sample(4))
    check_left_to_numpy(lambda x: np.ndarray((2, -1)), sample(4))


def test_filled_like():
    for _, x in layouts(sample((3, 4), "float32")):
        check(lambda x: (np.zeros_like(x), np.ones_like(x), np.full_like(x, 3.5), np.zeros_like(x, dtype=int), x + 1), x)
    check(lambda x: np.ones_like(x) * x, sample((2, 3, 4)).transpose(1, 0, 2))


def test_fresh_arrays_are_filled():
    def filled(x):
        y = np.empty(x.shape)
        y.fill(2.0)
        z = np.empty_like(x)
        np.copyto(z, x)
        np.copyto(y, 0.0, where=x > 0)
        return y, z

    check(filled, sample((3, 4)))


@pytest.mark.parametrize(
    "arguments",
    [
        "5",
        "0",
        "2, 9",
        "2, 9, 3",
        "9, 2, -2",
        "5.0",
        "0.0, 1.0, 0.25",
        "5, dtype=np.float32",
        "2, 8, dtype='i2'",
        "n",
        "n, 9",
        "0, n, 2",
        "n, 0, -1",
        "n, dtype=float",
        "x.shape[0]",
        "-2",
    ],
)
def test_arange(arguments):
    check(eval(f"lambda x, n: (np.arange({arguments}), x + 1)"), sample(3), 4)


def test_ranges_of_other_kinds():
    check(lambda x: np.arange(x.shape[0]) * x, sample(6))
    check_left_to_numpy(lambda x: np.arange(0.1, 1.0, 0.3) + x, sample(3))
    check_left_to_numpy(lambda x: np.arange(0, 5, 0) + x, sample(3))


def test_conversions():
    x = sample((3, 4))
    check(
        lambda x: (
            np.asarray(x) is x,
            np.array(x),
            np.copy(x),
            x.copy(),
            np.asarray(x, dtype=np.float32),
            np.ascontiguousarray(x),
        ),
        x,
    )
    for _, y in layouts(x):
        check(lambda x: (np.array(x), x.copy(), x.copy("K"), np.ascontiguousarray(x), np.asarray(x, order="C"), x + 1), y)
        check(lambda x: (x.astype(np.float32), x.astype(int), x.astype(bool), x.astype(np.complex64)), y)
    check(lambda x: (np.asfortranarray(x), np.array(x, ndmin=4), np.array(x, copy=None)), x)
    check(lambda x: (np.array(2.5) * x, np.asarray(3) + x), x)


@pytest.mark.parametrize("source", ["bool", "int8", "uint64", "int64", "float16", "float32", "float64", "complex64"])
@pytest.mark.parametrize("target", ["bool", "int8", "uint8", "int64", "uint64", "float16", "float32", "float64", "complex128"])
def test_astype(source, target):
    x = np.abs(sample(50, source)) if np.dtype(target).kind == "u" and np.dtype(source).kind != "b" else sample(50, source)
    if np.dtype(source).kind == "c" and np.dtype(target).kind not in "cb":
        check_left_to_numpy(lambda x: x.astype(target), sample(5, source))
    else:
        check(lambda x: x.astype(target), x)


def test_sequences():
    check(lambda x: np.array([1.0, 2.0, 3.0]) * x, sample(3))
    check(lambda x: (np.array([[1, 2], [3, 4]]), np.array([x.sum(), 2.0, x.max()]), np.array([x, x + 1]), x + 1), sample(3))
    check(lambda x: (x + [1, 2, 3], np.maximum(x, (0.5, 0.25, 0.125)), np.array([]), np.array([True, 2])), sample(3))
    check(lambda x, a, b: np.array([a, b]) * x, sample(2), 3.0, 4)
    check_left_to_numpy(lambda x: np.array([x, [1.0]], dtype=float), sample(3))


def test_joins():
    x, y = sample((3, 4)), sample((2, 4), seed=1)
    check(lambda x, y: (np.concatenate([x, y]), np.concatenate((x, y), axis=0), np.concatenate([x, x], axis=1)), x, y)
    check(lambda x, y: (np.concatenate([x, y], axis=None), np.concatenate([x * 2.0, y[::-1]]), np.concatenate([x])), x, y)
    check(lambda x, y: (np.vstack([x, y]), np.hstack([x, x]), np.vstack([x[0], y])), x, y)
    check(lambda x: np.concatenate([x.T, x.T]), x)
    check(lambda x, y: np.concatenate([x, y], dtype=np.float32, casting="same_kind"), x, y)
    check(lambda x, y: np.concatenate([x, y]) + 1, sample((2, 3), "int32"), sample((2, 3), "float32"))
    check_left_to_numpy(lambda x, y: np.concatenate([x, y], axis=1), x, y)


def test_where():
    x, y = sample((3, 4)), sample((3, 4), seed=1)
    check(
        lambda x, y: (np.where(x > 0, x, y), np.where(x > 0, 1.0, 0.0), np.where(x > 0, x, 0), np.where(x[0] > 0, x, y)), x, y
    )
    check(lambda x: (np.where(x > 0, x, -1), np.where(x, 1, 2)), sample(5, "float32"))
    check(lambda x: np.where(x.T > 0, x.T, 0.0), x)
    check(lambda x: np.where(x.sum() > 0, x, 1.0), x)
    check_left_to_numpy(lambda x: np.where(x > 0), x)


def test_scalar_types():
    check(
        lambda x: (np.float32(2.5) * x, x * np.int8(3), np.float64(x.sum()), np.float32(x.sum()), np.int64(x.shape[0])),
        sample(4, "float32"),
    )
    check(lambda x: (np.float32(x), np.bool(x[0]), np.complex128(x[0]), x.dtype.type(3)), sample(4))


def test_questions_about_dtypes():
    def steps(x, y):
        return (
            np.result_type(x, y),
            np.result_type(x, 1.0),
            np.promote_types(x.dtype, np.int64),
            np.can_cast(x.dtype, y.dtype),
            np.finfo(x.dtype).eps,
            np.iinfo(np.int8).max,
            np.dtype("f4").itemsize,
            x + y,
        )

    check(steps, sample(3, "float32"), sample(3))


def test_functions_in_python():
    x, y = sample((5, 3)), sample(3, seed=1)
    check(lambda x: (np.diff(x), np.diff(x, axis=0), np.nan_to_num(x), np.triu(x @ x.T), np.ptp(x, axis=0)), x)
    check(lambda x, y: (np.outer(y, y), np.average(x), np.linalg.norm(x), np.linalg.norm(y), np.linalg.norm(x, axis=1)), x, y)
    for function in (np.flip, np.isclose):
        check_left_to_numpy(lambda x, f=function: f(x, 0), x)
    check(lambda x: np.trapezoid(x), x)


def test_joins_of_stored_values():
    x, y = sample((4, 5)), sample((5, 5), seed=1)
    check(lambda x, y: np.concatenate([x @ y, x, np.concatenate([x, x])]), x, y)

    def repeated(x):
        both = np.concatenate([x, x])
        return np.concatenate([both, both * 2.0]), both, both

    check(repeated, x)


def test_memory_of_large_results():
    import accel

    call = accel.compile(lambda x: x * 2.0)
    result = call(np.ones((600, 700)))
    result = call(np.ones((600, 700)))
    assert np._core.multiarray.get_handler_name(result) == "accel"
    assert np._core.multiarray.get_handler_name(call(np.ones(10))) == "default_allocator"
    assert result.flags.owndata and result.base is None
    result.resize((1200, 700), refcheck=False)
    np.testing.assert_array_equal(result[:600], 2.0)
    assert np._core.multiarray.get_handler_name() == "default_allocator"


def test_item():
    check(lambda x: (x.sum().item(), x[0, 0].item(), np.max(x).item() + 1.0), sample((3, 4)))


@pytest.mark.parametrize("order", ["C", "F", "A", "K"])
def test_orders_of_copies(order):
    def function(a):
        return a.copy(order), a.copy(order=order), np.copy(a, order), a.astype(np.float32, order), a + 1

    for _, a in layouts(sample((4, 6, 3))):
        check(function, a)


def test_no_copy():
    def same(a):
        return np.array(a, copy=False), np.asarray(a, copy=False), np.asarray(a, dtype=float, copy=False), a + 1

    def changed(a):
        return np.array(a + 1, dtype=int, copy=False)

    check(same, sample((4, 6)))
    check_left_to_numpy(changed, sample((4, 6)))
    check_left_to_numpy(lambda x: np.asarray(x, copy=False), [1.0, 2.0])
    check_left_to_numpy(lambda x: np.asarray(x, copy=False), 1.0)
