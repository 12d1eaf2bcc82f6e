"""Floating-point events of kernels that store into arguments: warnings, errors, and memory afterwards."""

import logging
import sys
import types
import warnings

import numpy as np
import pytest
from support.compiled import assert_all_compiled, facts
from support.covering import pairs
from support.differential import check, check_left_to_numpy
from support.outcome import assert_same, outcome

import accel

SIZES = [3, 200, 5000]  # the last two are above what is kept on the stack


def numbers(n, *special):
    """1 to 2, with `special` values in the middle and at the end."""
    a = np.linspace(1, 2, n)
    for k, value in enumerate(special):
        a[n // 2 + k if k + 1 < len(special) else -1] = value
    return a


def add(a, b):
    a += b


def subtract(a, b):
    a -= b


def multiply(a, b):
    a *= b


def divide(a, b):
    a /= b


def out_add(a, b):
    np.add(a, b, out=a)


def inner(a, b):
    a[1:-1] *= b[1:-1]


def lines(a, b):
    a[
        1:
    ] = (
        a[1:]
        *
        b[1:]
    )  # fmt: skip


def root(a, b):
    np.sqrt(b, out=a)


def square(a, b):
    a **= 2
    b[0] = 3


def reciprocal(a, b):
    np.reciprocal(a, out=a)


def logarithm(a, b):
    np.log(b, out=a)


def exponential(a, b):
    np.exp(a, a)
    return a, b[1:]


def minus_whole(a, n):
    a -= n


def of_integers(a, k):
    a /= k


IN_PLACE = [add, subtract, multiply, divide, out_add, inner, lines, root, square, reciprocal, logarithm, exponential]
VALUES = {
    "plain": ((1.5,), (1.5,)),
    "overflow": ((1e308,), (1e308,)),
    "negative": ((-1e308,), (-1e308,)),
    "infinite": ((np.inf,), (-np.inf,)),
    "zero": ((0.0,), (0.0,)),
    "by zero": ((1.0,), (0.0,)),
    "nan": ((np.nan,), (np.nan,)),
    "several": ((1.0, 0.0, 1e300, np.inf, np.nan), (0.0, 0.0, 1e300, np.inf, 1.0)),
    "small": ((1e-300,), (1e-300,)),
    "denormal": ((5e-324,), (3.0,)),
}


@pytest.mark.parametrize("values", VALUES)
@pytest.mark.parametrize("function", IN_PLACE)
def test_warnings_after_the_run(function, values):
    """Also with every event warned of: the lone operation's flags are NumPy's. The dtypes take turns over the functions."""
    dtype = ("float64", "float32")[IN_PLACE.index(function) % 2]
    call = accel.compile(function)
    for n in SIZES:
        with np.errstate(all="ignore"):
            a, b = (numbers(n, *special[: n - 1]).astype(dtype) for special in VALUES[values])
        for modes in ({}, {"all": "warn"}, {"all": "ignore"}, {"over": "ignore", "divide": "warn", "invalid": "ignore"}):
            with np.errstate(**modes):
                assert outcome(call, (a, b)) == outcome(function, (a, b))
    assert facts(call)["compiled"] > 0


@pytest.mark.parametrize("n", [200, 5000, 300_000])
def test_the_run_stands(n):
    """Nothing is run again: the call counts as compiled although it warns."""
    call = accel.compile(multiply)
    a, b = numbers(n, 1e300), numbers(n, 1e300)
    for _ in range(10):
        assert outcome(call, (a, b)) == outcome(multiply, (a, b))
    found = facts(call)
    assert (found["compiled"], found["interpreted"], found["side_exits"]) == (10, 0, 0)


def test_an_unwarned_function_is_compiled():
    for n in SIZES:
        check(minus_whole, numbers(n), 3)
        check(minus_whole, numbers(n), 2.5)
        check(of_integers, numbers(n), 4)


def memory_and_error(call, a, b):
    a, b = a.copy(), b.copy()
    try:
        call(a, b)
    except Exception as error:
        return a.tobytes(), b.tobytes(), type(error), str(error)
    return a.tobytes(), b.tobytes()


def two_lines(a, b):
    a *= b
    b += 1


def three_lines(a, b):
    b[0] = 7
    a *= b
    a[1:] -= b[:-1]
    b[-1] = 9


def after_a_total(a, b):
    total = (a * b).sum()
    b[:] = a
    return total


@pytest.mark.parametrize("function", [multiply, inner, two_lines, three_lines, after_a_total, square])
@pytest.mark.parametrize("n", SIZES)
def test_errors_leave_what_numpy_leaves(function, n):
    call = accel.compile(function)
    a, b = numbers(n, 1e300), numbers(n, 1e300)
    for _ in range(3):
        with np.errstate(over="raise"):
            assert memory_and_error(call, a, b) == memory_and_error(function, a, b)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert memory_and_error(call, a, b) == memory_and_error(function, a, b)
        with warnings.catch_warnings():
            warnings.filterwarnings("error", message="overflow")
            assert memory_and_error(call, a, b) == memory_and_error(function, a, b)
        assert outcome(call, (a, b)) == outcome(function, (a, b))
    assert memory_and_error(call, a * 1e-200, b * 1e-200) == memory_and_error(function, a * 1e-200, b * 1e-200)


def test_the_users_code_sees_what_numpy_shows():
    """What is called in the middle of a function finds later effects missing."""
    a, b = numbers(500, 1e300), numbers(500, 1e300)
    call = accel.compile(two_lines)
    seen = []
    for function in (two_lines, call, two_lines, call):
        left, right = a.copy(), b.copy()

        def show(message, *_, left=left, right=right):
            seen.append((str(message), left.tobytes(), right.tobytes()))

        with warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.showwarning = show
            function(left, right)
        with np.errstate(over="call", call=lambda kind, flag, show=show: show(kind)):
            function(a.copy(), b.copy())
        seen.append((left.tobytes(), right.tobytes()))
    assert len(seen) == 12 and seen[:3] == seen[3:6] == seen[6:9] == seen[9:]


def registries(function, a, b, actions):
    """What is shown, call by call, and what the module remembers."""
    names = function.__globals__
    names.pop("__warningregistry__", None)
    shown = []
    for action in actions:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter(action)
            for _ in range(2):
                yield_to = accel_or(function)
                yield_to(a.copy(), b.copy())
        shown.append([(str(w.message), w.category, w.filename, w.lineno, w.source) for w in caught])
    found = dict(names.get("__warningregistry__", {}))
    found.pop("version", None)
    names.pop("__warningregistry__", None)
    return shown, found


CALLS = {}


def accel_or(function):
    return CALLS.get(function, function)


@pytest.mark.parametrize("actions", [["default"], ["always", "once", "module"], ["ignore", "default"], ["module"], ["once"]])
def test_filters_and_registry(actions):
    a, b = numbers(500, 1e300, np.inf), numbers(500, 1e300, 0.0)
    expected = registries(multiply, a, b, actions)
    call = accel.compile(multiply)
    call(numbers(500), numbers(500))
    CALLS[multiply] = call
    try:
        assert registries(multiply, a, b, actions) == expected
    finally:
        CALLS.clear()
    assert facts(call)["interpreted"] == 0


def made(name):
    """`multiply` in a module of its own."""
    module = types.ModuleType("made")
    module.__dict__["__name__"] = name
    exec("def f(a, b):\n    a *= b\n", module.__dict__)
    return module


@pytest.mark.parametrize("name", ["made", "other", None, 3])
def test_the_module_that_is_named(name):
    a, b = numbers(500, 1e300), numbers(500, 1e300)

    def shown(call):
        with warnings.catch_warnings(record=True) as caught:
            warnings.resetwarnings()
            warnings.filterwarnings("ignore", module="other")
            warnings.filterwarnings("always", module="made", append=True)
            warnings.filterwarnings("once", append=True)
            call(a.copy(), b.copy())
        return [str(w.message) for w in caught]

    first, second = made(name), made(name)
    call = accel.compile(second.f)
    assert shown(call) == shown(first.f)
    assert list(first.__dict__.get("__warningregistry__", ())) == list(second.__dict__.get("__warningregistry__", ()))


def test_warnings_that_are_logged_or_lost():
    a, b = numbers(500, 1e300), numbers(500, 1e300)
    call = accel.compile(multiply)
    call(a * 0 + 1, b)
    logging.captureWarnings(True)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            assert memory_and_error(call, a, b) == memory_and_error(multiply, a, b)
    finally:
        logging.captureWarnings(False)
    stream, sys.stderr = sys.stderr, None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            assert memory_and_error(call, a, b) == memory_and_error(multiply, a, b)
    finally:
        sys.stderr = stream


def scaled(a, b):
    a *= b


def calls_another(a, b):
    scaled(a, b)


def under_errstate(a, b):
    with np.errstate(over="ignore"):
        a *= b


def after_errstate(a, b):
    with np.errstate(over="ignore"):
        a[0] = 1
    a *= b


def in_a_loop(a, b):
    for _ in range(3):
        a *= b


def masked(a, b):
    a[b > 1.5] *= 1e300


def of_two(a, b):
    a *= b + 1e300


def of_one_element(a, b):
    a[3] *= b[3]


def of_part(a, b):
    a[:] = (a * b)[::-1][:1]


def in_half(a, b):
    if b[0] > 0:
        a *= b
    else:
        a[0] = 4


def of_a_product(a, b):
    a[0] = a @ b


def compared(a, b):
    a[:] = (a < b) * 1.0
    a *= 2


OTHERS = [
    calls_another,
    under_errstate,
    after_errstate,
    in_a_loop,
    masked,
    of_two,
    of_one_element,
    of_part,
    in_half,
    of_a_product,
    compared,
]


@pytest.mark.parametrize(("function", "values", "n"), pairs(OTHERS, list(VALUES), [5, 700]))
def test_other_events(function, values, n):
    call = accel.compile(function)
    a, b = (numbers(n, *special[: n - 1]) for special in VALUES[values])
    for modes in ({}, {"all": "warn"}):
        with np.errstate(**modes):
            assert outcome(call, (a, b)) == outcome(function, (a, b))


VIEWS = [np.s_[::2], np.s_[::-1], np.s_[5:-5], np.s_[:0], np.s_[:1]]


# Elements of 8 bytes, and of 2 or 16 in turns.
@pytest.mark.parametrize(
    ("view", "dtype", "turn"),
    [(view, dtype, k % 2) for k, view in enumerate(VIEWS) for dtype in ("float64", ("float16", "complex128")[k % 2])],
)
def test_memory_that_is_put_back(view, dtype, turn):
    """The two operations of a line are not told apart: what was written is put back, and NumPy runs.

    Views of the first axis and of the last one, with the axes in order and in reverse: two of these four in turns."""

    def update(a, b):
        a *= b
        a -= b

    call = accel.compile(update)
    for shape in ((2000,), (50, 4, 30)):
        a = np.linspace(1, 2, int(np.prod(shape))).reshape(shape).astype(dtype)
        a.flat[-1] = a.flat[0] = np.finfo(dtype).max
        in_order, reverse = (a, a.copy().T)[:: 1 - 2 * turn]
        for memory in (in_order[view], reverse[..., view]) if a.ndim > 1 else (a[view],):
            with np.errstate(over="raise", invalid="raise"):
                assert memory_and_error(call, memory, memory) == memory_and_error(update, memory, memory)
            assert outcome(call, (memory, memory.copy())) == outcome(update, (memory, memory.copy()))


def drop_quotients(a, b, out):
    for i in range(len(a)):
        a[i] / b[i]
        out[i] = a[i] + 1
    return out


def drop_numbers(a, b, out):
    for i in range(len(a)):
        np.sqrt(a[i]), np.exp(a[i] * b[i]), np.float32(a[i]) + np.float32(b[i]), complex(a[i]) * b[i]
        out[i] = a[i] + 1
    return out


@pytest.mark.parametrize("function", [drop_quotients, drop_numbers])
@pytest.mark.parametrize("errors", ["ignore", "warn", "raise"])
def test_events_of_scalars_that_nobody_uses(function, errors):
    cases = [([1.0, 2, 3], [1.0, 2, 3]), ([1.0, 0, 3], [1.0, 0, 3]), ([1.0, -2, 1e300], [0.0, 2, 1e300])]
    cases += [([1.0, 1e39, 3], [1.0, -2e38, 3]), ([5e-324, 1, 2], [0.5, 1, 2])]
    call = accel.compile(function)
    with np.errstate(all=errors):
        for a, b in cases:
            assert_same(function, call, np.array(a), np.array(b), np.zeros(3))
    assert facts(call)["compiled"] > 0


@pytest.mark.parametrize("kind", ["sum", "quotient"])
def test_events_of_numbers_that_only_go_around(kind):
    """Nobody uses what a loop adds up."""

    def added(d):
        u = 0.0
        for i in range(3):
            u += 0.0 * d[i]
        return 1

    def divided(d):
        u = 1.0
        for i in range(3):
            u += d[1] / (i * d[1])
        return 1

    function = {"sum": added, "quotient": divided}[kind]
    check_left_to_numpy(function, np.array([np.inf, 1.0, np.inf]))
    check_left_to_numpy(function, np.array([1.0, 1.0, 2.0]))


def used_on_one_way(x, y):
    t = 0.0
    for i in range(len(x)):
        u = 0.0 * y[i]
        if x[i] > 5:
            t += u
    return t


def returned_on_one_way(x, y):
    u, v = x[0] / (x[0] - 1), np.sqrt(x[1] - y[0])
    if x[2] > 5:
        return u + v
    return 1


def carried_through_loops(x, y):
    t = 0.0
    for n in x:
        c = 0
        while True:
            c += 1
            if c > 3:
                break
            n += t * y[0]
    return t


@pytest.mark.parametrize("function", [used_on_one_way, returned_on_one_way, carried_through_loops])
def test_events_of_numbers_that_one_way_uses(function):
    """A C++ compiler computes them there alone."""
    for first in (1.0, 2.0):
        for last in (1.0, 6.0):
            check_left_to_numpy(function, np.array([first, 1.0, last]), np.array([np.inf, 0.0, 1.0]))
            check_left_to_numpy(function, np.array([first, 1.0, last]), np.array([0.5, 0.0, 1.0]))


def stores_to_nothing(a, x, none):
    a[:0] = x
    a[[]] = x
    a[2:][::-1][5:] = x
    a[none] = x
    a[:0].flat = x
    np.put(a, [], x)
    np.copyto(a[:0], x, casting="unsafe")
    np.copyto(a, x, casting="unsafe", where=none)
    if np.ndim(x) == 0:
        a[:0].fill(x)


def test_numbers_that_go_nowhere():
    """NumPy casts a number once, whether or not it is stored, and an element of an array where it is stored."""
    call = accel.compile(stores_to_nothing)
    large = np.float64(1e300), 1e300, np.array(1e300), np.array([1e300])
    for size, value in ((4, large[0]), (4, large[1]), (4, large[2]), (4, large[3]), (1, large[2]), (0, large[0])):
        assert_same(stores_to_nothing, call, np.zeros(size, "f4"), value, np.zeros(size, bool), times=2)
    assert_all_compiled(call, np.zeros(4, "f4"), np.float64(2.0), np.zeros(4, bool))


def computed_for_nothing(a, x):
    a[:0] = x * x
    return a[:0] + x * x, np.where(a[:0] > 0, x * x, a[:0]), np.full(0, x * x), a[:0].sum() + x * x


def test_numbers_that_are_computed_for_nothing():
    call = accel.compile(computed_for_nothing)
    for x in (np.float64(1e200), np.array(1e200)):
        assert_same(computed_for_nothing, call, np.zeros(4), x, times=2)
    assert_all_compiled(call, np.zeros(4), np.float64(2.0))


def parts_of_nothing(a, x):
    a[:0, [1, 2]] = x
    a[[], :] = x
    a[:, :0] = x
    a[[], []] = x


def test_arrays_without_axes_that_go_to_parts_of_nothing():
    call = accel.compile(parts_of_nothing)
    for value in (np.array(np.inf, "f4"), np.array([np.inf], "f4")):
        assert_same(parts_of_nothing, call, np.zeros((3, 3), "i4"), value, times=2)
    assert_all_compiled(call, np.zeros((3, 3), "i4"), np.array(2.0, "f4"))
