"""A small evaluator of graph text (src/ir/text/text.h) in NumPy: inputs and views, as in the golden texts of reductions."""

import re
from dataclasses import dataclass

import numpy as np

_VALUE = re.compile(r"\s*(?:input )?(%\d+)(?: = (\w+)\((.*?)\)(?: \{(.*)\})?| \".*?\") : array (\w+)\[(.*?)\](.*)$")


@dataclass
class Reduction:
    operand: str
    axes: tuple[int, ...]
    ufunc: str
    dtype: np.dtype


def evaluate_dim(text, symbols):
    """Value of a dim's text, which is a Python expression."""
    return eval(text, {"min": min, "max": max, **symbols})


def _dims(text, symbols):
    parts, depth, start = [], 0, 0
    for at, char in enumerate(text + ","):
        depth += {"(": 1, ")": -1}.get(char, 0)
        if char == "," and depth == 0:
            parts.append(text[start:at].strip())
            start = at + 1
    return tuple(evaluate_dim(part, symbols) for part in parts if part)


def _attribute(text, name):
    found = re.search(name + r" = \[(.*?)\]", text or "")
    return found.group(1) if found else ""


def _random(shape, dtype, rng):
    scale = 10.0 ** rng.integers(-3, 4, shape)
    values = rng.standard_normal(shape) * scale
    if dtype.kind == "c":
        values = values + 1j * rng.standard_normal(shape)
    return (values * 100 if dtype.kind in "iu" else values).astype(dtype)


def _input(shape, dtype, layout, symbols, rng):
    order = re.search(r"order\((.*?)\)", layout)
    axes = [int(k) for k in order.group(1).split(",")] if order else list(range(len(shape)))
    strided = re.search(r"strided\((.*)\)", layout)
    if strided:
        strides = _dims(strided.group(1), symbols)
        items = 1 + sum((n - 1) * s for n, s in zip(shape, strides, strict=True)) // dtype.itemsize
        return np.lib.stride_tricks.as_strided(_random(items, dtype, rng), shape, strides)
    return _random([shape[k] for k in axes], dtype, rng).transpose(np.argsort(axes))


def _view(op, operand, attributes, shape, symbols):
    axes = _dims(_attribute(attributes, "axes"), symbols)
    if op == "slice":
        starts, steps = (_dims(_attribute(attributes, name), symbols) for name in ("dims", "steps"))
        cuts = []
        for start, step, extent in zip(starts, steps, shape, strict=True):
            stop = start + step * extent
            cuts.append(slice(start, stop if stop >= 0 else None, step))
        return operand[tuple(cuts)]
    views = {
        "transpose": lambda: operand.transpose(axes),
        "expand_dims": lambda: np.expand_dims(operand, axes),
        "broadcast_to": lambda: np.broadcast_to(operand, shape),
        "reshape": lambda: operand.reshape(shape),
        "real": lambda: operand.real,
        "imag": lambda: operand.imag,
    }
    return views[op]()


def evaluate(text, symbols, rng):
    """Values of a straight-line graph for random inputs, and its reductions, which are not evaluated."""
    values, reductions = {}, []
    for line in text.splitlines():
        reduced = re.match(r"\s*%\d+ = reduce\((%\d+)\) \{axes = \[(.*?)\], ufunc = (\w+).*\} : \w+ (\w+)", line)
        found = _VALUE.match(line)
        if reduced:
            operand, axes, ufunc, dtype = reduced.groups()
            reductions.append(Reduction(operand, tuple(int(k) for k in axes.split(",")), ufunc, np.dtype(dtype)))
        elif found:
            name, op, operands, attributes, dtype, shape, layout = found.groups()
            shape = _dims(shape, symbols)
            if op:
                values[name] = _view(op, values[operands], attributes, shape, symbols)
            else:
                values[name] = _input(shape, np.dtype(dtype), layout, symbols, rng)
    return values, reductions
