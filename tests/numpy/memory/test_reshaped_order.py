"""Reshapes that keep the order of the axes in memory, where only later it turns out that the extents are the same."""

import numpy as np
import pytest
from support.compiled import facts
from support.outcome import assert_same

import accel


def by_another_length(a, m):
    r = m.T.reshape(a.shape[0], a.shape[0])
    return r + a, r.ravel("K"), r.sum(axis=0), m + a


def by_a_step(a, m):
    n = len(a)
    m += a
    r = m.reshape(n, n)
    return r * 2, r.ravel("K"), r.sum(axis=0), m.reshape(-1)[::n]


def by_a_tuple(sizes, m):
    p, q = sizes
    r = m.reshape(p, q)
    return r * 2, r.sum(axis=0), r.cumsum(axis=1), np.full_like(r, 1), r.copy("K"), np.concatenate([r, r])


def merged(a, x):
    r = x.reshape(a.shape[0] * a.shape[1], x.shape[2])
    return r * 2, r.sum(axis=0), r.ravel("K"), a.ravel() + r.sum(axis=1)


def check_orders(function, cases):
    call = accel.compile(function)
    for case in cases:
        assert_same(function, call, *case, times=2, share=False)
    assert facts(call)["compiled"] > 0


rng = np.random.default_rng(3)


@pytest.mark.thorough
def test_squares():
    for function in (by_another_length, by_a_step):
        for n in (9, 1, 0 if function is by_another_length else 2):
            a, m = rng.standard_normal(n), rng.standard_normal((n, n))
            check_orders(function, [(a, m), (a, np.asfortranarray(m)), (a, m[::-1]), (a, m.T)])


def test_extents_from_tuples():
    for shape in ((9, 5), (5, 9), (3, 3)):
        m = rng.standard_normal(shape)
        check_orders(by_a_tuple, [(shape, np.asfortranarray(m)), (shape, m), (shape[::-1], np.asfortranarray(m))])


def test_groups_of_axes():
    x = rng.standard_normal((3, 4, 5))
    a = rng.standard_normal((3, 4))
    layouts = [x, np.asfortranarray(x), np.ascontiguousarray(x.transpose(2, 0, 1)).transpose(1, 2, 0)]
    check_orders(merged, [(a, each) for each in layouts])
