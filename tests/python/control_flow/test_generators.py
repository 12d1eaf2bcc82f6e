"""Generators that builtins and loops consume: their code is walked like a loop's, and what cannot go on leaves for the call."""

import math
import warnings

import numpy as np
import pytest
from support.compiled import compile_count, facts
from support.outcome import assert_same

import accel

BACKENDS = ["native", "numpy"]


def dot_of_elements(x, y):
    return sum(x[i] * y[len(x) - 1 - i] for i in range(len(x)))


def sum_of_norms(x, y):
    return sum(np.sqrt(v * v + w * w) for v, w in zip(x, y)) / len(x)


def sum_of_floats(x, y):
    return sum(math.exp(-float(v)) for v in x), sum((float(v) for v in y), 1.5)


def sum_of_ints(x, y):
    return sum(1 for v in x if v > 0.5), sum((i * i for i in range(len(y))), 3)


def sum_of_rows(x, y):
    a = np.outer(x, y)
    return sum(row * 2 for row in a), sum((row for row in a), np.ones(len(y)))


def sum_of_an_array(x, y):
    return sum(x), sum(x > y), sum(np.outer(x, y))


def any_and_all(x, y):
    result = np.zeros(4)
    if any(v > 0.9 for v in x):
        result[0] = 1
    if all(v < w for v, w in zip(x, y)):
        result[1] = 1
    result[2] = any(x[i] == y[i] for i in range(len(x)))
    result[3] = all(v >= 0 for v in x)
    return result


def extremes(x, y):
    return max(abs(v) for v in x), min(v - w for v, w in zip(x, y)), max(i for i in range(len(x)) if x[i] < 0.9)


def lists(x, y):
    return list(v * 2 for v in x if v > 0.3), np.array(list(v for v in y)), np.fromiter((v + w for v, w in zip(x, y)), float)


def prod_of(x, y):
    return math.prod(v + 1 for v in x), math.prod(1 + float(v) for v in y)


def nested(x, y):
    return sum(sum(v * w for w in y) for v in x), max(min(abs(v - w) for w in y) for v in x)


def loop_variables(x, y):
    total = 0.0
    for row in np.outer(x, y):
        scale = row.max()
        total += sum(v / scale for v in row if v < row[0])
    return total


def own_generator(x, y):
    def pairs(n):
        for i in range(n):
            for j in range(i):
                if x[i] < x[j]:
                    yield i, j

    count = 0
    total = 0.0
    for i, j in pairs(len(x)):
        count += 1
        total += y[i] * y[j]
    return count, total


def own_generator_left(x, y):
    def running():
        total = 0.0
        for v in x:
            total = total + v
            yield total

    for k, v in enumerate(y):
        for t in running():
            if t > v:
                break
        else:
            return k
    return -1


def step(v):
    w = np.zeros(3)
    w[1] = v
    return w.sum()


def calls_helpers(x, y):
    return sum(step(v) for v in x) + max(step(w) * 2 for w in y)


def names_after_loops(x, y):
    last = before = 0.0
    matrix = np.zeros(2)
    for v in (q * 2 for q in x):
        last, before = v, last
    for w in (q for q in y if q > 0.2):
        pass
    for i in (q for q in range(len(x))):
        matrix = i * np.ones(2)
    return last, before, v, w, i, matrix


def names_after_own_generator(x, y):
    def pairs():
        for q in x:
            yield q, q + 1

    for a, b in pairs():
        kept = a
    return a, b, kept


FUNCTIONS = [
    names_after_loops,
    names_after_own_generator,
    dot_of_elements,
    sum_of_norms,
    sum_of_floats,
    sum_of_ints,
    sum_of_rows,
    sum_of_an_array,
    any_and_all,
    extremes,
    lists,
    prod_of,
    nested,
    loop_variables,
    calls_helpers,
]


def sample(n, seed=0):
    rng = np.random.default_rng(seed)
    return rng.random(n), rng.random(n)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_captured_whole(function, backend):
    call = accel.compile(function, fullgraph=True, backend=backend)
    for n in (7, 40, 3, 300 if backend == "native" else 60):
        assert_same(function, call, *sample(n, n), times=2)
    assert compile_count(call) <= 2
    assert facts(call)["interpreted"] == 0


@pytest.mark.parametrize("function", [own_generator, own_generator_left])
def test_loops_over_generators(function):
    call = accel.compile(function)
    for n in (7, 40, 3, 100):
        assert_same(function, call, *sample(n, n), times=2)


@pytest.mark.parametrize("exit", [1, 2, 5, 9, 23])
@pytest.mark.parametrize("function", [*FUNCTIONS, own_generator, own_generator_left])
def test_left_at_an_exit(function, exit):
    with accel.config(stress_exits=exit):
        call = accel.compile(function, backend="numpy")
        for n in (5, 12):
            assert_same(function, call, *sample(n, n), times=2)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_empty(function):
    call = accel.compile(function)
    assert_same(function, call, *sample(4), times=1)
    assert_same(function, call, np.empty(0), np.empty(0), times=2)
    assert_same(function, call, *sample(4), times=1)


def raises_inside(x, y):
    z = x * 2
    return sum(z[i + int(y[i])] for i in range(len(x)))


def raises_of_its_own(x, y):
    def checked(v):
        if v > 0.99:
            raise ValueError(f"{v} is too large")
        return v * 2

    try:
        return sum(checked(v) for v in x), max(checked(w) for w in y)
    except ValueError as error:
        return str(error), 0.0


def stops(x, y):
    return sum(next(iter(())) if v > 0.99 else v for v in x)


@pytest.mark.parametrize("function", [raises_inside, raises_of_its_own, stops])
def test_errors(function):
    """The builtin is called again by the interpreter: errors and tracebacks are its own."""
    call = accel.compile(function)
    x, y = sample(20)
    y[:] = 0.25
    assert_same(function, call, x, y, times=2)
    x[7], y[19] = 1.0, 5.0
    assert_same(function, call, x, y, times=3)
    assert facts(call)["compiled"] > 0


def overflows(x, y):
    return sum(v * 1e300 * w for v, w in zip(x, y)), max(np.log(v) for v in x)


def test_warnings():
    call = accel.compile(overflows)
    x, y = sample(20)
    assert_same(overflows, call, x, y, times=2)
    x[3], y[3] = 1e10, 1e10
    x[5] = 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        assert_same(overflows, call, x, y, times=3)


def changes_arguments(x, y):
    def bump(i):
        x[i] += 1
        return x[i]

    return sum(bump(i) for i in range(len(x))), x[y.astype(int)]


def draws(rng, n):
    return sum(rng.random() for _ in range(n)), max(rng.normal() for _ in range(n))


def test_effects():
    """What a generator has done cannot be done again."""
    call = accel.compile(changes_arguments)
    x, y = sample(9)
    assert_same(changes_arguments, call, x, y, times=2)
    assert_same(changes_arguments, call, x, y * 100, times=2)
    call = accel.compile(draws)
    for n in (5, 30):
        assert_same(draws, call, np.random.default_rng(3), n, times=2)


def test_kinds_of_items():
    def total(items):
        return sum(v for v in items), max(v for v in items), any(v for v in items)

    call = accel.compile(total)
    for dtype in ("f8", "f4", "i8", "i4", "u1", "c16", "?"):
        if dtype != "c16":
            assert_same(total, call, (np.arange(9) % 5).astype(dtype), times=2)
    assert_same(total, call, np.array([np.nan, 1.0, np.nan]), times=2)
    assert_same(total, call, np.array([2.0, np.nan, 1.0]), times=2)


def test_compensated_sums():
    def total(x):
        return sum(float(v) for v in x), sum((float(v) for v in x), 1), sum(int(v) if v > 1 else float(v) for v in x)

    call = accel.compile(total)
    for x in ([1e16, 1.0, 1.0], [1.0, 1e100, 1.0, -1e100], [0.1] * 10, [np.inf, 1.0], [-0.0, -0.0], [1e308, 1e308]):
        assert_same(total, call, np.array(x), times=2)


def as_set(x, y):
    z = x * 2
    return frozenset(v for v in z if v > 0.5), y + 1


def test_what_has_no_compiled_form_is_left_at_the_call():
    """Its loop does not run before that."""
    call = accel.compile(as_set)
    for n in (5, 30):
        assert_same(as_set, call, *sample(n), times=2)
    found = accel.explain(call)(*sample(30))
    assert not any("add_row" in node for node in str(found.graph).split())
