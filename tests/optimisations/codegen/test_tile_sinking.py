"""What stands around a loop that runs tile by tile: arrays it starts from, and stores after it."""

import warnings

import numpy as np
import pytest
from support.differential import check, check_at_exits, check_made
from support.outcome import assert_same

import accel


def grid(rows, columns, dtype=np.complex64):
    real, imag = np.linspace(-2.2, 0.8, columns), np.linspace(-1.2, 1.2, rows)
    return real.astype(np.dtype(dtype).type(0).real.dtype), imag.astype(np.dtype(dtype).type(0).real.dtype)


def iterate(z, c, count, steps):
    for k in range(steps):
        inside = np.abs(z) < 2
        count[inside] = k
        z[inside] = z[inside] ** 2 + c[inside]


def plain(real, imag, steps):
    c = real + 1j * imag[:, None]
    z = np.zeros(c.shape, c.dtype)
    count = np.zeros(c.shape, int)
    iterate(z, c, count, steps)
    count[count == steps - 1] = 0
    return z, count


def grid_is_a_result(real, imag, steps):
    c = real + 1j * imag[:, None]
    z = c * 0
    count = np.full(c.shape, 3)
    iterate(z, c, count, steps)
    return z, count, c


def start_is_a_result(real, imag, steps):
    c = real + 1j * imag[:, None]
    start = np.sin(imag)[:, None] * real
    z = start.astype(c.dtype)
    count = start.astype(int)
    iterate(z, c, count, steps)
    return z, count, start


def reads_the_start_elsewhere(real, imag, steps):
    z = real + 1j * imag[:, None]
    c = z[::-1, ::-1] + 0.25
    count = np.zeros(z.shape, int)
    iterate(z, c, count, steps)
    return z, count


def source_changes(real, imag, steps):
    c = real + 1j * imag[:, None]
    z = c * 0.5
    d = c + z
    c[0] = 7
    count = np.zeros(z.shape, int)
    iterate(z, d, count, steps)
    return z, count, c


def stores_of_other_states(real, imag, steps):
    c = real + 1j * imag[:, None]
    z = np.zeros(c.shape, c.dtype)
    count = np.zeros(c.shape, int)
    iterate(z, c, count, steps)
    count[np.abs(z) > 3] = -1
    z[count == 2] = 0.5
    return z, count


def stores_one_after_the_other(real, imag, steps):
    c = real + 1j * imag[:, None]
    z = np.zeros(c.shape, c.dtype)
    count = np.zeros(c.shape, int)
    iterate(z, c, count, steps)
    count[count == steps - 1] = 0
    count[count == 0] = 100
    count[:] = count * 2
    z[:] = z * 2 - c
    return z, count


def store_of_a_row(real, imag, steps):
    c = real + 1j * imag[:, None]
    z = np.zeros(c.shape, c.dtype)
    count = np.zeros(c.shape, int)
    iterate(z, c, count, steps)
    z[:] = z + real
    count[:] = np.arange(count.shape[1])
    return z, count


def store_from_elsewhere(real, imag, steps):
    c = real + 1j * imag[:, None]
    z = np.zeros(c.shape, c.dtype)
    count = np.zeros(c.shape, int)
    iterate(z, c, count, steps)
    z[:] = z[::-1]
    count[count[:, ::-1] == 1] = 8
    return z, count


def used_before_and_after_the_store(real, imag, steps):
    c = real + 1j * imag[:, None]
    z = np.zeros(c.shape, c.dtype)
    count = np.zeros(c.shape, int)
    iterate(z, c, count, steps)
    before = count.sum()
    count[count == steps - 1] = 0
    return before, count.sum(), count, z


def views_of_results(real, imag, steps):
    c = real + 1j * imag[:, None]
    z = np.zeros(c.shape, c.dtype)
    count = np.zeros(c.shape, int)
    iterate(z, c, count, steps)
    return z.T, count[1:], z, z.real


def parts_on_the_way_out(real, imag, steps):
    c = real + 1j * imag[:, None]
    z = np.zeros(c.shape, c.dtype)
    count = np.zeros(c.shape, int)
    iterate(z, c, count, steps)
    if count.max() > 5:
        return z
    count[count == 1] = 0
    return count


def again_and_again(real, imag, steps):
    total = np.zeros((len(imag), len(real)), int)
    for n in range(3):
        c = real + 1j * imag[:, None]
        z = np.full(c.shape, 0.1 * n, c.dtype)
        count = np.zeros(c.shape, int)
        iterate(z, c, count, steps)
        count[count == 2] = 0
        total += count
    return total, z


def pictures(real, imag, steps):
    """Iterations that threads may share."""
    out = np.zeros((6, len(imag), len(real)), int)
    for n in range(6):
        c = real + np.float32(0.1) * n + 1j * imag[:, None]
        z = np.zeros(c.shape, c.dtype)
        count = np.zeros(c.shape, int)
        iterate(z, c, count, steps)
        count[count == 2] = 0
        out[n] = count
    return out


def goes_on_from_the_first(real, imag, steps):
    c = real + 1j * imag[:, None]
    z = np.zeros(c.shape, c.dtype)
    count = np.zeros(c.shape, int)
    iterate(z, c, count, steps)
    count[count == steps - 1] = 0
    z[count > 2] = 0
    iterate(z, c, count, steps)
    z[count == 1] = 1
    return z, count


FUNCTIONS = [
    plain,
    grid_is_a_result,
    start_is_a_result,
    reads_the_start_elsewhere,
    source_changes,
    stores_of_other_states,
    stores_one_after_the_other,
    store_of_a_row,
    store_from_elsewhere,
    used_before_and_after_the_store,
    views_of_results,
    parts_on_the_way_out,
    again_and_again,
    pictures,
    goes_on_from_the_first,
]


def dtype_of(function):
    """The dtypes take turns over the functions; tests/optimisations/codegen/test_escape_loops.py has every loop with both."""
    return (np.complex64, np.complex128)[FUNCTIONS.index(function) % 2]


@pytest.mark.parametrize("shape", [(3, 300), (20, 7), (2, 1), (0, 5)], ids=str)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_functions(function, shape):
    """Wide rows, narrow ones and none: a tile computes its own part of the grid where that pays."""
    for steps in (0, 1, 25):
        if 0 in shape and function in (parts_on_the_way_out, source_changes):
            continue  # raises
        check(function, *grid(*shape, dtype_of(function)), steps)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_sizes_change(function):
    """One compiled function for all of these; for every other one also a single row, which is a version of its own."""
    call = accel.compile(function)
    for shape in ((3, 300), (400, 3), (5, 5), (1, 700))[: 4 - FUNCTIONS.index(function) // 2 % 2]:
        assert_same(function, call, *grid(*shape, dtype_of(function)), 12, times=1)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_exits(function):
    check_at_exits(function, *grid(2, 260, dtype_of(function)), 3, most=25)


def test_no_array_is_made_for_the_start():
    explanation = accel.explain(accel.compile(plain))(*grid(3, 300), 20)
    assert "tile by tile" in explanation.report(verbose=True)
    assert "give(frame, 0" not in explanation.source and "// store" not in explanation.source


def test_arguments_are_the_state():
    def steps_on(z, count, steps):
        c = z * 0.5
        d = z[::-1] + 0.25
        for k in range(steps):
            inside = np.abs(z) < 2
            count[inside] = k
            z[inside] = z[inside] ** 2 + c[inside] * d[inside]
        count[count == 1] = 0
        z[np.abs(z) > 3] = 0

    def arguments():
        real, imag = grid(4, 300)
        return real + 1j * imag[:, None], np.zeros((4, 300), int), 9

    check_made(steps_on, arguments, arguments)


def test_events_of_the_start():
    """They are NumPy's, whether the loop has steps or not."""

    def starts(x, steps):
        c = x * x
        z = np.zeros(c.shape, c.dtype)
        for _ in range(steps):
            inside = np.abs(z) < 2
            z[inside] = z[inside] ** 2 + c[inside]
        return z

    call = accel.compile(starts)
    x = np.full(500, 1e30 + 1j, np.complex64)
    for steps in (0, 3):
        assert_same(starts, call, x, steps, times=2)
        with np.errstate(all="ignore"):
            assert_same(starts, call, x, steps, times=2)
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            call(x, steps)
        assert any("overflow" in str(w.message) for w in seen)


def test_orders():
    def transposed(c, steps):
        z = np.zeros_like(c)
        d = c + 0.125
        for _ in range(steps):
            inside = np.abs(z) < 2
            z[inside] = z[inside] ** 2 + d[inside]
        z[np.abs(z) > 3] = 1
        return z

    real, imag = grid(5, 300)
    c = real + 1j * imag[:, None]
    for each in (c, np.asfortranarray(c), c.T, c[:, ::2], c[::-1], np.stack([c, c])):
        check(transposed, each, 8)
