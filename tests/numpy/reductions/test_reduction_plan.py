"""NumPy adds in the order that the goldens in tests/golden/ir/reduction_plan say: sums are emulated by plan and compared by
bits.
"""

import pathlib
import re

import numpy as np
import pytest
from support.graph_text import evaluate, evaluate_dim

GOLDENS = [
    path
    for path in sorted((pathlib.Path(__file__).parents[2] / "golden" / "ir" / "reduction_plan").glob("*.ir"))
    if "ufunc = add" in path.read_text() and "known yes" in path.read_text() and not path.stem.startswith("masked")
]

# Around the tree's leaves, the buffer and half of it, and the smallest sizes.
SIZES = [1, 2, 3, 5, 7, 8, 9, 16, 63, 100, 127, 128, 129, 130, 300, 1000, 2731, 4095, 4096, 4097, 5461, 8191, 8192, 8193, 20000]


def parse_plan(text):
    plan = dict(line.split(" ", 1) for line in text.splitlines())
    return {key: eval(value) if value.startswith("[") else value for key, value in plan.items()}


def tree(x):
    """Pairwise sum as src/ir/analysis/reduction_plan.h states it; complex numbers count twice and have half as many lanes."""
    width = 4 if x.dtype.kind == "c" else 8
    n = len(x)
    if n < width:
        total = x.dtype.type(complex(-0.0, -0.0)) if width == 4 else x.dtype.type(-0.0)
        for value in x:
            total = total + value
        return total
    if n > 16 * width:
        half = n // 2 - n // 2 % width
        if width == 4:  # m = 2 n numbers, halved and rounded down to a multiple of 8
            half = (n - n % 8) // 2
        return tree(x[:half]) + tree(x[half:])
    whole = n - n % width
    lanes = x[:width].copy()
    for start in range(width, whole, width):
        lanes = lanes + x[start : start + width]
    while len(lanes) > 1:
        lanes = lanes[0::2] + lanes[1::2]
    total = lanes[0]
    for value in x[whole:]:
        total = total + value
    return total


def pieces(run, block, chunk):
    for begin in range(0, len(run), block):
        for start in range(begin, min(begin + block, len(run)), chunk):
            yield run[start : min(start + chunk, begin + block)]


def planned_sum(operand, axes, dtype, plan, symbols):
    outer, run = plan["outer"], plan["run"]
    kept = [k for k in range(operand.ndim) if k not in axes]
    x = operand.transpose(kept + outer + run).astype(dtype)
    shape = [operand.shape[k] for k in kept]
    if not run:
        total = np.zeros(shape, dtype)
        for row in np.moveaxis(x.reshape([*shape, -1]), -1, 0):
            total = total + row
        return total
    length = int(np.prod([operand.shape[k] for k in run]))
    block, chunk = (length if plan[name] == "none" else evaluate_dim(plan[name], symbols) for name in ("block", "chunk"))
    runs = x.reshape([int(np.prod(shape)), -1, length])
    work = np.dtype("f4") if dtype == np.float16 else dtype
    result = np.empty(len(runs), dtype)
    for index, steps in enumerate(runs):
        total = dtype.type(0)
        for step in steps:
            for piece in pieces(step.astype(work), block, chunk):
                total = dtype.type(work.type(total) + tree(piece))
        result[index] = total
    return result.reshape(shape)


def choose_symbols(text, plan, rng, limit):
    names = dict(re.findall(r"symbol (s\d+) \"(.*?)\"", text))
    order = list(names)
    rng.shuffle(order)
    guarded = _guarded(text, plan)
    values, budget = {}, limit
    for name in order:
        fitting = [n for n in SIZES if n <= budget and (n > 1 or name not in guarded)]
        values[name] = int(rng.choice(fitting or [2]))
        budget = max(budget // values[name], 1)
    for name, meaning in names.items():
        if "strides" in meaning:  # rows of s1 float64, with a gap or without
            values[name] = 8 * (values["s1"] + int(rng.integers(0, 2)))
    return values


def _guarded(text, plan):
    """Symbols that the plan assumes not to be 1."""
    operand = re.search(r"= reduce\((%\d+)\)", text).group(1)
    shape = re.search(re.escape(operand) + r"(?: \".*?\"| = .*?) : array \w+\[(.*?)\]", text).group(1).split(", ")
    return {shape[axis] for axis in plan["specialised_on_one"]}


@pytest.mark.parametrize("golden", GOLDENS, ids=lambda path: path.stem)
def test_sums_have_the_planned_order(golden):
    text, expected = golden.read_text().split("---\n")
    plan = parse_plan(expected)
    rng = np.random.default_rng(len(text))
    for _ in range(12):
        symbols = choose_symbols(text, plan, rng, int(rng.choice([100, 3000, 40000, 120000])))
        values, (reduction,) = evaluate(text, symbols, rng)
        operand = values[reduction.operand]
        with np.errstate(all="ignore"):
            numpys = np.add.reduce(operand, axis=reduction.axes, dtype=reduction.dtype)
            planned = planned_sum(operand, reduction.axes, reduction.dtype, plan, symbols)
        assert np.asarray(numpys).tobytes() == planned.astype(reduction.dtype).tobytes(), symbols
