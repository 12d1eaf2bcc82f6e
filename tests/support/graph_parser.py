"""Parses the text of a graph (src/ir/text/text.h) into the plain data for backends, to evaluate it in NumPy."""

import re
from pathlib import Path

import numpy as np

from accel.backends import Graph


def _op_classes():
    table = Path(__file__).resolve().parents[2] / "src" / "ir" / "ops.inc"
    return dict(re.findall(r"^OP\((\w+), (\w+),", table.read_text(), re.M))


def split(text):
    """The parts of a list, at its outermost commas."""
    parts, depth, start = [], 0, 0
    for at, char in enumerate(text + ","):
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(char, 0)
        if char == "," and depth == 0:
            parts.append(text[start:at].strip())
            start = at + 1
    return [part for part in parts if part]


def parse_type(text):
    kind, dtype, shape, order = re.match(r"(\w+) (\w+)(?:\[(.*?)\])?(?: order\((.*?)\))?$", text).groups()
    sizes = split(shape or "")
    axes = [int(k) for k in split(order)] if order else list(range(len(sizes)))
    return {"kind": kind, "dtype": dtype, "shape": sizes, "order": axes}


def values(text):
    return [int(name[1:]) for name in split(text)]


def _literal(text, type_):
    if type_["dtype"] == "bool":
        value = text == "true"
    elif type_["dtype"].startswith("complex"):
        real, imaginary = split(text[1:-1])
        value = complex(float(real), float(imaginary))
    else:
        value = float(text) if type_["dtype"].startswith("float") else int(text)
    return np.dtype(type_["dtype"]).type(value)


def _attributes(text, types):
    found = {"axes": [], "dims": [], "steps": [], "ufunc": "add", "buffered": False, "literal": None}
    for part in split(text or ""):
        name, _, value = part.partition(" = ")
        if name == "axes":
            found[name] = [int(k) for k in split(value[1:-1])]
        elif name in ("dims", "steps"):
            found[name] = split(value[1:-1])
        else:
            found[name] = _literal(value, types[0]) if name == "literal" else True if name == "buffered" else value
    return found


_NODE = re.compile(r"(.*?) = (\w+)\((.*?)\)(?: \{(.*)\})? : (.*?)(?: @ .*)?$")
_INPUT = re.compile(r'input %(\d+) "(.*?)" : (.*?) (?:slot (\d+)|(dense|strided).*)$')
_TARGET = r"b(\d+)\((.*?)\)"


def _node(line, classes):
    results, op, operands, attributes, types = _NODE.match(line).groups()
    types = [parse_type(t) for t in split(types)]
    node = {"op": op, "class": classes[op], "operands": values(operands), "results": values(results), "types": types}
    return node | _attributes(attributes, types) | {"file": "", "line": 0}


def _end(line):
    end = {"kind": line.split("(")[0].split()[0], "operands": [], "exit": 0, "targets": [], "arguments": []}
    if end["kind"] in ("ret", "leave"):
        number, operands = re.match(r"\w+ ?(\d*)\((.*)\)", line).groups()
        return end | {"exit": int(number or 0), "operands": values(operands)}
    if end["kind"] == "branch":
        end["operands"] = values(re.match(r"branch\((.*?)\)", line).group(1))
    for target, arguments in re.findall(_TARGET, line):
        end["targets"].append(int(target))
        end["arguments"].append(values(arguments))
    return end


def parse_graph(text):
    """The graph as `accel.backends.Graph`."""
    classes = _op_classes()
    data = {"symbols": [], "inputs": [], "blocks": []}
    for line in map(str.strip, text.splitlines()):
        if line.startswith("symbol "):
            data["symbols"].append(re.match(r'symbol s\d+ "(.*)" =', line).group(1))
        elif line.startswith("input "):
            value, name, type_, slot, layout = _INPUT.match(line).groups()
            spec = {"value": int(value), "name": name, "layout": layout or "dense", "slot": int(slot or -1)}
            data["inputs"].append(spec | parse_type(type_))
        elif header := re.match(r"b\d+(?:\((.*)\))?:$", line):
            params = [param.split(" : ") for param in split(header.group(1) or "")]
            block = {"params": [{"value": int(name[1:]), **parse_type(t)} for name, t in params], "nodes": [], "end": None}
            data["blocks"].append(block)
        elif re.match(r"(ret|leave|jump|branch)\b", line):
            block["end"] = _end(line)
        elif " = " in line and line.startswith("%"):
            block["nodes"].append(_node(line, classes))
    return Graph(data)
