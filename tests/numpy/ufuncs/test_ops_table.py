"""The op table (src/ir/ops.inc) agrees with the installed NumPy."""

import numpy as np
import pytest
from support.ops_table import NUMERIC, RESULTS, ROWS, UFUNCS, special_values

IDENTITIES = {
    "0": {"0"},
    "1": {"1"},
    "True": {"true"},
    "False": {"false"},
    "-1": {"-1"},
    "-inf": {"-inf"},
    "None": {""},
}
BITS = {"divide by zero": "d", "overflow": "o", "underflow": "u", "invalid value": "v"}


# Element-wise rows that are no ufuncs.
NOT_UFUNCS = {
    "where",
    "astype",
    "copy",
    "lanes",
    "fused_multiply",
    "compose",
    "merge",
    "add_overflows",
    "subtract_overflows",
    "multiply_overflows",
    "overflow_event",
    "scalar_floor_divide",
    "scalar_multiply",
    "scalar_power",
    "scalar_remainder",
    "int_power",
    "int_power_overflows",
    "float_floor_divide",
    "float_remainder",
    "complex_divide",
    "c99_multiply",
    "c99_divide",
    "c99_divide_real",
    "squared_deviations",
    *RESULTS,
}
POINTWISE = [
    name
    for name, row in ROWS.items()
    if row["cls"] == "pointwise" and name not in NOT_UFUNCS and not name.startswith(("math_", "cmath_"))
]


def test_every_ufunc_has_a_row():
    assert UFUNCS.keys() <= ROWS.keys()


def test_every_pointwise_row_is_a_ufunc():
    assert set(POINTWISE) <= UFUNCS.keys()


@pytest.mark.parametrize("name", sorted(UFUNCS))
def test_arity_and_results(name):
    assert int(ROWS[name]["arity"]) == UFUNCS[name].nin
    assert int(ROWS[name]["results"] or 1) == UFUNCS[name].nout


@pytest.mark.parametrize("name", POINTWISE)
def test_identity(name):
    assert ROWS[name]["identity"] in IDENTITIES[str(UFUNCS[name].identity)]


@pytest.mark.parametrize("name", POINTWISE)
def test_inline_dtypes_have_a_loop_in_numpy(name):
    letters = {"b": "?", "i": "bhil", "u": "BHIL", "e": "e", "f": "fd", "c": "FD"}
    firsts = {types[0] for types in UFUNCS[name].types}
    for letter in ROWS[name]["inline"]:
        assert set(letters[letter]) & firsts, letter


def _raised(function, chars):
    """Letters of the events that NumPy raises for some of many values."""
    seen = set()
    operands = [special_values(char) for char in chars]
    if len(operands) > 1:
        limit = 60 if len(operands) == 2 else 14
        grid = np.meshgrid(*[values[:: max(1, len(values) // limit)] for values in operands])
        operands = [values.ravel() for values in grid]
    with np.errstate(all="call", call=lambda kind, _: seen.add(BITS[kind])):
        try:
            function(*operands)
        except ValueError:
            seen.add("E")
    return seen


def _stated(row, char):
    kind = np.dtype(char).kind
    real, _, complex_only = row["events"].partition("|")
    if kind in "biu":
        return {letter if letter == "E" else letter.lower() for letter in row["events"] if letter.isupper()}
    return {letter for letter in (real + complex_only if kind == "c" else real) if letter.islower()}


@pytest.mark.parametrize("name", POINTWISE)
def test_no_event_is_missing(name):
    for types in UFUNCS[name].types:
        chars = types.split("->")[0]
        if set(chars) <= NUMERIC:
            assert _raised(UFUNCS[name], chars) <= _stated(ROWS[name], chars[0]), types
