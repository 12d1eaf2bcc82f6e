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


def run(compiled, *arguments):
    """What `explain` says of a call that the device makes."""
    why = accel.explain(compiled)(*arguments)
    assert why.compiled and why.device["name"] == "cuda:0" and why.exception is None, str(why)
    return why


def check_in_parts(function, *arguments):
    """The kernel is launched more than once, and the results are NumPy's."""
    wanted = function(*arguments)
    compiled = accel.compile(function, device="cuda")
    for _ in range(2):
        why = run(compiled, *arguments)
        assert 2 <= why.device["launches"] <= 64
        found = why.result if isinstance(wanted, tuple) else (why.result,)
        for one, other in zip(found, wanted if isinstance(wanted, tuple) else (wanted,), strict=True):
            assert type(one) is np.ndarray and (one.dtype, one.shape, one.strides) == (other.dtype, other.shape, other.strides)
            assert one.flags.owndata and one.flags.writeable
            np.testing.assert_array_equal(one, other)


def test_elements():
    a, b = table(), table()[::-1].copy()
    check_in_parts(lambda a, b: a * 2.0 + b, a, b)
    check_in_parts(lambda a, b: (a + b, a > b, (a - b).astype(np.float32)), a, b)


@pytest.mark.parametrize("dtype", ["int8", "float32", "complex128"])
def test_dtypes(dtype):
    x = table(dtype, ROWS * 8 // np.dtype(dtype).itemsize)
    check_in_parts(lambda x: x + x, x)
    check_in_parts(lambda x: x.real > 3, x)


def test_reductions_of_rows():
    check_in_parts(lambda x: x.sum(axis=1) * 2, table())
    check_in_parts(lambda x, centres: np.argmin((x[:, 0:1] - centres) ** 2, axis=1), table(), np.arange(5.0))


def test_rows_that_all_need():
    check_in_parts(lambda x, row, column: x * row + column, table(), np.arange(8.0), np.arange(float(ROWS))[:, None])


def test_neighbouring_rows():
    check_in_parts(lambda x: x[1:] - x[:-1], table())
    check_in_parts(lambda x: x[2:, 1:] + x[1:-1, :-1] * x[:-2, 1:], table())
    check_in_parts(lambda x: x[5:] * 2, table())


def test_gaps_between_rows():
    wide = table(rows=2 * ROWS)
    check_in_parts(lambda x: x * 2, wide[::2])
    check_in_parts(lambda x: x * 2, wide[:, ::2])
    check_in_parts(lambda x: x * 2, wide[:, 3:6])
    check_in_parts(lambda x: x * 2, table().T)


def test_arguments_that_overlap():
    x = table(rows=2 * ROWS)
    check_in_parts(lambda a, b: a * b, x[:ROWS], x[ROWS // 2 : ROWS // 2 + ROWS])
    check_in_parts(lambda a, b: a * b, x[:ROWS], x[:ROWS])


@pytest.mark.parametrize(
    ("function", "argument"),
    [
        (lambda x: x * 2, table()[::-1]),  # the first iterations need the last bytes
        (lambda x: x * 2, np.broadcast_to(np.arange(8.0), (ROWS, 8))),
        (lambda x: x[:, 0] * np.arange(len(x)), table()),  # the number of the row is a value
        (lambda x: x.sum(axis=0), table()),
        (lambda x: x[::-1] + x, table()),
        (lambda x: x * 2, table(rows=1000)),  # small
    ],
)
def test_what_may_not_be_divided(function, argument):
    """As many launches as without parts."""
    wanted = function(argument)
    compiled = accel.compile(function, device="cuda")
    for _ in range(2):
        why = run(compiled, argument)
        np.testing.assert_allclose(why.result, wanted, rtol=1e-12)
    with accel.config(transfer_part_bytes=0):
        assert run(compiled, argument).device["launches"] == why.device["launches"]


def test_arguments_that_are_stored_to():
    x, y = table(), table()

    def function(x):
        x *= 2.0
        return x[:, 0] + 1

    why = run(accel.compile(function, device="cuda"), x)
    np.testing.assert_array_equal(why.result, function(y))
    np.testing.assert_array_equal(x, y)


def test_sizes_that_change():
    """One compiled function; the last part is a short one."""
    compiled = accel.compile(lambda x: x * 2.0 + 1, device="cuda")
    for rows in (ROWS, 3, ROWS + 1, 2 * ROWS - 7, 1000):
        x = table(rows=rows)
        why = run(compiled, x)
        assert (why.device["launches"] > 1) == (rows >= ROWS)
        np.testing.assert_array_equal(why.result, x * 2.0 + 1)


def test_results_of_earlier_calls_stay():
    compiled = accel.compile(lambda x: x + 1.0, device="cuda")
    x = table()
    first = run(compiled, x).result
    second = run(compiled, first).result
    np.testing.assert_array_equal(first, x + 1.0)
    np.testing.assert_array_equal(second, x + 2.0)
