"""cmath, and the functions of math that are CPython's own: its bits, special cases and exceptions."""

import cmath
import itertools
import math

import numpy as np
import pytest
from support.differential import check, check_cases
from support.outcome import assert_same
from test_python_numbers import COMPLEX, FLOATS, INTS, check_calls

import accel

ONE = "acos acosh asin asinh atan atanh cos cosh exp log log10 sin sinh sqrt tan tanh".split()
TESTS = ["isnan", "isinf", "isfinite", "phase"]
RNG = np.random.default_rng(3)
SIZES = 10.0 ** RNG.uniform(-8, 2, 60)
REGULAR = (SIZES * np.exp(1j * RNG.uniform(-math.pi, math.pi, 60))).tolist()
REGULAR += [
    1 + 1j,
    2.0 - 0.5j,
    complex(-3.0, 0.0),
    complex(-3.0, -0.0),
    complex(0.5, -0.0),
    complex(0.0, 2.0),
    complex(-0.0, -2.0),
]
TINY = [5e-324j, complex(1e-310, 1e-310), 5e-324 + 0j, complex(1e-320, -1.0)]
EDGES = [1, -1, 1j, -1j, 1 + 1e-300j, 1e300 + 1j, 1e154 + 1e154j, 1e308 * (1 + 1j), 708.5 + 1j, 1 + 710j, *TINY]


def function_of(source):
    scope = {"math": math, "cmath": cmath, "np": np}
    exec(f"def function(a, b=None, c=None):\n    return {source}", scope)
    return scope["function"]


def is_never(_result):
    return False


@pytest.mark.parametrize("name", ONE)
def test_functions(name):
    check_calls(function_of(f"cmath.{name}(a)"), [(z,) for z in REGULAR], lambda _: True)
    special = [(complex(z),) for z in [*COMPLEX, *EDGES, complex(math.inf, 1), complex(-math.inf, 2.5), complex(1, math.nan)]]
    check_cases(function_of(f"cmath.{name}(a)"), special, lambda *_: False)
    check_cases(function_of(f"cmath.{name}(a)"), [(x,) for x in FLOATS], lambda *_: False)


@pytest.mark.parametrize("name", TESTS)
def test_questions(name):
    check_calls(function_of(f"cmath.{name}(a)"), [(complex(z),) for z in [*COMPLEX, *EDGES, *REGULAR]], lambda _: True)


def test_polar_and_rect():
    check_calls(function_of("cmath.polar(a)"), [(z,) for z in [*COMPLEX, *REGULAR, 1.5e308 * (1 + 1j)]])
    check_calls(function_of("cmath.rect(a, b)"), [(abs(z), cmath.phase(z)) for z in REGULAR], lambda _: True)
    check_cases(function_of("cmath.rect(a, b)"), itertools.product(FLOATS, repeat=2), lambda *_: False)


def test_logarithms_by_base():
    cases = [(a, b) for a in REGULAR[:12] for b in [2.0, 2 + 1j, 10]]
    check_calls(function_of("cmath.log(a, b)"), cases, lambda _: True)
    check_cases(function_of("cmath.log(a, b)"), [(1 + 1j, 1.0), (0j, 2.0), (2j, 0.0), (1.0, 1 + 0j)], lambda *_: False)


def test_numpy_scalars_and_elements():
    def spectrum(z, w):
        total = 0j
        for i in range(len(z)):
            total += cmath.exp(z[i]) * cmath.sqrt(w[i]) + cmath.rect(1.5, i)
        return total, cmath.phase(total)

    for dtype in (np.complex64, np.complex128, np.float32, np.float64):
        check(spectrum, np.array(REGULAR[:9]).real.astype(dtype), np.arange(1, 10).astype(dtype))


def test_wrong_arguments():
    for source in ["cmath.exp('1')", "cmath.exp(a, a)", "cmath.exp(np.ones(2))", "cmath.rect(1j * a, a)", "cmath.log()"]:
        check_calls(function_of(f"(a + 1, {source})"), [(1.5,)], is_never)


NORMS = [
    0.0,
    -0.0,
    1.0,
    -3.0,
    4.0,
    1e-300,
    1e300,
    1.7e308,
    -1.2e308,
    3e-308,
    5e-324,
    1e-310,
    math.inf,
    -math.inf,
    math.nan,
    0.1,
]


def test_hypot():
    numbers = RNG.normal(size=(400, 3)) * 10.0 ** RNG.integers(-5, 5, (400, 3))
    check_calls(function_of("(math.hypot(a, b), math.hypot(a, b, c))"), [tuple(x) for x in numbers.tolist()], lambda _: True)
    check_calls(function_of("math.hypot(a)"), [(x,) for x in FLOATS])
    check_cases(function_of("math.hypot(a, b)"), itertools.product(NORMS, repeat=2), lambda *_: False)
    check_cases(function_of("math.hypot(a, b, c)"), itertools.product(NORMS[::2], repeat=3), lambda *_: False)
    check_calls(
        function_of("(math.hypot(a, 2), math.hypot(3, 4), math.hypot(), math.hypot(a, True))"), [(1.5,), (7,)], lambda _: True
    )


def test_hypot_of_many():
    def lengths(x, y):
        out = np.empty(len(x))
        for i in range(len(x)):
            out[i] = math.hypot(x[i], y[i])
        return out

    exponents = RNG.integers(-300, 300, 4000)
    check(
        lengths,
        RNG.normal(size=4000) * 2.0**exponents,
        RNG.normal(size=4000) * 2.0 ** (exponents + RNG.integers(-30, 30, 4000)),
    )


@pytest.mark.parametrize("name", ["remainder", "nextafter"])
def test_of_two(name):
    check_calls(function_of(f"math.{name}(a, b)"), itertools.product(FLOATS, repeat=2), lambda _: True)
    check_calls(function_of(f"math.{name}(a, b)"), [tuple(x) for x in RNG.normal(size=(40, 2)).tolist()], lambda _: True)


@pytest.mark.parametrize("name", ["gamma", "lgamma"])
def test_gamma(name):
    positive = [
        *RNG.uniform(0, 171, 300).tolist(),
        *(10.0 ** RNG.uniform(-19, 2, 100)).tolist(),
        *range(1, 30),
        *np.arange(1.5, 60).tolist(),
    ]
    check_calls(function_of(f"math.{name}(a)"), [(float(x),) for x in positive], lambda _: True)
    others = [*FLOATS, -0.5, -1.5, -170.5, -200.5, 171.6, 171.7, 1e-25, 1e-310, 1e305]
    check_cases(function_of(f"math.{name}(a)"), [(x,) for x in others], lambda *_: False)


CLOSE = [0.0, -0.0, 1.0, 1 + 1e-10, 1 + 1e-8, 1e-12, -1.0, 1e308, -1e308, math.inf, -math.inf, math.nan]


def test_close_numbers():
    source = "(math.isclose(a, b), math.isclose(a, b, rel_tol=0.5), math.isclose(a, b, abs_tol=1e-9), math.isclose(a, 1))"
    check_calls(function_of(source), itertools.product(CLOSE, repeat=2), lambda _: True)
    check_calls(
        function_of("(cmath.isclose(a, b), cmath.isclose(a, b, rel_tol=0.1))"), itertools.product(COMPLEX[::2], repeat=2)
    )
    check_calls(function_of("math.isclose(a, b, rel_tol=-a)"), [(1.0, 2.0), (-1.0, 2.0)])


def test_functions_of_ints():
    pairs = [(n, k) for n in [0, 1, 5, 12, 30, 62, 70] for k in [0, 1, 2, 5, 29, 63]] + [(-1, 2), (3, -1)]
    check_calls(function_of("math.comb(int(a[0]), int(a[1]))"), [(np.array(p),) for p in pairs], lambda count: count < 2**56)
    check_calls(function_of("math.perm(int(a[0]), int(a[1]))"), [(np.array(p),) for p in pairs])
    check_calls(function_of("math.factorial(int(a[0]))"), [(np.array([n]),) for n in [0, 1, 2, 10, 20, 21, 30, -1]])
    numbers = [0, 1, -4, 6, 10, 2**40, -(2**62)]
    check_calls(function_of("math.lcm(int(a[0]), int(a[1]))"), [(np.array(p),) for p in itertools.product(numbers, repeat=2)])
    check_calls(function_of("(a * 2, math.comb(a, 2), math.factorial(a))"), [(1.5,), (3.0,)], is_never)


def test_distances():
    points = [tuple(x) for x in RNG.normal(size=(30, 2)).tolist()]
    check_calls(function_of("math.dist((a, b), (1.0, a))"), points, lambda _: True)
    check_calls(function_of("math.dist([a, b, 2], (b, a, b))"), points, lambda _: True)
    check_calls(function_of("(a + 1, math.dist((a,), (a, b)))"), points[:2], is_never)


def test_products_of_floats():
    check_calls(function_of("math.prod([a, b, 2, a])"), [(1.5, 2.5), (0.1, 7.0), (3, 0.1)], lambda _: True)


def with_keys(a, limit):
    above = [float(x) for x in a if x > limit]
    best = max(range(len(a)), key=lambda i: a[i])
    least = min(range(len(a)), key=lambda i: abs(a[i] - limit))
    return best, least, max(above, default=-1.0), min(above, default=limit)


def test_extremes_with_keys_and_defaults():
    call = accel.compile(with_keys, fullgraph=True)
    for limit in [0.0, 0.5, 3.0, 10.0]:
        assert_same(with_keys, call, np.array([1.0, 5.0, 2.0, 5.0, -1.0]), limit, times=2)
    assert_same(with_keys, accel.compile(with_keys), np.zeros(0), 1.0)


def by_tuples(a):
    x, y = float(a[0]), float(a[1])
    order = (x, 1) < (y, 0), (x, 2) >= (x, 1), (1, y) <= (1, y, 3), [x] > [y], 1 if (a[0], a[1]) < (a[1], a[0]) else 2
    best = min((float(a[i]), i) for i in range(len(a)))
    most = (float(a[0]), 0)
    for i in range(1, len(a)):
        if (float(a[i]), i) > most:
            most = (float(a[i]), i)
    return order, best, most


def test_orders_of_tuples():
    for data in [[3.0, 1.0, 2.0, 1.0], [1.0, 1.0, 1.0], [np.nan, 1.0, 2.0], [1.0, np.nan, -0.0, 0.0]]:
        assert_same(by_tuples, accel.compile(by_tuples), np.array(data), times=2)
    check(by_tuples, np.array([3.0, 1.0, 2.0, 1.0]))


def of_scalars(a):
    return a * 2, (a[0], 1) < (a[1], 0), (a[0], 1) < (a[0], 2)


def test_an_order_is_what_the_items_give():
    assert_same(of_scalars, accel.compile(of_scalars), np.array([3.0, 1.0]), times=2)


def divided(a, b):
    quotient, remainder = divmod(a, 3)
    return quotient, remainder, *divmod(7.5, b), *divmod(a, b)


def test_divmod_of_arrays():
    check(divided, np.array([1.5, -2.0, 7.0]), np.array([2.0, -0.5, 3.0]))
    check(divided, np.array([5, -7, 9]), np.array([2.0, -0.5, 3.0]))


def test_parts():
    numbers = [*FLOATS, *(RNG.normal(size=30) * 10.0 ** RNG.integers(-320, 300, 30)).tolist()]
    check_calls(function_of("(math.frexp(a), math.modf(a), math.ulp(a))"), [(x,) for x in numbers], lambda _: True)
    check_calls(function_of("math.frexp(int(a))"), [(x,) for x in [0, 1, -7, 2**62]])
    cases = [(x, e) for x in FLOATS for e in [0, 1, -1, 10, -1080, 1030, 2**40, -(2**40)]]
    check_calls(function_of("math.ldexp(a, b)"), cases, lambda _: True)
    check_calls(function_of("math.ldexp(a, int(b[0]))"), [(1.5, np.array([e])) for e in INTS], lambda _: True)
    check_calls(function_of("(a + 1, math.ldexp(a, 1.5))"), [(1.5,)], is_never)


def test_distances_in_a_loop():
    def nearest(points, centre):
        best, where = math.inf, -1
        for i in range(len(points)):
            x, y, z = points[i]
            distance = math.hypot(x - centre[0], y - centre[1], z - centre[2])
            if distance < best:
                best, where = distance, i
        return best, where

    check(nearest, RNG.normal(size=(50, 3)), RNG.normal(size=3))


def test_backend_numpy():
    def function(a, b):
        z = complex(a, b)
        return (
            cmath.exp(z),
            cmath.polar(z),
            cmath.rect(a, b),
            math.hypot(a, b),
            math.hypot(a, b, 1.0),
            math.frexp(a),
            math.ulp(b),
        )

    call = accel.compile(function, backend="numpy", fullgraph=True)
    assert_same(function, call, 1.5, 2.5, times=2)
