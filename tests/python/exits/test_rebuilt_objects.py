"""Objects that the captured code has made and that are alive where it is left: partials, views of dicts, converters."""

import functools

import numpy as np
import pytest
from support.differential import check, check_at_exits, check_cases, sample

import accel


def partial_of_positions(x, n):
    total = functools.partial(np.clip, x, 0.25)
    y = x.copy()
    for i in range(n):
        y[i] += 1
    return total(0.75) + y, total


def views_of_dicts(x, n):
    d = {"x": x, "n": n}
    items, keys, values = d.items(), d.keys(), d.values()
    y = x.copy()
    for i in range(n):
        y[i] += 1
    d["y"] = y
    return [name for name, _ in items], len(keys), list(keys), len(values)


def sampled(x, n):
    return np.linspace(x[0], x[1], int(x[2])), np.linspace(x[0], [1.0, 2.0], int(x[2]) + n, endpoint=False)


@pytest.mark.parametrize("function", [views_of_dicts, sampled], ids=lambda f: f.__name__)
def test_whole(function):
    x = sample(5)
    x[2] = 7.0
    check_cases(function, [(x.copy(), 3), (x.copy(), 5)], lambda f, case: True)
    check_at_exits(function, x, 4)


def test_partials():
    call = accel.compile(partial_of_positions)
    expected, kept = partial_of_positions(sample(5), 3)
    for _ in range(2):
        found, total = call(sample(5), 3)
        assert np.array_equal(found, expected)
        assert (total.func, len(total.args), total.keywords) == (kept.func, 2, {})
        assert np.array_equal(total(0.5), kept(0.5))
    assert accel.explain(call)(sample(5), 3).compiled


def test_a_partial_with_keywords_is_left_to_the_interpreter():
    def bounded(x):
        return functools.partial(np.clip, x, a_min=0.5)

    found = accel.compile(bounded)(sample(4))
    assert found.keywords == {"a_min": 0.5}


def escape(width, height, steps, bound):
    x = np.linspace(-2.0, 1.0, int(width))
    y = np.linspace(-1.0, 1.0, int(height))
    c = x + 1j * y[:, None]
    z = np.zeros(c.shape, np.complex128)
    count = np.zeros(c.shape, dtype=np.int64)
    for k in range(steps):
        inside = np.abs(z) < bound
        count[inside] = k
        z[inside] = z[inside] ** 2 + c[inside]
    return z, count


def test_masks_are_not_gathered_for_exits_that_are_not_there():
    """What is asked of a frame, whether it could be rebuilt, adds nothing to the loop: it runs tile by tile."""
    call = check(escape, 30.0, 20.0, 40, 4.0)
    notes = accel.explain(call)(31.0, 19.0, 40, 4.0).schedule_notes
    assert any("runs tile by tile" in note for note in notes), notes
