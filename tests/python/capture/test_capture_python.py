"""Python around the arrays is captured away: the calls below are compiled as a whole."""

import functools
import math
import operator

import numpy as np
import pytest
from support.compiled import assert_all_compiled, compile_count
from support.differential import check, sample
from support.outcome import assert_same

import accel

X = sample((4, 3))
Y = sample((4, 3), seed=1)


# --- calls ----------------------------------------------------------------------------------------------------------


def scaled(x, factor=2.0, *, shift=1.0):
    return x * factor + shift


def variadic(first, *rest, **named):
    total = first
    for each in rest:
        total = total + each
    return total * named.get("scale", 1.0) + len(named)


CALLS = {
    "defaults": lambda x: scaled(x),
    "keywords": lambda x: scaled(x, shift=3.0, factor=0.5),
    "star arguments": lambda x: scaled(*(x, 4.0)),
    "star keywords": lambda x: scaled(x, **{"shift": 2.0}),
    "variadic": lambda x: variadic(x, x, x, scale=2.0, other=1),
    "lambda": lambda x: (lambda a, b=x: a - b * 0.5)(x * 2),
    "partial": lambda x: functools.partial(scaled, factor=3.0)(x, shift=0.0),
    "map of functions": lambda x: [f(x) for f in (np.sin, np.cos, scaled)],
    "nested calls": lambda x: scaled(scaled(scaled(x))),
    "compiled callee": lambda x: compiled_callee(x) + 1.0,
    "recursion to a constant depth": lambda x: power_of(x, 3),
}


@accel.compile
def compiled_callee(x):
    return x * x


def power_of(x, n):
    return x if n == 1 else x * power_of(x, n - 1)


@pytest.mark.parametrize("name", CALLS)
def test_calls(name):
    check(CALLS[name], X)


def test_closures():
    factor = 3.0
    weights = sample((3,))

    def outer(x):
        y = x * factor

        def inner(z):
            return z + y * weights

        return inner(x)

    check(outer, X)


def test_a_cell_written_by_the_function():
    def count(x):
        total = 0

        def add(k):
            nonlocal total
            total = total + k * x

        for k in range(3):
            add(k)
        return total

    check(count, X)


def test_a_closure_that_changes():
    factor = 2.0

    def scale(x):
        return x * factor

    call = accel.compile(scale)
    assert_same(scale, call, X)
    factor = 5.0
    assert_same(scale, call, X)
    factor = np.float32(0.5)
    assert_same(scale, call, X)


GLOBAL_FACTOR = 2.0


def by_global(x):
    return x * GLOBAL_FACTOR


def test_a_global_that_changes():
    global GLOBAL_FACTOR
    call = accel.compile(by_global)
    for GLOBAL_FACTOR in (2.0, 3, np.float32(1.5), sample((3,)), 2.0):
        assert_same(by_global, call, X, times=2)


def helper_a(x):
    return x + 1.0


def helper_b(x):
    return x - 1.0


def through_helper(x):
    return helper(x) * 2.0


helper = helper_a


def test_a_callee_that_is_replaced():
    global helper
    call = accel.compile(through_helper)
    for helper in (helper_a, helper_b, helper_a):
        assert_same(through_helper, call, X, times=2)


def test_a_callee_whose_code_or_defaults_are_replaced():
    def callee(x, k=2.0):
        return x * k

    def caller(x):
        return callee(x)

    call = accel.compile(caller)
    assert_same(caller, call, X)
    callee.__defaults__ = (3.0,)
    assert_same(caller, call, X)
    callee.__code__ = (lambda x, k=2.0: x - k).__code__
    assert_same(caller, call, X)


# --- control --------------------------------------------------------------------------------------------------------


def branches(x, mode, n, flag):
    if mode == "double":
        x = x * 2
    elif mode is None:
        x = x + 1
    else:
        x = -x
    if n > 2 and flag:
        x = x + n
    return x if not flag else x * n


def test_branches_on_arguments():
    call = accel.compile(branches)
    for arguments in [("double", 3, True), (None, 3, True), ("other", 1, False), ("double", 5, True), ("double", 0, False)]:
        assert_same(branches, call, X, *arguments, times=2)
    assert_all_compiled(call)


def test_branches_on_shapes():
    def by_shape(x):
        if x.shape[0] > x.shape[1]:
            return x.sum(axis=0)
        if x.ndim == 2 and len(x) == 3:
            return x * 2
        return x - 1

    call = accel.compile(by_shape)
    for shape in [(4, 3), (5, 3), (3, 5), (2, 5), (7, 2), (3, 3)]:
        assert_same(by_shape, call, sample(shape), times=2)
    assert_all_compiled(call)


def test_branches_on_computed_numbers():
    def by_number(x, eps):
        if eps * 2 > 1:
            return x * eps
        return x / eps

    call = accel.compile(by_number)
    for eps in (0.7, 0.2, 1, 3.0):
        assert_same(by_number, call, X, eps, times=2)


def loops(x):
    total = np.zeros_like(x)
    for i in range(4):
        if i == 1:
            continue
        if i == 3:
            break
        total = total + x * i
    else:
        total = total - 1
    k = 0
    while k < 3:
        total = total * 0.5
        k += 1
    for i, (a, b) in enumerate(zip((1, 2), [x, total], strict=False), start=5):
        total = total + a * b * i
    return total


def test_loops():
    check(loops, X)


def handlers(x):
    try:
        y = x * 2
    except ValueError:
        y = x
    else:
        y = y + 1
    finally:
        z = y - x
    return z


def test_try_without_an_exception():
    check(handlers, X)


NUMBERS = {
    "int arithmetic": lambda x, n: x * (n + 1) - (n * n - 3) // 2 + n % 3 + (-n) + abs(n - 10),
    "shapes": lambda x, n: (x.shape[0] * x.shape[1], x.size, x.shape[0] // 2, -x.shape[1], len(x) + n, x * x.shape[0]),
    "min and max": lambda x, n: x * max(n, 2, x.shape[0]) + min(n, x.shape[1]),
    "divmod and pow": lambda x, n: (divmod(17, 5), pow(2, 5), x * n**2, divmod(n, 3)),
    "float": lambda x, n: x * float(n) + float(x.shape[0]) / 2,
    "math": lambda x, n: x * math.sqrt(2.0) + math.pi - math.floor(2.5),
    "constants": lambda x, n: x * (1 << 3) + round(2.567, 1) + int("12") + sum([1, 2, n]) + operator.index(n),
    "conversions": lambda x, n: (bool(n), int(n), complex(2), str(12), type(n), isinstance(n, int), x + 1),
    "string methods": lambda x, n: {"a,b".split(",")[0]: x * len("abc".upper()), f"{2:>3}": n},
    "attributes": lambda x, n: x * getattr(np, "pi") + (1 if hasattr(x, "shape") and not hasattr(x, "nothing") else 0),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers(name):
    function = NUMBERS[name]
    call = accel.compile(function)
    for n in (7, 0, -3, 12):
        assert_same(function, call, X, n, times=2)
    assert_all_compiled(call, X, 7)


def test_a_large_int_does_not_wrap():
    def square(x, n):
        return x * 0 + 1, n * n * n

    call = accel.compile(square)
    for n in (3, 2**20, 2**31, 2**40, 2**62, 2**70, -(2**63)):
        assert_same(square, call, X, n, times=2)


def test_one_version_serves_all_ints():
    call = accel.compile(lambda x, n: x * n + (n - 1) // 2)
    for n in range(2, 40):
        call(X, n)
    assert compile_count(call) == 1


def test_one_version_serves_all_sizes():
    def normalise(x, w):
        return (x - x.mean(axis=0)) / x.shape[0] + w

    call = accel.compile(normalise)
    for rows in range(2, 30):
        assert_same(normalise, call, sample((rows, 3)), sample((3,)), times=1)
    assert compile_count(call) == 1


# --- aliasing -------------------------------------------------------------------------------------------------------


def test_views_of_arguments_and_results():
    def views(x):
        y = x * 2
        return x[1:], x.T, x[None], y, y[::2], y.T[0], x[::-1, 1]

    check(views, X)


def test_equal_arguments_are_told_apart():
    def both(x, y):
        return x is y, (x, y), x + y

    call = accel.compile(both)
    assert_same(both, call, X, Y, share=True)
    assert_same(both, call, X, X, share=True)


# --- stores into arrays that the function made ----------------------------------------------------------------------


def replace_all(x, y):
    out = np.empty_like(x)
    out[...] = y
    out[:] = out * 2
    out[:, :] += 1
    return out


def under_a_mask(x, y):
    out = x * y
    out[out < 0] = 0.0
    out[out > 3] = np.float32(3)
    return out, out < 1


def through_the_view(x, y):
    out = x + y
    view = out.T
    out[...] = 5
    return view * 2, view, out


def into_integers(x, y):
    out = np.zeros(x.shape, np.int32)
    out[...] = x
    out[y > 0] = 7
    return out


@pytest.mark.parametrize("function", [replace_all, under_a_mask, through_the_view, into_integers], ids=lambda f: f.__name__)
def test_stores(function):
    check(function, X, Y)


def test_numbers_that_depend_on_sizes():
    def scores(q, k):
        return q @ k.T / math.sqrt(q.shape[-1]) * round(q.shape[0]) + math.floor(len(k))

    call = accel.compile(scores)
    for size in (2, 3, 5, 8):
        assert_same(scores, call, sample((4, size)), sample((6, size)), times=1)
    assert compile_count(call) == 1


def test_ints_made_of_floats():
    def half(x, n):
        return x * int(n * 0.5) + int(n / 3)

    call = accel.compile(half)
    for n in (3, 4, 10):
        assert_same(half, call, X, n)
    assert_all_compiled(call, X, 10)
