"""What cannot be compiled runs in the interpreter from exactly that instruction on, with every object that was alive."""

import contextlib
import warnings

import numpy as np
import pytest
from support.compiled import facts
from support.differential import check_left_to_numpy, sample
from support.outcome import assert_same

import accel

X = sample((4, 3))

LOG = []


def log(*values):
    LOG.append([v.copy() if isinstance(v, np.ndarray) else v for v in values])
    return len(LOG)


# Nothing is computed before their exit.
LEFT_AT_ONCE = {"matches_sequences", "named_tuples"}


def check_left(function, *arguments):
    """Same results and the same calls of log(); compiled up to an exit, unless nothing is computed before it."""
    call = accel.compile(function)

    def logged(f):
        def run(*values):
            LOG.clear()
            return f(*values), [list(entry) for entry in LOG]

        return run

    assert_same(logged(function), logged(call), *arguments, times=3)
    compiled = accel.stats(call)["compiled"] > 0
    assert compiled == (function.__name__ not in LEFT_AT_ONCE), str(accel.explain(call)(*arguments))
    return call


EXITS = []


def exits(function):
    EXITS.append(function)
    return function


@exits
def a_call_in_the_middle(x):
    y = x * 2
    log(y)
    z = y + 1
    log("second", z)
    return z - y


@exits
def with_values_on_the_stack(x):
    y = x + 1
    return [y, log(y * 2), y - x, {"k": log(3), "v": y}]


@exits
def in_a_helper(x):
    y = x * 3
    z = helper(y, k=2)
    return z + y


def helper(a, k):
    b = a - k
    log("in helper", b)
    return inner_helper(b) * k


def inner_helper(c):
    d = c * c
    log("deeper", d)
    return d + 1


@exits
def in_a_loop(x):
    total = 0
    for i, w in enumerate((1.0, 2.0, 3.0)):
        total = total + x * w
        if i == 1:
            log(i, total)
    return total


@exits
def in_a_loop_over_a_list(x):
    out = []
    work = [x, x * 2]
    for item in work:
        out.append(item + 1)
        log(len(out))
        if len(work) < 4:
            work.append(item * 3)
    return out, work


@exits
def in_a_comprehension(x):
    y = x * 2
    return [log(k) + y * k for k in range(3)]


@exits
def with_cells(x):
    y = x * 2

    def inner(z):
        return z + y

    log(inner(x))
    y = x * 5
    return inner(x)


@exits
def in_a_closure(x):
    y = x * 2

    def inner(z):
        t = z * y
        log(t)
        return t + y

    return inner(x) + inner(y)


@exits
def in_try(x):
    y = x * 2
    try:
        log(y)
        y = y + 1
        raise ValueError("wanted")
    except ValueError as error:
        log(str(error))
        y = y * 3
    finally:
        log("finally")
    return y


@exits
def in_with(x):
    y = x * 2
    with contextlib.suppress(KeyError):
        y = y + 1
        log(y)
        raise KeyError
    return y


@exits
def identity_is_kept(x):
    y = x * 2
    pair = (y, [y, x])
    view = y[1:]
    log(1)
    return pair[0] is y, pair[1][0] is y, pair[1][1] is x, view.base is y, pair, view


@exits
def views_stay_views(x):
    y = x + 1
    view = y[:, 1]
    log(2)
    view[...] = 7
    return y, view


@exits
def data_decides(x):
    y = x * 2
    if y.sum() > 0:
        return y + 1
    return y - 1


@exits
def while_data(x):
    count = 0
    while np.abs(x).max() > 0.1:
        x = x * 0.5
        count += 1
    return x, count


@exits
def stores_into_the_argument(x):
    y = x * 2
    x[0] = 5
    return y + x


@exits
def stores_into_an_attribute(x):
    box = Box()
    box.value = x * 2
    return box.value + 1


class Box:
    value = None


@exits
def a_global_is_set(x):
    global LAST
    LAST = x * 2
    return LAST + 1


LAST = None


@exits
def text(x):
    y = x * 2
    return f"{y.sum():.3f} {x.shape}", y


@exits
def a_set(x):
    names = {"a", "b"}
    return sorted(names), x * len(names)


@exits
def iterates_over_an_array(x):
    return sum(row * 2 for row in x), [row + 1 for row in x]


@exits
def a_loop_over_the_size(x):
    total = x * 0
    for i in range(len(x)):
        total = total + x[i]
    return total


@exits
def many_iterations(x):
    for i in range(3000):
        x = x * 0.999 + i
    return x


@exits
def imports(x):
    import math
    from collections import OrderedDict

    return OrderedDict(a=x * math.pi)


@exits
def matches(x):
    y = x * 2
    match y.ndim:
        case 1:
            return y
        case 2:
            return y + 1
    return None


@exits
def matches_sequences(x):
    match x.shape:
        case (rows, columns):
            return x * rows + columns
    return None


@exits
def named_tuples(x):
    from collections import namedtuple

    return namedtuple("Pair", "a b")(x * 2, x + 1)[1]


@exits
def asserts(x):
    y = x * 2
    assert y.ndim == 2, "two axes"
    assert y.shape[0] == 4
    return y


@exits
def unpacks_an_array(x):
    a, b, c, d = x
    return a + d, b * c


@pytest.mark.parametrize("function", EXITS, ids=lambda f: f.__name__)
def test_exits(function):
    check_left(function, X)


def test_a_generator_is_left_alone():
    def generate(x):
        for k in range(3):
            yield x * k

    call = accel.compile(lambda x: list(generate(x)))
    assert_same(lambda x: list(generate(x)), call, X)


RAISES = {
    "shapes": lambda x: x * 2 + x[:, :2],
    "axis": lambda x: (x * 2).sum(axis=5),
    "index": lambda x: (x + 1)[9],
    "attribute": lambda x: (x + 1).nothing,
    "key": lambda x: {"a": x * 2}["b"],
    "unbound": lambda x: undefined_name + x,  # noqa: F821
    "arguments": lambda x: helper(x),
    "keyword": lambda x: helper(x, k=1, j=2),
    "type": lambda x: len(3) + x,
    "in a helper": lambda x: raises_inside(x * 2),
    "division": lambda x: x * (1 // 0),
    "unpacking": lambda x: unpack_wrongly(x),
    "assertion": lambda x: assert_wrongly(x),
}


def raises_inside(y):
    z = y + 1
    raise RuntimeError(f"shape {z.shape}")


def unpack_wrongly(x):
    y = x * 2
    a, b = y
    return a + b


def assert_wrongly(x):
    y = x * 2
    assert y.shape[0] == 1, "one row"
    return y


@pytest.mark.parametrize("name", RAISES)
def test_errors_are_pythons_own(name):
    check_left_to_numpy(RAISES[name], X)


def test_warnings_of_the_code():
    def warn(x):
        y = x * 2
        warnings.warn("careful", UserWarning, stacklevel=1)
        return y

    check_left_to_numpy(warn, X)


class Sub(np.ndarray):
    pass


ODD = {
    "subclass": X.view(Sub),
    "object": X.astype(object),
    "datetime": np.array(["2020-01-01"], "M8[D]"),
    "long double": X.astype(np.longdouble),
    "byte-swapped": X.astype(">f8"),
    "masked": np.ma.masked_less(X, 0),
    "list": [1.0, 2.0],
    "string": "text",
    "none": None,
    "fraction": 3 + 4j,
    "structured": np.zeros(2, [("a", float)]),
}


@pytest.mark.parametrize("name", ODD)
def test_arguments_of_other_kinds(name):
    def double(x):
        y = np.ones(2) * 3
        return y, x * 2

    check_left_to_numpy(double, ODD[name])


def test_one_function_for_all_kinds():
    def double(x):
        return x * 2

    call = accel.compile(double)
    for _ in range(2):
        for value in [*ODD.values(), X, X[0], X.T, 3, 2.5]:
            assert_same(double, call, value, times=1)


def test_unused_arguments_are_not_looked_at():
    call = accel.compile(lambda x, unused: x * 2)
    for unused in (1, "a", None, object(), X, [1]):
        assert np.array_equal(call(X, unused), X * 2)
    assert facts(call)["recompiles"] == 0


def leave_one_out(x, alpha):
    """Paths with and without an interpolation meet before what has no compiled form."""
    q = np.quantile(x, alpha)
    total = 0.0
    for i in range(len(x)):
        total += np.delete(x, i).sum()
    return q, total


def test_an_exit_after_paths_that_met():
    call = accel.compile(leave_one_out)
    for n, alpha in ((5, 0.05), (9, 0.5), (2, 1.0), (7, 0.0)):
        assert_same(leave_one_out, call, sample(n), alpha)
    assert facts(call)["compiled"] > 0


def collect(t, end, y):
    """The counter's check stands where the list has an item that is a variable as well: no exit can be made there."""
    path, rejected = [y], 0
    while t < end:
        if y[0] < 50:
            t, y = t + 0.1, y * 1.1
            path.append(y)
        else:
            rejected += 1
            y = y * 0.5
    return np.array(path), rejected


def test_checks_that_cannot_leave_are_no_exceptions():
    arguments = 0.0, 5.0, np.ones(2)
    with pytest.raises(accel.UnsupportedError, match="alive before"):
        accel.compile(fullgraph=True)(collect)(*arguments)
    assert_same(collect, accel.compile(collect), *arguments)
