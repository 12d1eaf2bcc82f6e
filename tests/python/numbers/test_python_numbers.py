"""Python's ints, floats and complex numbers whose values are known at run time only: CPython's bits, types and exceptions."""

import itertools
import math

import numpy as np
import pytest
from support.compiled import facts
from support.differential import check, check_at_exits, check_cases
from support.outcome import assert_same

import accel

LOW, HIGH = -(2**63), 2**63 - 1
INTS = [0, 1, -1, 2, 3, -7, 10, 63, 64, -100, 2**31, 2**53, 2**53 + 1, -(2**53) - 1, 3037000500, HIGH, LOW, LOW + 1]
FLOATS = [0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, -2.5, 3.0, 7.7, -7.7, 1e-3, 1e16, 9007199254740993.0, 2.0**63, -(2.0**63)]
FLOATS += [2.0**62, 1e200, -1e200, 1e308, 5e-324, -5e-324, 710.0, -745.5, math.pi, math.inf, -math.inf, math.nan]
COMPLEX = [complex(a, b) for a, b in itertools.product([0.0, -0.0, 1.5, -2.0, 1e200, math.inf, math.nan], repeat=2)]


def fits(result):
    """Whether compiled code may give this result: its ints are int64."""
    if isinstance(result, tuple):
        return all(map(fits, result))
    return not isinstance(result, int) or LOW <= result <= HIGH


def check_calls(function, cases, compiled=fits):
    """Compiled to the end where Python gives a result that fits."""

    def is_good(function, case):
        try:
            return compiled(function(*case))
        except Exception:
            return False

    call = check_cases(function, cases, is_good)
    assert facts(call)["compiled"] > 0
    return call


def function_of(source, *setup):
    """A function of the arguments a and b."""
    scope = {"math": math, "np": np}
    lines = ["def function(a, b=None):", *setup, f"return {source}"]
    exec("\n    ".join(lines), scope)
    return scope["function"]


def of_ints(source):
    return function_of(source, "x, y = int(a[0]), int(a[1])")


def pairs(values, dtype):
    return [(np.array(pair, dtype),) for pair in itertools.product(values, repeat=2)]


INT_SOURCES = ["x + y", "x - y", "x * y", "x // y", "x % y", "divmod(x, y)", "x & y", "x | y", "x ^ y", "x / y"]
INT_SOURCES += ["(x < y, x <= y, x == y, x != y, x > y, x >= y)", "(-x, ~x, +x, abs(y))", "math.gcd(x, y)"]
INT_SOURCES += ["(max(x, y), min(x, y), max(x, 5, y), sum([x, y]))", "(not x, bool(x), x == 0)", "x * 3 - y // 7 + y % -5"]


@pytest.mark.parametrize("source", INT_SOURCES)
def test_ints(source):
    wide = {"x / y": lambda result: False}
    check_calls(of_ints(source), pairs(INTS, np.int64), wide.get(source, fits))


@pytest.mark.parametrize("source", ["x << y", "x >> y", "x ** y", "(-x) ** (y + 1)", "pow(x, y)"])
def test_shifts_and_powers_of_ints(source):
    values = [(x, y) for x in [0, 1, -1, 2, -2, 3, 10, 2**31, HIGH, LOW] for y in [0, 1, 2, 3, 5, 31, 62, 63, 64, 100, -1]]
    if source == "(-x) ** (y + 1)":
        values = [(x, y) for x, y in values if x != LOW]
    if source == "x << y":
        values = [(x, y) for x, y in values if x != 0 or y < 63]
    small = lambda result: isinstance(result, int) and abs(result) < 2**61  # noqa: E731
    check_calls(of_ints(source), [(np.array(pair),) for pair in values], small)


def test_quotients_of_ints_in_the_range_of_floats():
    values = [0, 1, -1, 3, 10, -7, 2**53, -(2**53), 2**40 + 1]
    check_calls(of_ints("x / y"), pairs(values, np.int64))


@pytest.mark.parametrize(
    "source", ["(x ** 2, x ** 3, x ** 1, x ** 0)", "x ** 7", "x ** -1", "x ** -2", "(x << 3, x >> 70, x // 7, x % -7)"]
)
def test_ints_and_constants(source):
    check_calls(of_ints(source), [(np.array([x, 0]),) for x in [*INTS, 5, 2**20, -(2**21)]])


def test_ints_beyond_int64():
    check_calls(of_ints("x + 2**70"), [(np.array([1, 2]),)])
    check_calls(of_ints("x * y * x // y"), pairs([3, 2**40], np.int64))


def test_bools():
    function = function_of("(x & y, x | y, x ^ y, x + y, x * 3, -x, x < y, x == y, not x)", "x, y = bool(a[0]), bool(a[1])")
    check_calls(function, pairs([False, True], bool))


@pytest.mark.parametrize("source", ["(a + b, a - b, a * b)", "a / b", "a // b", "a % b", "divmod(a, b)"])
def test_floats(source):
    check_calls(function_of(source), itertools.product(FLOATS, repeat=2))


def test_powers_of_floats():
    check_calls(function_of("a ** b"), itertools.product(FLOATS, repeat=2), lambda result: not isinstance(result, complex))
    for source in ["a ** 2", "a ** 3", "a ** -1", "a ** 0.5", "a ** 0", "2 ** a", "2.5 ** a", "1 ** a"]:
        check_calls(function_of(source), [(x,) for x in FLOATS], lambda result: not isinstance(result, complex))


def test_comparisons_of_floats():
    check_calls(function_of("(a < b, a <= b, a == b, a != b, a > b, a >= b)"), itertools.product(FLOATS, repeat=2))
    check_calls(function_of("(max(a, b), min(a, b), max(b, a, 1.0), min([a, b, 0.0]))"), itertools.product(FLOATS, repeat=2))


def test_ints_compare_with_floats_exactly():
    function = function_of("(x < b, x <= b, x == b, x != b, x > b, x >= b, b < x, b >= x, b == x)", "x = int(a[0])")
    floats = [*FLOATS, 2.0**53, 2.0**53 + 2, -(2.0**53)]
    check_calls(function, [(np.array([x]), y) for x in INTS for y in floats])


def test_ints_with_floats():
    function = function_of("(x + b, b - x, x * b, True + b, b * False)", "x = int(a[0])")
    check_calls(function, [(np.array([x]), y) for x in INTS for y in FLOATS])
    check_calls(function_of("(a + 2**70, 10**30 * a)"), [(x,) for x in FLOATS])


def test_conversions():
    check_calls(
        function_of("(-a, +a, abs(a), bool(a), not a, float(a), complex(a), a.real, a.imag, a.conjugate())"),
        [(x,) for x in FLOATS],
    )
    for source in ["int(a)", "round(a)", "math.floor(a)", "math.ceil(a)", "math.trunc(a)", "a.is_integer()"]:
        check_calls(function_of(source), [(x,) for x in [*FLOATS, 0.49999999999999994, 3.5, -0.5, 1e18, -1e18]])
    check_calls(
        of_ints("(float(x), complex(y), complex(x, y), round(x), int(y), math.floor(x), x.real, y.imag)"), pairs(INTS, np.int64)
    )
    check_calls(function_of("complex(a, b)"), itertools.product(FLOATS, repeat=2))


def test_sums():
    cases = [(x, y) for x in FLOATS for y in [1.0, -1e16, 1e-9, math.inf, -0.0]]
    check_calls(function_of("(sum([a, b]), sum([a, b, 1.0, -a]), sum([1, a, 2, b]), sum([a, b], 0.5), sum((a, True)))"), cases)
    call = check_calls(function_of("sum([a, b, b, b, b, b, b, b, b, b])"), [(0.1, 0.1), (1e16, 1.0), (1e16, math.nan)])
    assert call(0.1, 0.1) == sum([0.1] * 10)


def test_any_and_all():
    check_calls(
        function_of("(any([a > 1, b > 1]), all([a > 1, b]), any([a, b, 0]), all((a, 1)))"),
        itertools.product([0.0, 2.0], repeat=2),
    )


ONE_FLOAT = (
    "acos acosh asin asinh atan atanh cbrt cos cosh degrees erf erfc exp exp2 expm1 fabs log log10 log1p log2 radians".split()
)
ONE_FLOAT += "sin sinh sqrt tan tanh isnan isinf isfinite".split()


@pytest.mark.parametrize("name", ONE_FLOAT)
def test_math(name):
    rng = np.random.default_rng(1)
    values = [*FLOATS, *rng.uniform(-1, 1, 40).tolist(), *rng.uniform(-30, 800, 40).tolist(), 1e22, -1e5]
    check_calls(function_of(f"math.{name}(a)"), [(x,) for x in values])
    check_calls(function_of(f"math.{name}(int(a[0]))"), [(np.array([x]),) for x in INTS])


@pytest.mark.parametrize("name", ["atan2", "copysign", "fmod", "pow", "log"])
def test_math_of_two(name):
    check_calls(function_of(f"math.{name}(a, b)"), itertools.product(FLOATS, repeat=2))


def test_math_of_constants():
    check_calls(
        function_of("a + math.exp(1) + math.pow(2, 0.5) + math.log(8, 2) + math.floor(2.5) + math.gcd(12, 18)"), [(1.0,)]
    )


def test_math_of_ints():
    check_calls(
        of_ints("math.isqrt(x)"), [(np.array([x, 0]),) for x in [*INTS, 15, 16, 17, HIGH - 1, 3037000499**2 - 1, 3037000499**2]]
    )


def test_math_of_numpy_scalars():
    function = function_of("(math.exp(a[0]), math.floor(a[1]), math.sqrt(a[1]), math.isnan(a[0]), math.pow(a[1], 2))")
    for dtype in ["f2", "f4", "f8", "i8", "u4", "b1"]:
        check_calls(function, [(np.array([1.0, 3.0], dtype),)])


COMPLEX_SOURCES = ["(a + b, a - b)", "a * b", "a / b", "(a == b, a != b, -a, a.conjugate(), a.real, b.imag, bool(a), not b)"]


@pytest.mark.parametrize("source", COMPLEX_SOURCES)
def test_complex(source):
    check_calls(function_of(source), itertools.product(COMPLEX[::2] + COMPLEX[1::5], repeat=2))


def test_complex_functions():
    check_calls(function_of("abs(a)"), [(z,) for z in COMPLEX])
    for source in ["a ** 2", "a ** 3", "a ** 0", "a ** -1", "a ** -5", "a ** 2.0", "a ** 7"]:
        check_calls(function_of(source), [(z,) for z in [*COMPLEX, 1.1 - 0.3j, 0.2 + 0.9j]])


def test_complex_with_others():
    function = function_of("(a + b, b - a, a * b, a == b, a != b, b == a, 2 * a, a + 1, a == 1)")
    check_calls(function, itertools.product(COMPLEX[::2], [0.0, -0.0, 1.5, math.inf, math.nan]))
    function = function_of("(a * b[0], a == b[0], a + b[0], b[0] * a, a / b[0])")
    check_calls(function, [(z, np.array([1.5, 2.0])) for z in [1 + 2j, 0.1 - 3j, -2j]])


def test_wrong_operands():
    for source in [
        "a & 1",
        "a << 1",
        "~a",
        "a @ a",
        "1j < a",
        "a // 1j",
        "float(1j * a)",
        "math.sqrt(1j * a)",
        "divmod(a, 1j)",
    ]:
        check_calls(function_of(f"(a + 1, {source})"), [(1.5,)], lambda result: False)


def test_truth_and_identity():
    check_calls(
        function_of("(a is None, a is not None, not a, not not b, a == None, a != None)"),
        itertools.product([0.0, 1.5, math.nan], [0.0, 2.0]),
    )
    check_calls(of_ints("(x is None, not x, not (x < y), bool(x > y))"), pairs([0, 1, 5], np.int64))


def test_lines_of_errors():
    def function(a, b):
        x = a + b
        y = x * 2.0
        z = y / (a - b)
        return math.sqrt(z)

    check_calls(function, [(2.0, 1.0), (1.0, 1.0), (1.0, 2.0), (3.0, 1.0)])


def test_events_of_python_floats_are_none():
    def function(a, b):
        return a * b + (a - a) * b

    cases = [(1e200, 1e200), (math.inf, 0.0), (1.0, math.nan), (1e-200, 1e-200)]
    check_calls(function, cases)
    check_calls(lambda a, b: (function(a, b), np.float64(a) * 2.0), cases, lambda result: False)


def test_casts_of_python_numbers_for_arrays_report_events():
    function = function_of("a * b")
    check_calls(function, [(np.ones(3, np.float32), x) for x in [1.5, 0.1]])
    call = accel.compile(function)
    for x in [1.5, 1e300]:
        assert_same(function, call, np.ones(3, np.float32), x)
    function = function_of("a[1:] + int(a[0])")
    for dtype in ["i1", "u1", "u8", "i8", "f4"]:
        check_calls(function, [(np.array([5, 1, 2], dtype),)])


def test_exponents_of_arrays():
    function = function_of("a ** (b * 1.0)")
    check_calls(
        function,
        [(np.array([0.5, 2.0, 9.0]), 3.0), (np.array([0.5, 2.0, 9.0]), 0.5), (np.array([0.5, 2.0]), 2.0)],
        lambda r: False,
    )
    function = function_of("a ** int(b[0])")
    for dtype in ["i8", "u1", "f8"]:
        check_calls(function, [(np.array([1, 2, 3], dtype), np.array([n])) for n in [3, 0, 1, 2, -1]], lambda r: False)


def test_bits_of_ints():
    sources = [
        of_ints("(x.bit_length(), x.bit_count(), (y >> 3).bit_length())"),
        function_of("(a.bit_length(), a.bit_count())"),
    ]
    check_calls(sources[0], pairs(INTS, np.int64), lambda result: result[0] < 64)
    check_calls(sources[1], [(n,) for n in INTS + list(range(20))], lambda result: result[0] < 64)


def test_parts_of_complex_numbers_that_are_used_twice():
    check_calls(function_of("(abs(a * 1j), (a * 1j).imag)"), [(n,) for n in INTS[:12]])
    check_calls(function_of("(abs(a * b), a * b)"), [(a, b) for a, b in itertools.product(COMPLEX[:20], [2.0, 1j])])


def test_extremes_of_several_types():
    check_calls(function_of("max(a, 0)"), [(x,) for x in [1.5, -1.5, 0.0, math.nan]])
    check_calls(function_of("min(1, a) + 1"), [(x,) for x in [1.5, -1.5, 1.0]])
    mixed = [
        (1, 2.0, np.int64(3)),
        (3, 2.0, np.int64(1)),
        (2, 2.0, np.int64(2)),
        (1, 9.5, np.int64(9)),
        (1, math.nan, np.int64(0)),
    ]
    check_calls(lambda a, b, c: (max(a, b, c), min(a, c, b)), mixed)
    check_calls(lambda a, b, c: max(c, 0, b, a, 2.5), mixed)
    check_calls(lambda a, b, c: min(c + 1, b * 2, a - 1, c, a) + 1, mixed)


@pytest.mark.thorough
def test_extremes_of_elements_and_numbers():
    """What wins is stored, compared and returned with its own type."""

    def scores(a, gap):
        best, table = 0, np.zeros(len(a) + 1, a.dtype)
        for i in range(len(a)):
            table[i + 1] = max(0, table[i] + a[i], a[i] + gap, gap)
            if table[i + 1] > best:
                best = table[i + 1]
        return table, best, max(a[0], 1, a[1], gap)

    for dtype in ["i8", "f8", "f4", "u1"]:
        for values in [[3, 1, 4, 1], [1, 1, 2, 2], [0, 0, 0, 0]]:
            check_at_exits(scores, np.array(values, dtype), 1)
    check_at_exits(scores, np.array([-3, 5, -9, 4]), -2)


def test_extremes_of_several_types_of_equal_and_special_numbers():
    """Types, signs of zeros and NaNs are those of the candidate that wins."""
    reals = [0.0, -0.0, 1.5, -1.5, math.nan, math.inf, 2.0**53, -(2.0**53)]
    cases = [(np.float64(a), b, np.float64(c)) for a, b, c in itertools.product(reals[:6], reals[:6], reals[:5])]
    check_calls(lambda a, b, c: (max(0, a, b, c), min(a, b, 0.0, c), max(a, True, b)), cases)
    check_calls(lambda a, b, c: (max(2**53 + 1, a, b, c), min(-(2**53), a, b, 2.0)), cases[::7] + [(reals[-2], reals[-1], 1.0)])
    whole = [(np.array(items),) for items in itertools.product([0, 1, -1, HIGH, LOW], repeat=3)]

    def of_elements(items):
        a, b, c = items[0], int(items[1]), items[2]
        return max(0, a, b, c), min(a, b, 0, c), max(a, b, c, 1.5), min(True, a, b)

    check_calls(of_elements, whole)


def test_overflow_of_elements_that_extremes_are_taken_of():
    """The event of an addition whose result loses is NumPy's; the table is as it was."""

    def scores(a, table, gap):
        for i in range(len(a)):
            table[i + 1] = max(0, table[i] + a[i], a[i] - gap)
        return table

    a = np.array([5, -3, 4, 2, -9, 7])
    call = accel.compile(scores)
    check_at_exits(scores, a, np.zeros(7, "i8"), 1)
    for at, value in [(0, HIGH), (2, HIGH), (3, LOW), (5, LOW)]:
        for gap in [0, 1, -2]:
            b = a.copy()
            b[at] = value
            assert_same(scores, call, b, np.zeros(7, "i8"), gap)
            assert_same(scores, call, b, np.full(7, HIGH - 3), gap)
    assert facts(call)["interpreted"] > 0


def test_loops_over_numbers():
    def newton(x):
        y, steps = 1.0, 0
        while abs(y * y - x) > 1e-12 * x:
            y = 0.5 * (y + x / y)
            steps += 1
        return y, steps

    check_calls(newton, [(2.0,), (1e10,), (0.3,)])

    def collatz(n):
        steps, most = 0, n
        while n != 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            most = max(most, n)
            steps += 1
        return steps, most

    check_calls(collatz, [(27,), (97,), (871,)])

    def generator(a):
        state = int(a[0])
        out = []
        for _ in range(5):
            state = (state * 1103515245 + 12345) % 2**31
            out.append(state >> 16 & 0xFF)
        return out, state

    check_calls(generator, [(np.array([n]),) for n in [0, 1, 12345]])


def test_a_loop_is_left_where_an_int_outgrows_int64():
    def function(a):
        total = 1
        for i in range(len(a)):
            total = total * int(a[i])
        return total

    check_calls(function, [(np.array(n),) for n in [[2, 3], [2**20] * 3, [2**20] * 4, [-1] * 70]])
    check_calls(function, [(np.array([2**20] * 4 + [0, 5]),)], lambda result: False)


def test_a_loop_raises_at_its_line():
    def function(a, b):
        total = 0.0
        for i in range(len(a)):
            total += math.sqrt(a[i]) / (b[i] - 1.0)
            total += float(a[i]) ** float(b[i])
        return total

    good = np.array([1.0, 2.0, 3.0])
    for a, b in [(good, good + 1), (-good, good + 1), (good * 1e200, good + 2)]:
        assert_same(function, accel.compile(function), a, b)

    def divided(a):
        total = 0.0
        for i in range(len(a)):
            total += 1.0 / float(a[i])
        return total

    for values in [good, good - 2]:
        assert_same(divided, accel.compile(divided), values)


def greatest_of_many(xs):
    return max(xs), min(xs)


def running_greatest(xs):
    greatest = -1.0
    for v in xs:
        greatest = v if v > greatest else greatest
    return greatest * 2


def greatest_of_scaled(x):
    return max([c * x[0] for c in range(60)])


@pytest.mark.timeout(60)
def test_chains_of_choices_compile_in_time_that_grows_with_their_length():
    xs = [0.1 * k for k in range(60)]
    check(greatest_of_many, xs)
    check(running_greatest, xs)
    check(greatest_of_scaled, np.array([1.5, 2.0]))
