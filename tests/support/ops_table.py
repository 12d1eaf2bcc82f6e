"""The rows of src/ir/ops.inc, and NumPy's inner loops for them."""

import csv
import itertools
import pathlib
import re

import numpy as np
from numpy._core import umath

SOURCE = pathlib.Path(__file__).parents[2] / "src" / "ir" / "ops.inc"
COLUMNS = ["name", "cls", "arity", "inline", "events", "identity", "cpp", "cuda", "results"]


def _rows():
    for line in SOURCE.read_text().splitlines():
        found = re.match(r"OP\((.*?)\)\s*(?://.*)?$", line)
        if found:
            cells = next(csv.reader([found.group(1)], skipinitialspace=True))
            yield dict(itertools.zip_longest(COLUMNS, cells))


ROWS = {row["name"]: row for row in _rows()}
NUMERIC = set("?bBhHiIlLqQefdFD")
# NumPy's ufuncs, except those for strings, dates or objects alone.
UFUNCS = {
    function.__name__: function
    for function in vars(umath).values()
    if isinstance(function, np.ufunc)
    and not function.__name__.startswith("_")
    and any(set(types) - set("->") <= NUMERIC for types in function.types)
}
# Rows for one result of a ufunc with several: the ufunc, and the number of the result.
RESULTS = {
    part: (name, k)
    for name, row in ROWS.items()
    if int(row["results"] or 1) > 1
    for k, part in enumerate(row["cuda"].split())
    if part not in UFUNCS
}
# Dtypes of operands and result of the rows that are no ufuncs.
PYTHON = {
    "math_fails": "ddd?",
    "math_ldexp": "dld",
    "math_exponent": "dl",
    "math_gcd": "lll",
    "math_isqrt": "ll",
    "cmath_rect": "ddD",
    "complex_divide": "DDD",
    "c99_multiply": "DDD",
    "c99_divide": "DDD",
    "c99_divide_real": "DDD",
    "fused_multiply": "DDD FFF",
    "scalar_multiply": "DDD FFF",
    "compose": "ddD ffF",
    "int_power": "lll",
    "add_overflows": "ll? LL? bb? II?",
    "subtract_overflows": "ll? LL? bb? II?",
    "multiply_overflows": "ll? LL? bb? II?",
    "int_power_overflows": "ll?",
    "overflow_event": "??",
    "lanes": "d?d e?e F?F l?l",
    "copy": "DD ee bb",
}


def loops(name, every=False):
    """Dtypes of operands and results, a letter each, of the loops of an element-wise row; `every`: of rows with many, too."""
    if name in ("where", "merge"):
        return [f"?{char}{char}{char}" for char in sorted(NUMERIC)]
    if name == "astype":
        chars = "?bhilBHILefdFD" if every else "?bLefdFD"
        return [a + b for a in chars for b in chars]
    if name in PYTHON:
        return PYTHON[name].split()
    if name in RESULTS:
        whole, k = RESULTS[name]
        arity = int(ROWS[whole]["arity"])
        return [types[:arity] + types[arity + k] for types in loops(whole)]
    if name not in UFUNCS:
        return ["D" * (int(ROWS[name]["arity"]) + 1) if name.startswith("cmath_") else "d" * (int(ROWS[name]["arity"]) + 1)]
    found = [types.replace("->", "") for types in UFUNCS[name].types if set(types) - set("->") <= NUMERIC]
    if name == "power" and not every:  # of integers: int_power
        found = [types for types in found if types[0] in "efdFD"]
    return found


def special_values(char):
    """Numbers of a dtype that functions treat as special, or are near such."""
    kind = np.dtype(char).kind
    if kind == "b":
        return np.array([False, True])
    if kind in "iu":
        limits = np.iinfo(char)
        return np.array(
            [n for n in (0, 1, 2, 3, 63, limits.min, limits.max, -1, -2, -3) if limits.min <= n <= limits.max], char
        )
    limits = np.finfo(char)
    reals = [0.0, -0.0, 1, -1, 0.5, -2, 3, 1e3, 0.1, 89, -104, 710, -745, np.inf, -np.inf, np.nan]
    reals += [limits.max, -limits.max, limits.tiny, limits.smallest_subnormal, limits.eps]
    reals = np.array(reals, limits.dtype)
    if kind == "f":
        return reals
    parts = np.array(list(itertools.product(reals, reals)))
    return (parts[:, 0] + 1j * parts[:, 1]).astype(char)
