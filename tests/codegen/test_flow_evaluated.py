"""Kernels of graphs with control flow against the same graphs evaluated in NumPy, operation by operation."""

import sys
from pathlib import Path

import numpy as np
import pytest
import test_flow as flow
from kernels import GraphKernel, same_bits

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.graph_parser import parse_graph

from accel.backends import evaluate

RNG = np.random.default_rng(0)


def agree(text, symbols, arrays):
    """Both leave through the same exit, which is returned, with the same bits, and with the same arguments afterwards."""
    graph = parse_graph(text)
    given = [a.copy() for a in arrays]
    with np.errstate(all="ignore"):
        scalars = iter(arrays)
        inputs = [next(scalars) if i["kind"] == "array" else symbols[i["slot"]] for i in graph.inputs]
        exit_, expected = evaluate(graph, [*symbols, *inputs])
    status, taken, results = GraphKernel(text)(symbols, given, accepted=15)
    assert status & ~15 == 0
    assert taken == exit_
    assert len(results) == len(expected)
    for result, value in zip([*results, *given], [*expected, *arrays], strict=True):
        assert same_bits(result, value)
    return exit_


def plane(n):
    return flow.plane(n, n)


CASES = {
    "sum": (flow.SUM, lambda n: ([n, 0], [RNG.normal(size=n)])),
    "fibonacci": (flow.FIBONACCI, lambda n: ([n], [])),
    "collatz": (flow.COLLATZ, lambda n: ([n + 1], [])),
    "power iteration": (flow.POWER_ITERATION, lambda n: ([n, 3], [RNG.uniform(size=(n, n)), RNG.uniform(size=n)])),
    "elements": (flow.ELEMENTS, lambda n: ([n, 8, *[0] * 8], [*RNG.normal(size=(2, n)), np.zeros(n)])),
    "jacobi": (flow.JACOBI, lambda n: ([n + 2, 3, *[0] * 8], [RNG.normal(size=(n + 2, n + 2))])),
    "jacobi in place": (flow.JACOBI_IN_PLACE, lambda n: ([n + 2, 3, *[0] * 8], [RNG.normal(size=(n + 2, n + 2))])),
    "mandelbrot": (flow.MANDELBROT, lambda n: ([n, n, 20, 0], [plane(n)])),
}


@pytest.mark.parametrize("n", [1, 7, 33])
@pytest.mark.parametrize("name", CASES)
def test_agree(name, n):
    text, arguments = CASES[name]
    assert agree(text, *arguments(n)) == 0


def test_exits():
    assert agree(flow.FIBONACCI, [50], []) == 0
    assert agree(flow.FIBONACCI, [1000], []) == 1


def test_masked_store():
    graph = parse_graph(flow.MASKED)
    x = RNG.normal(size=300)
    given = x.copy()
    with np.errstate(all="raise"):  # elements outside of the mask do not exist: no event
        new, before = evaluate(graph, [300, x])
    status, _, results = GraphKernel(flow.MASKED)([300], [given])
    assert status == 0
    assert same_bits(given, x)
    assert [new, before] == [r[()] for r in results]


# d = count[a, b] = number of the last row of `at` that names (a, b); sum of x over these places; x + 1 where it is small.
GATHERED = """\
graph {
  symbol s0 "n" = 10
  symbol s1 "m" = 10
  input %0 "x" : array float64[s0] dense
  input %1 "at" : array int64[s1] dense
  input %2 "k" : array float64[s1] dense
  b0:
    %3 = take(%0, %1) : array float64[s1]
    %4 = put(%0, %2, %1) : array float64[s0]
    %5 = reduce(%3) {axes = [0], ufunc = add} : numpy_scalar float64
    %6 = constant() {literal = 0.0} : numpy_scalar float64
    %7 = less(%5, %6) : numpy_scalar bool
    branch(%7) b1() b2()
  b1:
    %8 = copy(%4) : array float64[s0]
    %9 = put(%8, %3, %1) : array float64[s0]
    ret(%9)
  b2:
    leave 1(%3)
}
"""


def test_take_and_put():
    taken = set()
    for _ in range(6):
        x, at = RNG.normal(size=20), RNG.integers(0, 20, 15)
        taken.add(agree(GATHERED, [20, 15], [x, at, RNG.normal(size=15)]))
    assert taken == {0, 1}


CHECKED = """\
graph {{
  symbol s0 "n" = 10
  input %0 "x" : array int64[s0] dense
  input %1 "y" : array int64[s0] dense
  b0:
    %2 = {op}_overflows(%0, %1) : array bool[s0]
    %3 = {op}(%0, %1) : array int64[s0]
    jump b1()
  b1:
    ret(%2, %3)
}}
"""


@pytest.mark.parametrize("op", ["add", "subtract", "multiply"])
def test_checked_integers(op):
    edges = np.array([0, 1, -1, 2, 2**31, 2**32, 3037000500, 2**62, 2**63 - 1, -(2**63), -(2**62)])
    x, y = (a.ravel().copy() for a in np.meshgrid(edges, edges))
    assert agree(CHECKED.format(op=op), [len(x)], [x, y]) == 0
