"""The text that kernels for CUDA compute each operation with: NVRTC takes it, and compiled by g++ it has NumPy's results.

Functions of a library (exp and so on) are the C library's here; CUDA's own are compared on a device.
"""

import numpy as np
import pytest
from device_kernels import HostKernels, cases_of, device_text
from kernels import same_bits
from support.ops_table import RESULTS, ROWS, UFUNCS, special_values

from accel import _accel, backends
from accel._numbers import operation

# Some rows are in one text; rows whose texts are equal, such as `where` and `merge`, are not.
# Without those of several results, and those of reductions alone.
POINTWISE = [
    name
    for name, row in ROWS.items()
    if row["cls"] == "pointwise" and not int(row["results"] or 1) > 1 and (row["cpp"] or row["cuda"])
]
BY_TEXT = sorted(POINTWISE, key=lambda name: ROWS[name]["cuda"] or ROWS[name]["cpp"])
GROUPS = [BY_TEXT[k::12] for k in range(12)]

MOST_UNITS = {"float16": 1}  # else 4
LIKE = {"merge": np.where, "fused_multiply": np.multiply}  # rows that the schedule makes of others
NOT_FUSED = {"multiply", "square"}  # of complex numbers: those of arrays become fused_multiply


def all_cases(names):
    return [case for name in names for case in cases_of(name)]


def has_numpys_bits(name, dtype):
    """Whether the row says so, or no function of a library is in it."""
    row, kind = ROWS[name], "e" if dtype == "float16" else np.dtype(dtype).kind
    return kind in "biu" or kind in row["inline"] or (kind != "c" and "douv" not in row["events"])


def operands_of(case, rng):
    """Special values, each with each, and random ones."""
    name, dtypes, _ = case
    if dtypes == ("float16",):
        return [np.arange(65536, dtype=np.uint16).view(np.float16)]
    special = [special_values(np.dtype(dtype).char) for dtype in dtypes]
    if len(special) > 1:
        special = [values[:: 1 + len(values) // (90 if len(special) == 2 else 12)] for values in special]
    special = [values.ravel() for values in np.meshgrid(*special)]
    count = 400
    chosen = [drawn(np.dtype(dtype), count, rng) for dtype in dtypes]
    return limited(
        name, [np.concatenate(pair).astype(d) for pair, d in zip(zip(special, chosen, strict=True), dtypes, strict=True)]
    )


def drawn(dtype, count, rng):
    if dtype == "float16":
        return rng.integers(0, 65536, count, np.uint16).view(np.float16)
    if dtype.kind in "biu":
        wide = rng.integers(0, 256, count * dtype.itemsize, np.uint8).view(dtype if dtype.kind != "b" else np.uint8)
        return np.where(rng.random(count) < 0.5, wide, rng.integers(0, 5, count)).astype(dtype)
    if dtype.kind == "c":
        return (drawn(dtype.type(0).real.dtype, count, rng) + 1j * drawn(dtype.type(0).real.dtype, count, rng)).astype(dtype)
    sizes = np.where(rng.random(count) < 0.5, rng.normal(size=count), 10 ** rng.uniform(-30, 30, count))
    return (sizes * rng.choice([-1, 1], count)).astype(dtype)


def limited(name, operands):
    """Without what the graph has left before the operation, and where versions of NumPy differ."""
    kinds = [x.dtype.kind for x in operands]
    if name == "nextafter" and operands[0].dtype == "float16":  # from a zero to the other: NumPy 2.5 has the second
        first, second = operands
        same = (first != second) | (np.signbit(first) == np.signbit(second))
        return [first[same], second[same]]
    if name in ("power", "int_power") and kinds[1] == "i":
        return [operands[0], np.where(operands[1] < 0, 3, operands[1]).astype(operands[1].dtype)]
    return operands


@np.errstate(all="ignore")
def reference(case, operands):
    name, _, result = case
    if name in NOT_FUSED and result.startswith("complex"):
        name, operands = "scalar_multiply", [operands[0], operands[-1]]
    if name in UFUNCS or name in LIKE:
        return LIKE.get(name, UFUNCS.get(name))(*operands)
    if name in RESULTS:
        whole, k = RESULTS[name]
        return UFUNCS[whole](*operands)[k]
    if name == "astype":  # NumPy's vectors and its numbers differ where a float does not fit: no rest that is no vector
        return np.resize(operands[0], 64 * (operands[0].size // 64 + 1)).astype(result)[: operands[0].size]
    if special := getattr(backends._Evaluator, f"_op_{name}", None):
        return special(None, {"types": [{"dtype": result}]}, *operands)
    if hasattr(np, name):
        return getattr(np, name)(*operands)
    out = np.empty(operands[0].shape, result)
    for i in range(out.size):
        numbers = [np.asarray(x[i]) for x in operands]
        out[i] = np.asarray(operation(name, numbers)(*numbers)).astype(result)
    return out


@np.errstate(all="ignore")
def units_apart(got, want):
    """By how many units in the last place of the larger part results differ; infinity where one is no finite number."""
    if got.dtype.kind != "c":
        return units_of(got, want, abs(want))
    scale = np.maximum(abs(want.real), abs(want.imag))
    parts = [(getattr(got, part), getattr(want, part)) for part in ("real", "imag")]
    return np.maximum(*(units_of(a, b, np.where(np.isfinite(scale), scale, abs(b))) for a, b in parts))


def units_of(got, want, scale):
    same = (got == want) | (np.isnan(got) & np.isnan(want))
    finite = np.isfinite(got) & np.isfinite(want)
    unit = np.spacing(np.where(np.isfinite(scale), scale, 1).astype(got.dtype)).astype(np.longdouble)
    apart = abs(got.astype(np.longdouble) - want.astype(np.longdouble)) / abs(unit)
    return np.where(same, 0, np.where(finite, apart, np.inf)).astype(float)


WIDER = {"f": "d", "d": "g", "F": "D", "D": "G"}


@np.errstate(all="ignore")
def units_of_exact(case, operands, got, want):
    """By how many times NumPy's own error, or units, results are off those that NumPy has in wider numbers.

    Of functions of two numbers the error is also what the last bit of an operand makes.
    """
    name, dtypes, _ = case
    chars = [np.dtype(dtype).char for dtype in dtypes]
    if name not in UFUNCS or not set(chars) <= set(WIDER):
        return np.full(want.shape, np.inf)
    exact = UFUNCS[name](*(x.astype(WIDER[char]) for x, char in zip(operands, chars, strict=True))).astype(want.dtype)
    error = np.maximum(1, units_apart(want, exact))
    if len(operands) == 2:
        near = UFUNCS[name](operands[0], operands[1] * (1 + np.finfo(dtypes[1]).eps))
        error = np.fmax(error, units_apart(want, near))
    return np.where(np.isinf(error), 0, units_apart(got, exact) / error)


def differing(case, operands, got):
    """Indices of results that are not NumPy's, and NumPy's results."""
    name, dtypes, result = case
    want = np.asarray(reference(case, operands))
    if has_numpys_bits(name, dtypes[-1]) and not is_pythons(name):
        wrong = [] if same_bits(got, want) else [i for i in range(got.size) if not same_bits(got[i : i + 1], want[i : i + 1])]
        return wrong, want
    units = units_apart(got, want)
    if is_pythons(name):  # it raises, or is asked, where one is no finite number
        assert np.isfinite(got).mean() > 0.1
        units = np.where(np.isfinite(got) & np.isfinite(want), units, 0)
    most = MOST_UNITS.get(result, 4)
    if (units > most).any():
        units = np.fmin(units, units_of_exact(case, operands, got, want))
    return np.flatnonzero(~(units <= most)), want


def is_pythons(name):
    return not (name in UFUNCS or name in LIKE) and hasattr(operation(name, []), "__call__")


@pytest.mark.parametrize("names", GROUPS, ids=lambda names: names[0])
def test_results_are_numpys(names):
    cases = all_cases(names)
    kernels = HostKernels(cases)
    failures = []
    for k, case in enumerate(cases):
        operands = operands_of(case, np.random.default_rng(k))
        got = kernels(k, operands)
        wrong, want = differing(case, operands, got)
        if len(wrong) > 0:
            shown = [([x[i] for x in operands], got[i], want[i]) for i in wrong[:3]]
            failures.append(f"{case}: {len(wrong)} of {got.size}, as {shown}")
    assert not failures, "\n".join(failures)


@pytest.mark.needs_nvrtc
@pytest.mark.parametrize("names", GROUPS, ids=lambda names: names[0])
def test_nvrtc_compiles(names):
    cubin, reason, detail = _accel.compile_device_code(device_text(all_cases(names)), 90)
    assert cubin, (reason, detail)
