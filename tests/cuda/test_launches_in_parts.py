"""Large NumPy arrays travel while the device computes: a kernel is launched part by part, with NumPy's results."""

import numpy as np
import pytest

import accel

ROWS = 70_000  # of 8 columns, of float64: 4.5 MB


@pytest.fixture(autouse=True)
def parts():
    with accel.config(transfer_part_bytes=1 << 20):
        yield


def table(dtype="float64", rows=ROWS):
    return (np.arange(rows * 8) % 1013 - 500).astype(dtype).reshape(rows, 8)


def launches(function, *arguments, least=2):
    """How often the kernel is launched. The results are NumPy's."""
    wanted = function(*arguments)
    compiled = accel.compile(function, device="cuda")
    for _ in range(2):
        why = accel.explain(compiled)(*arguments)
        assert why.compiled and why.device["name"] == "cuda:0" and why.exception is None, str(why)
        found = why.result if isinstance(wanted, tuple) else (why.result,)
        for one, other in zip(found, wanted if isinstance(wanted, tuple) else (wanted,), strict=True):
            assert type(one) is np.ndarray and (one.dtype, one.shape, one.strides) == (other.dtype, other.shape, other.strides)
            assert one.flags.owndata and one.flags.writeable
            np.testing.assert_array_equal(one, other)
    assert (why.device["launches"] >= 2) == (least >= 2), why.device["launches"]
    return why.device["launches"]


def test_elements():
    a, b = table(), table()[::-1].copy()
    assert launches(lambda a, b: a * 2.0 + b, a, b) <= 64
    launches(lambda a, b: (a + b, a > b, (a - b).astype(np.float32)), a, b)


@pytest.mark.parametrize("dtype", ["int8", "float32", "complex128"])
def test_dtypes(dtype):
    x = table(dtype, ROWS * 8 // np.dtype(dtype).itemsize)
    launches(lambda x: x + x, x)
    launches(lambda x: x.real > 3, x)


def test_reductions_of_rows():
    launches(lambda x: x.sum(axis=1) * 2, table())
    launches(lambda x, centres: np.argmin((x[:, 0:1] - centres) ** 2, axis=1), table(), np.arange(5.0))


def test_rows_that_all_need():
    launches(lambda x, row, column: x * row + column, table(), np.arange(8.0), np.arange(float(ROWS))[:, None])


def test_neighbouring_rows():
    launches(lambda x: x[1:] - x[:-1], table())
    launches(lambda x: x[2:, 1:] + x[1:-1, :-1] * x[:-2, 1:], table())
    launches(lambda x: x[5:] * 2, table())


def test_gaps_between_rows():
    wide = table(rows=2 * ROWS)
    launches(lambda x: x * 2, wide[::2])
    launches(lambda x: x * 2, wide[:, ::2])
    launches(lambda x: x * 2, wide[:, 3:6])


def test_arguments_that_overlap():
    x = table(rows=2 * ROWS)
    launches(lambda a, b: a * b, x[:ROWS], x[ROWS // 2 : ROWS // 2 + ROWS])
    launches(lambda a, b: a * b, x[:ROWS], x[:ROWS])


@pytest.mark.parametrize(
    ("function", "argument"),
    [
        (lambda x: x * 2, table()[::-1]),  # the first iterations need the last bytes
        (lambda x: x * 2, table().T),
        (lambda x: x * 2, np.broadcast_to(np.arange(8.0), (ROWS, 8))),
        (lambda x: x[:, 0] * np.arange(len(x)), table()),  # the number of the row is a value
        (lambda x: x.sum(axis=0), table()),
        (lambda x: x[::-1] + x, table()),
        (lambda x: x * 2, table(rows=1000)),  # small
    ],
)
def test_what_may_not_be_divided(function, argument):
    wanted = function(argument)
    compiled = accel.compile(function, device="cuda")
    for _ in range(2):
        np.testing.assert_allclose(compiled(argument), wanted, rtol=1e-12)


def test_arguments_that_are_stored_to():
    x, y = table(), table()

    def function(x):
        x *= 2.0
        return x[:, 0] + 1

    compiled = accel.compile(function, device="cuda")
    np.testing.assert_array_equal(compiled(x), function(y))
    np.testing.assert_array_equal(x, y)


def test_sizes_that_change():
    """One compiled function; the last part is a short one."""
    compiled = accel.compile(lambda x: x * 2.0 + 1, device="cuda")
    for rows in (ROWS, 3, ROWS + 1, 2 * ROWS - 7, 1000):
        x = table(rows=rows)
        np.testing.assert_array_equal(compiled(x), x * 2.0 + 1)


def test_results_of_earlier_calls_stay():
    compiled = accel.compile(lambda x: x + 1.0, device="cuda")
    x = table()
    first = compiled(x)
    second = compiled(first)
    np.testing.assert_array_equal(first, x + 1.0)
    np.testing.assert_array_equal(second, x + 2.0)
