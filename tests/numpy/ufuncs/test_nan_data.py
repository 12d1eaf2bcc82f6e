"""NaN in the data: comparisons are silent in NumPy, and calls that meet one go on being compiled."""

import numpy as np
import pytest
from support.compiled import assert_all_compiled, facts
from support.differential import check_left_to_numpy, sample
from support.outcome import assert_same

import accel

X = np.array([1.5, np.nan, -2.0, 0.0, -0.0, np.inf, -np.inf, 3.0, 4.5, 7.25] * 7)


def with_nan(dtype, n=400, seed=0):
    x = (np.random.default_rng(seed).standard_normal(n) * 3).astype(dtype)
    x[::7] = np.nan
    x[3::50] = -0.0
    x[5::60] = 0.0
    return x


def check_stays_compiled(function, *arguments):
    """The first call with NaN is run again by NumPy, and the function's kernel is quiet from then on."""
    call = accel.compile(function)
    assert_same(function, call, *arguments, times=5)
    found = facts(call)
    assert found["interpreted"] <= 1 and found["compiled"] + found["interpreted"] == 5, (
        f"{found}\n{accel.explain(call)(*arguments)}"[:3000]
    )
    assert found["recompiles"] == 0
    return call


FUNCTIONS = {
    "where": lambda x, y: np.where(x > y, x * y, y),
    "relations": lambda x, y: ((x < y) * y, (x <= y) + x * 2, (x > y) - x, (x >= y) * (x + y), (x == y) * y, (x != y) * x),
    "extremes": lambda x, y: np.maximum(x, y) * 2 + np.minimum(x, y * 3) - np.fmax(x, y) * np.fmin(x + 1, y),
    "clip": lambda x, y: np.clip(x * 2, -1, 1) + y * 2,
    "sign": lambda x, y: np.sign(x) * y + x,
    "reductions": lambda x, y: (x * y).max() + (x + y).min(),
    "positions": lambda x, y: ((x * y).argmax(), (x - y).argmin(), np.nanargmin(x * 2)),
    "rows": lambda x, y: (x.reshape(20, -1) * 2).argmin(axis=0) + (y.reshape(20, -1) + 1).max(axis=0),
    "nan_functions": lambda x, y: (np.nanmax(x * 2), np.nansum(x * y), np.nanmin(y + 1)),
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name, dtype):
    check_left_to_numpy(FUNCTIONS[name], with_nan(dtype), with_nan(dtype, seed=1)[::-1].copy())
    check_left_to_numpy(FUNCTIONS[name], X.astype(dtype), X[::-1].astype(dtype))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", ["where", "relations", "extremes", "clip", "sign", "rows", "reductions", "positions"])
def test_calls_stay_compiled(name, dtype):
    check_stays_compiled(FUNCTIONS[name], with_nan(dtype), with_nan(dtype, seed=1)[::-1].copy())


def test_half():
    check_left_to_numpy(FUNCTIONS["where"], with_nan("float16"), with_nan("float16", seed=1)[::-1].copy())
    check_left_to_numpy(FUNCTIONS["extremes"], with_nan("float16"), with_nan("float16", seed=1)[::-1].copy())


def test_elements_in_loops():
    def largest(x):
        best = x[0] * 1.0
        count = 0
        for k in range(len(x)):
            if x[k] > best:
                best = x[k] * 1.0
                count += 1
        return best, count

    x = with_nan("float64")
    x[0] = 0.5
    check_left_to_numpy(largest, x)


def test_arguments_that_are_written():
    def damp(x, y):
        x[y > 0] *= 0.5
        x += np.maximum(y, 0) * x
        return x.sum()

    check_stays_compiled(damp, sample(400, "float64"), with_nan("float64"))


def test_invalid_events_are_still_told():
    """Arithmetic that is invalid warns, with comparisons of NaN beside it."""

    def function(x, y):
        return np.where(y > 0, x - y, y)

    call = check_stays_compiled(function, with_nan("float64"), with_nan("float64", seed=1))
    inf = np.full(400, np.inf)
    assert_same(function, call, inf, inf, times=3)
    assert_same(function, call, with_nan("float64"), with_nan("float64", seed=1), times=3)
    with np.errstate(invalid="raise"):
        assert_same(function, call, inf, inf, times=2)
        assert_same(function, call, with_nan("float64"), with_nan("float64", seed=1), times=2)


# Which of two NaNs an extreme of a row is, and so its sign, is not NumPy's for certain.
DROPPED = {
    "max": lambda x, y: (x * y).max(),
    "argmax": lambda x, y: (x * y).argmax(),
    "rows": lambda x, y: ((x * y).reshape(4, -1).argmin(axis=1), np.abs((x * y).reshape(4, -1).max(axis=1))),
    "columns": lambda x, y: ((x * y).reshape(-1, 4).argmin(axis=0), (x * y).reshape(-1, 4).max(axis=0)),
    "maximum": lambda x, y: np.maximum(x, x * y),
    "minimum": lambda x, y: np.minimum(x[:1], x * y),
    "fmax": lambda x, y: np.fmax(x * y, x),
    "clip": lambda x, y: np.clip(x, x * y, y),
    "roots": lambda x, y: np.sqrt(x * y).argmin(),
}


@pytest.mark.parametrize("size", [4, 12, 1000])
@pytest.mark.parametrize("name", DROPPED)
def test_events_of_what_a_nan_drops(name, size):
    """After a NaN nothing changes an extreme, but products go on being invalid. The dtypes take turns over the functions."""
    dtype = ("float32", "float64")[list(DROPPED).index(name) % 2]
    x, y = np.ones(size, dtype), np.ones(size, dtype)
    x[0] = np.nan
    call = accel.compile(DROPPED[name])
    assert_same(DROPPED[name], call, x, y, times=3)
    for every in (False, True):
        x[-3], y[-3] = 0, np.inf
        if every:
            x[:], y[1:] = np.nan, 1
            x[2], y[2] = 0, np.inf
        assert_same(DROPPED[name], call, x, y, times=2)


def test_extents_and_threads():
    with accel.config(threads=2, parallel_threshold=0):
        call = check_stays_compiled(lambda x: np.where(x < 0, x * 2, x), with_nan("float64", 100000))
    function = FUNCTIONS["where"]
    call = accel.compile(function)
    for n in (400, 3, 0, 1000):
        assert_same(function, call, with_nan("float64", n), with_nan("float64", n, seed=1), times=3)
    assert facts(call)["recompiles"] == 0


SIGNS = """a * -1 | -1 * a | a / -1 | np.multiply(a, -1.0) | (-1) ** 3 * a | np.square(-a) | (-a) ** 2 | (-a) * (-b) | -a / -b
a + (-b) | a - (-b) | (-a) + b | (-a) - (-b) | -(a * 2) | -a * 3 | 1 / -a | abs(a) * -1 | np.copysign(a, b) * -1
np.where(a > 0, 1.0, -1.0) * a | a.astype("f4") * np.float32(-1) | -(a - b) | b - (-a) | (a + 0j).conj() * (b + 0j)
-(a + 1j) * b | [v * -1.0 for v in a] | [-v * -2.0 for v in a] | [v + (-w) for v, w in zip(a, b)] | [float(v) * -1.0 for v in a]
a.astype("f2") * -1.0 | [v * np.float16(-1) for v in a.astype("f2")] | -a.astype("f2") * b.astype("f2")"""


@pytest.mark.parametrize("text", [text.strip() for line in SIGNS.splitlines() for text in line.split("|")])
def test_the_sign_of_one_nan(text):
    """The C++ compiler simplifies negations as if a NaN had no sign."""
    function = eval(f"lambda a, b: np.asarray({text})", {"np": np})
    call = accel.compile(function)
    for n in (3, 8, 41):
        a, b = np.resize([np.nan, -np.nan, 1.0, -0.0], n), np.full(n, 2.0)
        for _ in range(2):
            with np.errstate(all="ignore"):
                assert call(a, b).tobytes() == function(a, b).tobytes()
    assert_all_compiled(call)
