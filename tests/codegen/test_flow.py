"""Kernels of graphs with control flow, from graph text, against Python."""

import numpy as np
import pytest
from kernels import GraphKernel, same_bits

SUM = """\
graph {
  symbol s0 "n" = 10
  symbol s1 "i" = 0
  input %0 "x" : array float64[s0] dense
  b0:
    %1 = constant() {literal = 0} : py_scalar int64
    %2 = constant() {literal = 1} : py_scalar int64
    %3 = constant() {literal = 0.0} : py_scalar float64
    %4 = dim() {dims = [s0]} : py_scalar int64
    jump b1(%1, %3)
  b1(%5 : py_scalar int64, %6 : py_scalar float64):
    %7 = less(%5, %4) : py_scalar bool
    branch(%7) b2() b3()
  b2:
    %8 = bind(%5) {dims = [s1]} : py_scalar int64
    %9 = slice(%0) {dims = [s1], steps = [1]} : array float64[1]
    %10 = squeeze(%9) {axes = [0]} : numpy_scalar float64
    %11 = add(%6, %10) : py_scalar float64
    %12 = add(%5, %2) : py_scalar int64
    jump b1(%12, %11)
  b3:
    ret(%6)
}
"""


def test_sum():
    x = np.random.default_rng(0).normal(size=1000)
    total = 0.0
    for value in x:
        total += value
    status, taken, (result,) = GraphKernel(SUM)([1000, 0], [x])
    assert (status, taken) == (0, 0)
    assert result == total
    assert GraphKernel(SUM)([0, 0], [x[:0]])[2][0] == 0


FIBONACCI = """\
graph {
  input %0 "n" : py_scalar int64 slot 0
  symbol s0 "n" = 10
  b0:
    %1 = constant() {literal = 0} : py_scalar int64
    %2 = constant() {literal = 1} : py_scalar int64
    jump b1(%1, %1, %2)
  b1(%3 : py_scalar int64, %4 : py_scalar int64, %5 : py_scalar int64):
    %6 = less(%3, %0) : py_scalar bool
    branch(%6) b2() b4()
  b2:
    %7 = add(%4, %5) : py_scalar int64
    %8 = add_overflows(%4, %5) : py_scalar bool
    branch(%8) b5() b3()
  b3:
    %9 = add(%3, %2) : py_scalar int64
    jump b1(%9, %5, %7)
  b4:
    ret(%4)
  b5:
    leave 1(%3, %4, %5)
}
"""


def fibonacci(n):
    a, b = 0, 1
    for i in range(n):
        if a + b >= 1 << 63:
            return 1, [i, a, b]
        a, b = b, a + b
    return 0, [a]


@pytest.mark.parametrize("n", [0, 1, 2, 50, 90, 91, 92, 93, 1000])
def test_fibonacci(n):
    text = FIBONACCI.replace('  input %0 "n" : py_scalar int64 slot 0\n  symbol s0 "n" = 10\n', '  symbol s0 "n" = 10\n  input %0 "n" : py_scalar int64 slot 0\n')
    status, taken, results = GraphKernel(text)([n])
    assert status == 0
    assert (taken, [int(r) for r in results]) == fibonacci(n)


COLLATZ = """\
graph {
  symbol s0 "n" = 10
  input %0 "n" : py_scalar int64 slot 0
  b0:
    %1 = constant() {literal = 0} : py_scalar int64
    %2 = constant() {literal = 1} : py_scalar int64
    %3 = constant() {literal = 2} : py_scalar int64
    %4 = constant() {literal = 3} : py_scalar int64
    jump b1(%0, %1)
  b1(%5 : py_scalar int64, %6 : py_scalar int64):
    %7 = not_equal(%5, %2) : py_scalar bool
    branch(%7) b2() b6()
  b2:
    %8 = remainder(%5, %3) : py_scalar int64
    %9 = equal(%8, %1) : py_scalar bool
    branch(%9) b3() b4()
  b3:
    %10 = floor_divide(%5, %3) : py_scalar int64
    jump b5(%10)
  b4:
    %11 = multiply(%5, %4) : py_scalar int64
    %12 = add(%11, %2) : py_scalar int64
    jump b5(%12)
  b5(%13 : py_scalar int64):
    %14 = add(%6, %2) : py_scalar int64
    jump b1(%13, %14)
  b6:
    ret(%6)
}
"""


def collatz(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else n * 3 + 1
        steps += 1
    return steps


@pytest.mark.parametrize("n", [1, 2, 27, 97, 837799])
def test_collatz(n):
    status, _, (steps,) = GraphKernel(COLLATZ)([n])
    assert (status, steps) == (0, collatz(n))


# x = v / |v| after v = A @ x, `s2` times.
POWER_ITERATION = """\
graph {
  symbol s0 "n" = 100
  symbol s1 "steps" = 10
  input %0 "A" : array float64[s0, s0] dense
  input %1 "x" : array float64[s0] dense
  input %2 "steps" : py_scalar int64 slot 1
  b0:
    %3 = constant() {literal = 0} : py_scalar int64
    %4 = constant() {literal = 1} : py_scalar int64
    jump b1(%3, %1)
  b1(%5 : py_scalar int64, %6 : array float64[s0]):
    %7 = less(%5, %2) : py_scalar bool
    branch(%7) b2() b3()
  b2:
    %8 = matvec(%0, %6) : array float64[s0]
    %9 = multiply(%8, %8) : array float64[s0]
    %10 = reduce(%9) {axes = [0], ufunc = add} : numpy_scalar float64
    %11 = sqrt(%10) : numpy_scalar float64
    %12 = divide(%8, %11) : array float64[s0]
    %13 = add(%5, %4) : py_scalar int64
    jump b1(%13, %12)
  b3:
    ret(%6)
}
"""


@pytest.mark.parametrize("steps", [0, 1, 2, 9])
def test_power_iteration(steps):
    rng = np.random.default_rng(0)
    a, x = rng.uniform(size=(50, 50)), rng.uniform(size=50)
    expected = x
    for _ in range(steps):
        v = np.matvec(a, expected)
        expected = v / np.sqrt((v * v).sum())
    kernel = GraphKernel(POWER_ITERATION)
    status, _, (result,) = kernel([50, steps], [a, x])
    assert status == 0
    assert same_bits(result, expected)
