"""Many operations in one function, each on a line of its own: their warnings are NumPy's, whatever becomes of warnings."""

import warnings

import numpy as np
import pytest
from support.compiled import facts
from support.warned import check_warned, forget, module_of

import accel

REAL = """x + y | x - y | x * y | x / y | x // y | x % y | np.log(x) | np.exp(y) | np.sqrt(x) | np.square(y) | np.arcsin(x) | 2.0 / x
np.reciprocal(y) | np.tan(x) | np.hypot(x, y) | np.logaddexp(x, y) | np.where(np.isinf(x), y, x) * 2.0 | np.floor(x) - np.rint(y)
np.abs(x) ** 1.5 | x.sum() | np.cumsum(x * y) | np.add.reduce(x / y) | x.mean() | np.nan_to_num(x) * y"""
COMPLEX = "x + y | x * y | x - y | np.abs(x) * 2.0 | np.square(x) | np.abs(x).sum() | x.real / y.imag | x.sum() | (x * y).sum()"
NARROW = (
    "x * 0.1 | x * s | x + y | np.sqrt(x - y) | x.astype(np.float16) | np.float32(s) * x | x.sum() / n | x[3] * s | x[4] / n"
)
NUMBERS = """f / n | n / f | m / n | h * f | n * s | h * s | n + n | n * m | n // m | c / f | c * s | f * z | b / m | s / f | 1.0 / m | -n
f - s | h ** s"""


def source(parameters, expressions):
    items = [item.strip() for line in expressions.split("\n") for item in line.split("|")]
    lines = [f"    r{k} = {item}" for k, item in enumerate(items)]
    return "\n".join([f"def f({parameters}):", *lines, f"    return {', '.join(f'r{k}' for k in range(len(items)))}", ""])


def planted(dtype, seed, n=300):
    """Ordinary numbers, and one special one of each kind at several places."""
    rng = np.random.default_rng(seed)
    info = np.finfo(dtype)
    x = rng.uniform(0.5, 0.9, n).astype(dtype)
    special = [0.0, info.max, -1.0, np.inf, info.tiny, -0.0, -np.inf, info.max / 2]
    at = rng.choice(n, len(special), replace=False)
    x[at] = special
    if np.dtype(dtype).kind == "c":
        x.imag = np.roll(x.real, seed + 1)
    return x


def numbers(seed):
    rng = np.random.default_rng(seed)
    f, s, h = (rng.choice(v) for v in ([0.0, 1e300, np.inf], [0.0, 3.0, 1e300], [0.0, 6e4, 2.0]))
    n, m = rng.choice([2**62, -(2**63), 5]), rng.choice([0, 3, -1])
    with np.errstate(over="ignore"):
        return np.float64(f), np.int64(n), np.int32(m), np.float16(h), float(s), np.complex64(f), complex(s, 1.0), np.bool_(m)


PROGRAMS = {
    "float64": (source("x, y", REAL), lambda k: (planted("f8", k), planted("f8", k + 1))),
    "float32": (source("x, y, s, n", NARROW), lambda k: (planted("f4", k), planted("f4", k + 1), 1e39, np.int64(k))),
    "complex128": (source("x, y", COMPLEX), lambda k: (planted("c16", k), planted("c16", k + 1))),
    "numbers": (source("f, n, m, h, s, c, z, b", NUMBERS), numbers),
}


@pytest.mark.parametrize("filters", ["record", "default", "once", "per module"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_warnings(name, filters):
    text, make = PROGRAMS[name]
    for seed in range(3):
        check_warned(text, *make(seed), filters=filters, times=3, stays=False)
    check_warned(text, *make(0), filters=filters, stays=name == "float64")


def outcomes(call, cases, errstate):
    """Errors, and what a function that NumPy calls for events got."""
    out, called = [], []
    old = np.seterrcall(lambda text, flags: called.append((text, flags)))
    try:
        for arguments in cases:
            with np.errstate(**errstate):
                try:
                    call(*arguments)
                    out.append(None)
                except (FloatingPointError, RuntimeWarning) as error:
                    out.append((type(error), str(error), error.__traceback__.tb_next.tb_lineno))
    finally:
        np.seterrcall(old)
    return out, called


@pytest.mark.parametrize("mode", ["error", "raise", "call", "mixed"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_events_that_others_see(name, mode):
    """A filter that raises, and modes that raise or call, after calls that have warned, and before others."""
    text, make = PROGRAMS[name]
    cases = [make(seed) for seed in (0, 0, 0, 1)]
    errstate = {"raise": {"all": "raise"}, "call": {"all": "call"}, "mixed": {"divide": "ignore", "invalid": "raise"}}.get(
        mode, {}
    )
    plain = module_of(text)["f"]
    compiled = accel.compile(module_of(text)["f"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for arguments in cases:
            compiled(*arguments)
        if mode == "error":
            warnings.simplefilter("error")
        forget()
        expected = outcomes(plain, cases, errstate)
        assert outcomes(compiled, cases, errstate) == expected
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        compiled(*cases[0])
    with warnings.catch_warnings(record=True) as wanted:
        warnings.simplefilter("always")
        plain(*cases[0])
    assert [(str(w.message), w.lineno) for w in caught] == [(str(w.message), w.lineno) for w in wanted]
    assert facts(compiled)["compiled"] > 0


NESTED = """
def f(x):
    with np.errstate(divide="ignore"):
        a = 1.0 / x
        with np.errstate(divide="warn", invalid="ignore"):
            b = np.abs(np.log(x) * (x / x))  # of two NaNs either may be the result
        c = np.log(x - x)
    return a, b, c, x * 1e300
"""


@pytest.mark.parametrize("errstate", [{}, {"all": "ignore"}, {"divide": "warn", "over": "ignore"}])
def test_nested_modes(errstate):
    with np.errstate(**errstate):
        check_warned(NESTED, planted("f8", 3))


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_signalling_nans_meet_constants(dtype):
    """With a constant a number has no invalid operation, unless it is a NaN that signals."""
    bits = {"f2": 0x7D01, "f4": 0x7F800001, "f8": 0x7FF0000000000001}[dtype]
    signalling = np.full(5, bits, dtype.replace("f", "u")).view(dtype)
    call = accel.compile(lambda x: (x * 2, x - 1, x / 3))
    call(np.ones(5, dtype))
    call(np.full(5, np.nan, dtype))
    assert facts(call)["interpreted"] == 0
    with np.errstate(invalid="raise"), pytest.raises(FloatingPointError):
        call(signalling)
    with pytest.warns(RuntimeWarning, match="invalid value encountered in multiply"):
        call(signalling)
