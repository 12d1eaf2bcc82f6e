"""What the emitter writes for shapes that programs of several fields share (docs/developer/peepholes.md), and NumPy's bits."""

import re

import numpy as np
import pytest
from support.compiled import facts
from support.differential import check
from support.outcome import assert_same

import accel


def check_emitted(part, function, *arguments):
    """Compiled as a whole, with NumPy's results; the kernel has a text that matches `part`."""
    with accel.config(keep_texts=True):
        call = check(function, *arguments)
        source = accel.explain(call)(*arguments).source
    assert re.search(part, source), f"{function.__name__}: the kernel has no {part}"


# --- numbers that are only compared -------------------------------------------------------------------------------------


def half_normal_by_rejection(tries, uniforms):
    kept = np.empty(len(tries))
    count = 0
    for i in range(len(tries)):
        if uniforms[i] <= np.exp(-0.5 * (tries[i] - 1) ** 2):
            kept[count] = tries[i]
            count += 1
    return kept[:count].copy()


def photons_that_pass(depths, uniforms, mu):
    passed = 0
    for depth, u in zip(depths, uniforms):
        if np.exp(-mu * depth) > u:
            passed += 1
    return passed


def nuclei_left(ages, uniforms, half_life):
    left = np.zeros(len(ages), dtype=np.int8)
    for k in range(len(ages)):
        left[k] = np.exp2(-ages[k] / half_life) >= uniforms[k]
    return left


def walk_by_log_ratio(steps, uniforms, x):
    path = np.empty(len(steps))
    for i in range(len(steps)):
        y = x + steps[i]
        if np.log(uniforms[i]) < 0.5 * (x * x - y * y):
            x = y
        path[i] = x
    return path


def louder_than(power, floor):
    loud = 0
    for i in range(len(power)):
        if np.log10(power[i]) > floor[i]:
            loud += 1
    return loud


def rare_words(share, bits):
    return [k for k in range(len(share)) if np.log2(share[k]) <= bits[k]]


SPECIAL = [0.0, -0.0, 1.0, np.inf, -np.inf, np.nan, -1.0, 5e-324, 1e-310, 1e308, 800.0, -800.0, 1 + 2.0**-23, 1 - 2.0**-52]


def beside(function, x):
    """Arguments, and numbers that equal the function there, or are next to it, or far away."""
    with np.errstate(all="ignore"):
        x = np.concatenate([x, np.array(SPECIAL).astype(x.dtype)])
        at = function(x)
        columns = [at, np.nextafter(at, x.dtype.type(9)), np.nextafter(at, x.dtype.type(-9)), at + at / 1000, at * 0, -at]
    return np.tile(x, len(columns)), np.concatenate(columns)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_compared_numbers(dtype):
    rng = np.random.default_rng(1)
    tries, uniforms = rng.random(60).astype(dtype) * 3, rng.random(60).astype(dtype)
    one = tries.dtype.type(1)
    kind = "f64" if dtype == "float64" else "f32"
    check_emitted(rf"decides<{kind}, Exp>", half_normal_by_rejection, tries, uniforms)
    check_emitted(rf"decides<{kind}, Log>", walk_by_log_ratio, tries - 1, uniforms, one)
    for estimate, function, program, *more in (
        ("Exp", lambda x: np.exp(-x), photons_that_pass, one),
        ("Exp2", lambda x: np.exp2(-x), nuclei_left, one),
        ("Log10", np.log10, louder_than),
        ("Log2", np.log2, rare_words),
    ):
        check_emitted(rf"decides<{kind}, {estimate}>", program, tries, uniforms, *more)
        with np.errstate(all="ignore"):
            check_emitted(rf"decides<{kind}, {estimate}>", program, *beside(function, tries), *more)


def test_order_of_warnings_beside_a_compared_number():
    def ratios(x, a, b):
        return sum(np.exp(x[k]) > a[k] / b[k] for k in range(len(x)))

    x, b = np.array([1.0, 800.0, 2.0, 900.0]), np.array([1.0, 0.0, 0.0, 2.0])
    with accel.config(keep_texts=True):
        call = accel.compile(ratios)
        assert_same(ratios, call, x, np.ones(4), b, times=4)
        assert facts(call)["compiled"] > 0
        with np.errstate(all="ignore"):
            assert "decides<" in accel.explain(call)(x, np.ones(4), b).source


# --- extremes of square roots -------------------------------------------------------------------------------------------


def nearest_station(lat, lon, at_lat, at_lon):
    return np.argmin(np.sqrt((lat - at_lat) ** 2 + (lon - at_lon) ** 2))


def farthest_points(points, count):
    chosen = np.zeros(count, dtype=int)
    near = np.full(len(points), np.inf)
    for k in range(1, count):
        near = np.minimum(near, ((points - points[chosen[k - 1]]) ** 2).sum(axis=1))
        chosen[k] = np.argmax(np.sqrt(near))
    return chosen


def loudest_band(power):
    return np.sqrt(power).argmax(axis=1)


def nearest_atom(grid, atoms):
    gap = grid[:, None, :] - atoms[None, :, :]
    return np.sqrt((gap**2).sum(axis=-1)).argmin(axis=0)


def test_extremes_of_roots():
    rng = np.random.default_rng(2)
    spots = np.round(rng.random((2, 500)), 2)  # with ties
    check_emitted("RootOrder<f64, true>", nearest_station, *spots, 0.5, 0.25)
    check_emitted("RootOrder<f64, false>", farthest_points, rng.random((200, 3)), 12)
    bands = np.nextafter(np.float32(0.5), rng.choice(np.array([0, 1], dtype="f"), (40, 30)))
    check_emitted("RootOrder<f32, false>", loudest_band, bands)
    check_emitted("RootOrder<f64, true>", nearest_atom, rng.random((60, 3)), rng.random((20, 3)))


# --- moduli that are only compared --------------------------------------------------------------------------------------


def julia_set(z, c, steps):
    z = z.copy()
    for _ in range(steps):
        live = np.abs(z) <= 2.0
        z[live] = z[live] ** 2 + c
    return z


def last_steps(z, c, steps):
    last = np.zeros(z.shape, dtype=np.int16)
    z = z.copy()
    for k in range(steps):
        live = np.abs(z) <= 2.0
        last[live] = k
        z[live] = z[live] * z[live] + c
    return last


def tricorn(z, c, steps):
    z = z.copy()
    for _ in range(steps):
        live = abs(z) < 3
        z[live] = np.conj(z[live]) ** 2 + c
    return z


def cubes(z, c, steps):
    z = z.copy()
    for _ in range(steps):
        live = ~(np.abs(z) > 4.0)
        z[live] = z[live] * z[live] * z[live] + c
    return z


def newton_for_cube_roots(z, steps, tolerance):
    z = z.copy()
    for _ in range(steps):
        f = z**3 - 1
        far = np.abs(f) > tolerance
        z[far] = z[far] - f[far] / (3 * z[far] ** 2)
    return z


def clean(visibilities, model, limit):
    bright = np.abs(visibilities) >= limit
    visibilities[bright] -= model[bright] * 0.1


def lift(spectrum, bias, floor):
    quiet = np.abs(spectrum) < floor
    spectrum[quiet] += 0.5 * bias[quiet]


def complex_plane():
    rng = np.random.default_rng(3)
    plane = rng.uniform(-2, 2, (20, 30)) + 1j * rng.uniform(-2, 2, (20, 30))
    plane[0, :4] = [2, 2j, -2, 1.2 + 1.6j]
    return plane


@pytest.mark.parametrize("dtype", ["complex128", "complex64"])
@pytest.mark.parametrize("program", [julia_set, last_steps, tricorn, cubes])
def test_squares_tell_which_lanes_go_on(program, dtype):
    plane = complex_plane().astype(dtype)
    plane[1, :4] = [np.inf, np.nan, 0, 1e30]
    with np.errstate(all="ignore"):
        check_emitted(r"V limit\d+;", program, plane, plane.dtype.type(0.3 + 0.1j), 12)


def test_squares_tell_which_strips_are_selected():
    plane, limits = complex_plane(), r"limits\d+ = square_limits\("
    check_emitted(limits, newton_for_cube_roots, plane, 8, 1e-3)
    for dtype in ("complex128", "complex64"):
        check_emitted(limits, clean, plane.astype(dtype), plane[::-1].astype(dtype), 2.0)
        check_emitted(limits, lift, plane.astype(dtype), plane.T.reshape(plane.shape).astype(dtype), 2.0)


# --- products of vectors ------------------------------------------------------------------------------------------------


def forward_substitution(lower, right):
    for i in range(len(lower)):
        for j in range(right.shape[1]):
            right[i, j] = (right[i, j] - lower[i, :i] @ right[:i, j]) / lower[i, i]


def beam_power(weights, antennas):
    power = np.empty(antennas.shape[1])
    for t in range(antennas.shape[1]):
        power[t] = np.dot(weights, antennas[:, t]) ** 2
    return power


def rectified_layer(x, weights, out):
    for i in range(len(x)):
        for j in range(weights.shape[1]):
            out[i, j] = max(x[i] @ weights[:, j], 0.0)


def test_products_of_a_row_with_columns():
    rng = np.random.default_rng(4)
    panel = r"dot<\d+, (true|false), \d+>\("
    check_emitted(panel, forward_substitution, np.tril(rng.random((40, 40))) + 3 * np.eye(40), rng.random((40, 50)))
    check_emitted(panel, beam_power, rng.random(33), rng.random((33, 100)))
    check_emitted(panel, rectified_layer, rng.random((20, 30)) - 0.5, rng.random((30, 40)) - 0.5, np.zeros((20, 40)))


def echo_state(weights, state, steps):
    for _ in range(steps):
        state = np.tanh(0.01 * (weights @ state))
    return state


def richardson(matrix, right, steps):
    x = np.zeros_like(right)
    for _ in range(steps):
        x = x + 0.5 * (right - matrix @ x)
    return x


def power_method(matrix, v, steps):
    for _ in range(steps):
        v = matrix @ v
        v = v / np.sqrt((v * v).sum())
    return v


def test_rows_of_a_matrix_by_a_vector():
    rng = np.random.default_rng(5)
    matrix, vector = rng.random((300, 300)), rng.random(300)
    check_emitted("multiply_rows<f64>", echo_state, matrix, vector, 5)
    check_emitted("multiply_rows<f64>", richardson, matrix / 300, vector, 5)
    check_emitted("multiply_rows<f32>", power_method, matrix.astype("f"), vector.astype("f"), 5)
