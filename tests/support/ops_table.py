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
