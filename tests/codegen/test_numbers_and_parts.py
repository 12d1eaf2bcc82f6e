"""Kernels of operations on arrays without axes and on parts of complex ones: g++ takes them. They are compiled, not run."""

import subprocess

import numpy as np
import pytest
from graph_text import GraphText
from host_compiler import host_compiler
from kernels import FLAGS
from support.ops_table import NUMERIC, ROWS, loops

from accel import _accel

NAMES = {char: np.dtype(char).name for char in NUMERIC}


class Numbers(GraphText):
    """A graph over arrays without axes: those of arguments and those of its own, which stores replace."""

    def __init__(self):
        super().__init__()
        self.whole = {}

    def of(self, char, is_argument):
        """Such an array of a dtype, made before."""
        return self.whole[char, is_argument]

    def make(self, char):
        kind = f"array {NAMES[char]}[]"
        self.whole[char, True] = self.array(NAMES[char], "")
        return kind

    def make_own(self, char):
        literal = {"?": "false", "F": "(0, 0)", "D": "(0, 0)"}.get(char, "0")
        number = self.node("constant", [], f"numpy_scalar {NAMES[char]}", f"literal = {literal}")
        self.whole[char, False] = self.node("full", [number], f"array {NAMES[char]}[]")

    def part(self, which, char, is_argument):
        return self.node(which, [self.of(char, is_argument)], f"array {NAMES[char.lower()]}[]")

    def set(self, char, is_argument, value, *mask):
        whole = self.of(char, is_argument)
        self.whole[char, is_argument] = self.store(whole, whole, value, *mask)

    def set_part(self, which, char, is_argument, value, *mask):
        view = self.part(which, char, is_argument)
        self.whole[char, is_argument] = self.store(self.of(char, is_argument), view, value, *mask)


def graph_of(name, is_argument):
    """Every loop of a row on arrays without axes; its results are stored whole, as parts, and under a mask."""
    graph = Numbers()
    chars = sorted({*"".join(loops(name)), *"FD?"})
    for char in chars:
        graph.make(char)
    for char in chars:
        graph.make_own(char)
    for types in loops(name):
        operands, results = types[: int(ROWS[name]["arity"])], types[int(ROWS[name]["arity"]) :]
        for parts in (None, "real", "imag"):
            if parts and not set(operands) & set("fd"):
                continue
            given = [
                graph.part(parts, c.upper(), is_argument) if parts and c in "fd" else graph.of(c, is_argument) for c in operands
            ]
            names = [graph.name() for _ in results]
            kinds = [f"array {NAMES[c]}[]" for c in results]
            graph.line(f"{', '.join(names)} = {name}({', '.join(given)}) : {', '.join(kinds)}")
            for value, char in zip(names, results, strict=True):
                graph.set(char, is_argument, value)
                if char in "fd":
                    graph.set_part("imag", char.upper(), is_argument, value)
                    graph.set_part("real", char.upper(), is_argument, value, graph.of("?", is_argument))
    graph.ret(*[graph.of(char, is_argument) for char in chars])
    return graph.text()


ELEMENTWISE = [name for name, row in ROWS.items() if row["cls"] == "pointwise"]


@pytest.mark.parametrize("is_argument", [False, True], ids=["own", "argument"])
@pytest.mark.parametrize("names", [ELEMENTWISE[k::8] for k in range(8)], ids=lambda names: names[0])
def test_compiles(names, is_argument):
    texts = [_accel.emit_graph(graph_of(name, is_argument)) for name in names]
    for name, text in zip(names, texts, strict=True):
        done = subprocess.run(
            [*host_compiler(), *FLAGS, "-fsyntax-only", "-"], input=text, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{name}:\n{done.stderr[:2000]}"
