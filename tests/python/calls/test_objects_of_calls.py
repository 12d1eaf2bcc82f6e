"""Objects that calls of unknown code change, and loops that only such calls end: NumPy's results at each call."""

import functools

import numpy as np
import pytest
from support.outcome import assert_same

import accel

A = np.array([1.0, 2.0, 3.0])


def fill(ks):
    while len(ks) < 3:
        ks.append(1)


def strip(ks, a):
    while ks and ks[-1] == 2:
        ks.pop()
    return a * 2


def drain(d, a):
    b = np.sort(np.sin(a))
    while d:
        d.popitem()
    return b


def until_it_raises(ks, a):
    try:
        while True:
            ks.pop()
    except IndexError:
        return a + 1


@pytest.mark.parametrize(
    ("function", "cases"),
    [
        (fill, [([],), ([1],), ([1, 2, 3, 4],)]),
        (strip, [([1, 2, 2], A), ([2], A), ([], A), ([1], A)]),
        (drain, [({"a": 1, "b": 2}, A), ({}, A)]),
        (until_it_raises, [([1, 2], A), ([], A)]),
    ],
)
@pytest.mark.parametrize("backend", ["native", "numpy"])
def test_loops_that_calls_end(function, cases, backend):
    for first in range(len(cases)):
        call = accel.compile(function, backend=backend)
        for case in cases[first:] + cases[:first]:
            assert_same(function, call, *case, times=2)


def new_key(d, a):
    d["loss"] = a.mean()
    seen = []
    for k, v in d.items():
        seen.append(k)
        hash(k)
    return len(d), seen


def iterator_over_new_key(d, a):
    d["n"] = a[0]
    return [k for k in iter(d)], a * 2


def returned_iterator(d, a):
    d["n"] = a[0]
    return zip(d, a)


def begun_iterator(d, ks, a):
    d[ks[0]] = a[0]
    d[ks[1]] = a[1]
    z = iter(d)
    y = next(z)
    eval("0")
    return y, list(z)


def old_keys(d, a):
    for k in d:
        d[k] = d[k] * 2
        hash(k)
    return a * 2


def test_iterators_over_dicts_with_new_keys():
    for function in (new_key, iterator_over_new_key, old_keys):
        for data in ({}, {"a": 1.0}, {"a": 1.0, "loss": 2.0, "n": 5.0}):
            assert_same(function, accel.compile(function), dict(data), A, times=3)
    call = accel.compile(returned_iterator)
    for _ in range(3):
        assert list(call({"a": 1.0}, A)) == [("a", 1.0), ("n", 2.0)]
    assert_same(begun_iterator, accel.compile(begun_iterator), {}, ["u", "v"], A, times=3)


def produce(a):
    hash("a")
    yield a[0]
    yield a[1]
    yield a[2]


def stepped(a):
    g = produce(a)
    x = next(g)
    return x, next(g), list(g)


def twice(a):
    g = produce(a)
    return sum(1 for _ in g), sum(1 for _ in g), a * 2


def flat_steps(a):
    it = a.flat
    x = next(it)
    return x, next(it), [*it]


def in_a_loop(a):
    g = produce(a)
    total = 0.0
    for _ in range(3):
        total = total * 10 + next(g)
    return total


def plain(a):
    yield a[0]
    yield a[1]


def advance(iterator):
    eval("0")
    return next(iterator)


def inlined_in_a_loop(a):
    g = plain(a)
    out = []
    for _ in range(2):
        out.append(advance(g))
    return out


@pytest.mark.parametrize("function", [stepped, twice, flat_steps, in_a_loop, inlined_in_a_loop])
def test_generators_and_flat_go_on(function):
    assert_same(function, accel.compile(function), A, times=4)


def counted(x):
    eval("0")
    x.count = getattr(x, "count", 0) + 1
    return x.count


def of_a_partial(a):
    p = functools.partial(max, a[0])
    n = 0
    for _ in range(3):
        n += counted(p)
    return n


def test_attributes_of_partials_stay():
    assert_same(of_a_partial, accel.compile(of_a_partial), A, times=3)
