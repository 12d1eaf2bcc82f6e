"""Steps of the schedule on programs of several fields (docs/developer/peepholes.md): that they run, and NumPy's bits."""

import copy
import re

import numpy as np
import pytest
from support.differential import check
from support.outcome import assert_same

import accel


def check_scheduled(note, function, *arguments):
    """Compiled as a whole, with NumPy's results; `note` is in one of the schedule's notes."""
    with accel.config(keep_texts=True):
        call = check(function, *arguments)
        found = accel.explain(call)(*arguments)
    assert any(note in each for each in found.schedule_notes), f"{function.__name__}: {found.schedule_notes}"
    return found


# --- loops that run tile by tile ----------------------------------------------------------------------------------------


def springs(x, v, steps, dt):
    for _ in range(steps):
        v = v - dt * x
        x = x + dt * v
    return x, v


def logistic_map(r, steps):
    x = np.full(r.shape, 0.5)
    for _ in range(steps):
        x = (3 + r) * x * (1 - x)
    return x


def decay_chain(a, steps):
    b = np.zeros_like(a)
    c = np.zeros_like(a)
    for _ in range(1, steps + 1):
        c = c + b * np.float32(0.1)
        b = b + a * np.float32(0.2) - b * np.float32(0.1)
        a = a * np.float32(0.8)
    return a, b, c


def horner_from_the_top(x, degree):
    y = np.zeros(x.shape)
    for k in range(degree, 0, -1):
        y = y * x + k
    return y


def arctangent(x, last):
    total = x.copy()
    power = x.copy()
    for k in range(3, last, 2):
        power = -power * x * x
        total = total + power / k
    return total


def exponential_integral(x, terms):
    total = np.zeros_like(x)
    for k in range(terms - 1, -5, -3):
        total = (total + 1) * x / (k + 7)
    return total


def clenshaw(x, coefficients):
    a = np.zeros(x.shape)
    b = np.zeros(x.shape)
    for c in coefficients:
        a, b = c + 2 * x * a - b, a
    return a


def bank_of_filters(signal, gains, decays):
    state = np.zeros(signal.shape)
    out = np.zeros(signal.shape)
    for gain, decay in zip(gains, decays):
        state = state * decay + signal
        out = out + gain * state
    return out


def polynomial(x, table, row):
    y = np.zeros(x.shape)
    for k in range(table.shape[1] - 1, -1, -1):
        y = y * x + table[row, k]
    return y


def rounds_of_noise(x, steps, seeds):
    for k in range(steps):
        x = x * 1.5 + seeds[0] * k
    return x


SIZES = [0, 1, 63, 200]


def test_states_run_tile_by_tile():
    rng = np.random.default_rng(1)
    for n in SIZES:
        x, v = rng.random((2, n))
        check_scheduled("runs tile by tile", springs, x, v, 30, 0.01)
        check_scheduled("runs tile by tile", decay_chain, x.astype("f"), 20)
    check_scheduled("runs tile by tile", logistic_map, rng.random((20, 30)), 25)


@pytest.mark.parametrize("program", [horner_from_the_top, arctangent, exponential_integral])
def test_loops_that_count_in_other_ways_run_tile_by_tile(program):
    rng = np.random.default_rng(2)
    for n in SIZES:
        for count in (30, 31, 7, 1, 0, -3):
            check_scheduled("runs tile by tile", program, rng.random(n), count)


@pytest.mark.parametrize("n", SIZES)
def test_loops_over_coefficients_run_tile_by_tile(n):
    rng = np.random.default_rng(3)
    x = rng.random(n) - 0.5
    for count in (0, 1, 12):
        table = rng.random((5, count))
        check_scheduled("runs tile by tile", clenshaw, x, table[0])
        check_scheduled("runs tile by tile", clenshaw, x, np.asfortranarray(table)[1])
        check_scheduled("runs tile by tile", bank_of_filters, x.astype("f"), table[0].astype("f"), table[1].astype("f"))
        check_scheduled("runs tile by tile", polynomial, x, table, 3)
    check_scheduled("runs tile by tile", rounds_of_noise, x, 9, np.array([0.25, 1]))


def test_warnings_of_loops_over_coefficients():
    def continued(x, terms):
        y = np.ones(x.shape)
        for t in terms:
            y = t / (y + x)
        return y

    x, terms = np.array([1.0, -1, 0, 3]), np.array([0.0, 1, 0, np.inf, 2])
    with np.errstate(all="ignore"):
        check_scheduled("runs tile by tile", continued, x, terms)
    assert_same(continued, accel.compile(continued), x, terms)


def changes_its_own_element(x, steps):
    for k in range(steps):
        x[:] = x * 0.5 + x[k]


def changes_through_a_view(x, steps):
    y = x[::-1]
    for k in range(steps):
        x *= 0.5
        x += y[k]


def test_coefficients_that_the_loop_changes():
    for program in (changes_its_own_element, changes_through_a_view):
        check(program, np.arange(1.0, 100), 20)


# --- events before stores -----------------------------------------------------------------------------------------------


def limit_field(field, most):
    over = np.abs(field) > most
    field[over] = field[over] * 0.5


def cap_speed(u, v):
    fast = u * u + v * v > 9.0
    u[fast] = u[fast] * 0.9
    v[fast] = v[fast] * 0.9


def mute(x, limit):
    x[np.sqrt(x) > limit] = 0


def bounce(x, v, hits):
    out = x + v > 5.0
    hits[out] += 1
    v[out] = -v[out]


def test_events_come_before_stores():
    rng = np.random.default_rng(4)
    x, v = rng.uniform(0, 4, (2, 300))
    x[5], v[7], x[9] = np.inf, np.nan, 1e200
    programs = [
        (limit_field, (x + 1j * v).reshape(20, 15), 3.0),
        (cap_speed, x, v),
        (mute, x.astype("f") - 1, np.float32(1.5)),
        (bounce, x, v, rng.integers(0, 9, 300)),
    ]
    for program, *arguments in programs:
        with np.errstate(all="ignore"):
            check_scheduled("events come first", program, *copy.deepcopy(arguments))
        assert_same(program, accel.compile(program), *arguments)


# --- planes -------------------------------------------------------------------------------------------------------------


def tint(gray, gain, offset):
    rgb = np.empty((*gray.shape, 3), dtype=np.float32)
    for c in range(3):
        rgb[..., c] = gray * gain[c] + offset[c]
    return rgb


def distances_to_centres(x, centres):
    far = np.zeros((len(x), len(centres)))
    for j in range(len(centres)):
        far[:, j] = np.abs(x - centres[j])
    return far


def bit_planes(image):
    bits = np.zeros((*image.shape, 8), dtype=np.uint8)
    for b in range(8):
        bits[:, :, b] = (image >> b) & 1
    return bits


def test_planes_are_filled_tile_by_tile():
    rng = np.random.default_rng(5)
    gain, offset = rng.random((2, 3)).astype("f")
    check_scheduled("fills planes tile by tile", tint, rng.random((40, 50)).astype("f"), gain, offset)
    check_scheduled("fills planes tile by tile", distances_to_centres, rng.random(700), rng.random(5))
    check_scheduled("fills planes tile by tile", bit_planes, rng.integers(0, 255, (30, 41)).astype(np.uint8))


# --- rows of several shapes ---------------------------------------------------------------------------------------------


def pressure_gradient(u, v, p):
    u[1:-1] -= 0.1 * (p[1:] - p[:-1])
    v[:, 1:-1] -= 0.1 * (p[:, 1:] - p[:, :-1])


def shallow_water(h, u, v):
    u[:, 1:] -= np.float32(0.2) * (h[:, 1:] - h[:, :-1])
    v[1:, :] -= np.float32(0.2) * (h[1:, :] - h[:-1, :])
    h[:-1, :-1] -= np.float32(0.1) * (u[:-1, 1:] - u[:-1, :-1] + v[1:, :-1] - v[:-1, :-1])


def edges_of_an_image(image, down, across):
    down[:] = image[1:] - image[:-1]
    across[:] = image[:, 1:] - image[:, :-1]


def test_rows_of_several_shapes():
    rng = np.random.default_rng(6)
    programs = [
        (pressure_gradient, rng.random((201, 200)), rng.random((200, 201)), rng.random((200, 200))),
        (shallow_water, *rng.random((3, 150, 170)).astype("f")),
        (edges_of_an_image, rng.random((180, 200)), np.zeros((179, 200)), np.zeros((180, 199))),
    ]
    for program, *arguments in programs:
        found = check_scheduled("stored row by row", program, *arguments)
        assert any("rows of several shapes" in step["text"] for step in found.steps)


# --- copies of what is reshaped -----------------------------------------------------------------------------------------


def tiles_in_a_line(image):
    h, w = image.shape
    return image.reshape(h // 8, 8, w // 8, 8).swapaxes(1, 2).ravel()


def colour_by_colour(image):
    return np.moveaxis(image, -1, 0).ravel()


def heads_side_by_side(x):
    return x.transpose(0, 2, 1).ravel()


def test_copies_of_what_is_reshaped():
    rng = np.random.default_rng(7)
    for program, x in (
        (tiles_in_a_line, rng.integers(0, 255, (32, 48)).astype(np.uint8)),
        (colour_by_colour, rng.random((30, 50, 3))),
        (heads_side_by_side, rng.random((20, 12, 50)).astype("f")),
    ):
        found = check_scheduled("is stored", program, x)
        assert re.search(r"(%\d+) = reshape.*\n *%\d+ = copy\(\1\)", found.graph), found.graph
        indices = re.findall(r"(?:load|store) \w+ \w+\[(.*)\]", found.program)
        assert indices and not any(re.search(r"i\d[^()]*\)* (//|%)", index) for index in indices), found.program
