"""Which object a number or tuple is, where paths, iterations of a loop or data choose it: NumPy's answer, from the
interpreter.
"""

import copy
import math
import operator

import numpy as np
import pytest
from support.compiled import facts
from support.outcome import assert_same

import accel

INF = math.inf
START = (math.inf, -1.0)


def carried(a):
    best = INF
    for i in range(len(a)):
        value = float(a[i])
        if value < best:
            best = value
    doubled = a * 2
    return doubled, "none" if best is INF else best


def merged(a, c):
    bound = INF
    if c.sum() > 0:
        bound = float(a.sum())
    return a * 2, bound is INF, bound is not INF


def chosen(a, x, y):
    least, most = min(x, y), max(x, y)
    return a * 2, least is x, least is y, most is x, most is y


def parts(a):
    best = START
    for i in range(len(a)):
        if a[i] < best[0]:
            best = (float(a[i]), float(i))
    return a * 2, best is START


def items(a):
    values = []
    for x in a:
        values.append(float(x) * 2)
    first = values[0]
    return a * 2, first is values[0], first is values[1]


def after_a_check(a, b):
    best = INF
    for i in range(len(a)):
        value = float(a[i])
        if value < best:
            best = value
    try:
        last = b[len(a)]
    except IndexError:
        last = -1.0
    return a * 2, last, best is INF


def in_a_helper(a):
    def is_found(value):
        return value is not INF

    best = INF
    for i in range(len(a)):
        value = float(a[i])
        if value < best:
            best = value
    return a * 2, is_found(best)


ORIGIN = 0.5j


def complex_after_a_check(z, b):
    best = ORIGIN
    for i in range(len(z)):
        value = complex(z[i])
        if value.real > best.real:
            best = value
    try:
        last = b[len(z)]
    except IndexError:
        last = -1.0
    return z * 2, last, best is ORIGIN


NONE, SOME = np.zeros(0), np.array([3.0, 1.0, 2.0])


@pytest.mark.parametrize(
    ("function", "cases"),
    [
        (carried, [(NONE,), (SOME,)]),
        (merged, [(SOME, SOME), (SOME, -SOME)]),
        (chosen, [(SOME, 1.5, 2.5), (SOME, 2.5, 1.5), (SOME, 1.5, 1.5)]),
        (parts, [(NONE,), (SOME,)]),
        (items, [(SOME,)]),
        (after_a_check, [(NONE, SOME), (SOME, SOME), (NONE, NONE)]),
        (in_a_helper, [(NONE,), (SOME,)]),
        (complex_after_a_check, [(NONE + 0j, SOME), (SOME + 1j, SOME), (NONE + 0j, NONE)]),
    ],
)
def test_identity_of_numbers(function, cases):
    for first in range(len(cases)):
        call = accel.compile(function)
        for case in cases[first:] + cases[:first]:
            assert_same(function, call, *case, times=2)
        assert facts(call)["interpreted"] + facts(call)["side_exits"] > 0


def test_a_whole_graph_is_refused_with_the_reason():
    with pytest.raises(accel.UnsupportedError, match="identity of a number"):
        accel.compile(carried, fullgraph=True)(SOME)


def to_none(a):
    best = None
    for i in range(len(a)):
        if best is None or a[i] < best:
            best = float(a[i])
    return a * 2, best, best is None


def test_singletons_are_compiled():
    call = accel.compile(to_none)
    for case in (SOME, NONE, SOME):
        assert_same(to_none, call, case, times=2)
    assert facts(call)["interpreted"] == facts(call)["side_exits"] == 0


def made_of_a_number(x):
    doubled = x * 2
    made = [x.copy(), x.conj(), x.conjugate(), x.reshape(()), x.round(1), np.round(x), +x, x.astype(x.dtype), abs(x)]
    made += [copy.copy(x), x.__copy__(), x.__deepcopy__(None), x]
    return doubled, made


@pytest.mark.parametrize("number", [np.int64(7), np.uint8(7), np.float64(-0.0), np.float32(1.5)])
def test_which_methods_of_numbers_make_another_object(number):
    call = accel.compile(made_of_a_number)
    assert_same(made_of_a_number, call, number, times=2)
    assert [made is number for made in call(number)[1]] == [made is number for made in made_of_a_number(number)[1]]
    assert facts(call)["interpreted"] == 0


def test_copies_of_a_constant_are_other_objects():
    def copies(x):
        eps = np.finfo(float).eps
        return x + eps, eps.copy() is eps, eps.conj() is eps, np.round(eps) is eps, eps is eps

    call = accel.compile(copies)
    assert_same(copies, call, np.ones(3), times=2)
    assert facts(call)["interpreted"] == 0


def test_a_python_int_is_its_own_integer():
    def itself(n):
        return np.exp(2.0), int(n), +n, operator.index(n), max(n, n), round(n, 1), n.real, n.conjugate()

    call, number = accel.compile(itself), 70_000
    for _ in range(3):
        assert all(made is number for made in call(number)[1:])
    assert_same(itself, call, number, times=2)
    assert facts(call)["interpreted"] == 0


def extremes(x, y, z):
    """Each is one of the arguments, or the constant."""
    low, high = min(x, y, 5_000_000), max(x, 2.5, y)
    return np.exp(2.0), min(x, y), max(y, x), low, high, max(min(x, y), 0.5), max(z, z), min([z, z, z]), max(-5_000_000, x)


@pytest.mark.parametrize("kind", [float, int, np.float64, np.int64, np.complex128])
def test_an_extreme_is_one_of_its_candidates(kind):
    call, z = accel.compile(extremes), np.complex64(1 + 2j)
    for first, second in ((70_000, 5), (5, 70_000), (70_000, 70_000), (-1, -2), (0, -0.0), (7_000_000, 9_000_000)):
        x, y = kind(str(first)) if kind is int else kind(first), kind(int(second)) if kind is int else kind(second)
        expected, found = extremes(x, y, z), call(x, y, z)
        assert repr(found) == repr(expected)
        for got, want in zip(found[1:], expected[1:], strict=True):
            assert [got is each for each in (x, y, z)] == [want is each for each in (x, y, z)] or (got is want)
    assert facts(call)["interpreted"] == facts(call)["side_exits"] == 0


def test_what_is_folded_or_summed():
    """An argument by keyword is itself, too; what sum() starts from is not."""

    def itself(n, m, x):
        return np.sqrt(n), round(number=n, ndigits=1), max([], default=n), sum([], m), sum([], start=x), sum((), m) + 1

    call, numbers = accel.compile(itself), (int("70000"), int("80000"), float("1.5"))
    for _ in range(3):
        found, expected = call(*numbers), itself(*numbers)
        assert [[a is b for b in numbers] for a in found] == [[a is b for b in numbers] for a in expected]
    assert facts(call)["interpreted"] == 0


def test_what_a_call_gives_back_is_the_argument_of_this_call():
    """round(n, 1) returns n. The compiled version assumes the value of n, but still returns the object that was passed."""

    def itself(n):
        return np.exp(n), round(n, 1), n.real

    call = accel.compile(itself)
    for text in ("300", "300", "301", "301"):
        number = int(text)
        assert all(made is number for made in call(number)[1:])
    assert facts(call)["interpreted"] == 0


def builtin_after_a_check(a, b):
    """The interpreter may ask whether `any` is the builtin, which is no question about a number."""
    best = INF
    for i in range(len(a)):
        value = float(a[i])
        if value < best:
            best = value
    try:
        last = b[len(a)]
    except IndexError:
        last = -1.0
    return a * 2, last, best, any(x > 2 for x in a), list(x for x in b)


def test_builtins_that_consume_generators_ask_for_no_number():
    call = accel.compile(builtin_after_a_check)
    for case in ((NONE, SOME), (SOME, SOME), (NONE, NONE)):
        assert_same(builtin_after_a_check, call, *case, times=2)
    assert facts(call)["interpreted"] == 0, accel.explain(call)(SOME, SOME)
