"""Reshapes of arrays whose sizes are known at run time only: now a view, now a copy."""

import numpy as np
from support.compiled import facts
from support.differential import check_at_exits
from support.outcome import assert_same

import accel


def butterflies(y, size, radix, steps):
    for i in range(steps):
        parts = np.reshape(y, (radix**i, radix, radix ** (steps - i - 1)))
        turned = np.transpose(parts, axes=(1, 0, 2))
        y = np.reshape(turned, (size,)) * np.reshape(turned, (size,)) - 0.5
    return y


def kept(x, size, radix, steps):
    rows = x[: radix**steps].reshape(radix ** (steps - 1), radix)
    return rows.T.reshape(-1), rows


def test_a_version_for_both():
    call = accel.compile(butterflies)
    for _ in range(3):
        assert_same(butterflies, call, np.arange(16.0), 16, 2, 4)
        assert_same(butterflies, call, np.linspace(1, 2, 27), 27, 3, 3)
    before = facts(call)
    assert_same(butterflies, call, np.arange(16.0), 16, 2, 4)
    found = facts(call)
    assert found["compiled"] > before["compiled"]
    assert (found["side_exits"], found["interpreted"]) == (before["side_exits"], 0), found


def test_exits_make_what_numpy_makes():
    check_at_exits(kept, np.arange(16.0), 16, 2, 4)


def test_results():
    call = accel.compile(kept)
    for radix, steps in ((2, 4), (2, 1), (2, 3), (2, 1), (1, 3), (3, 2)):
        assert_same(kept, call, np.arange(16.0), 16, radix, steps)
    assert facts(call)["compiled"] > 0


def with_new_axes(x, m):
    y = x[:, :, m]
    return np.expand_dims(y, (1, 3)) + 1, y.reshape(2, 1, 3, -1) * 2, y.reshape(-1, 1, y.shape[2]) + 1


def test_results_lie_as_views_do():
    call = accel.compile(with_new_axes)
    x = np.arange(18.0).reshape(2, 3, 3)
    for m in ([False, True, True], [True] * 3, [False, True, False], [False, True, True], [True, False, True]):
        assert_same(with_new_axes, call, x, np.array(m), times=2)
    assert facts(call)["compiled"] > 0
