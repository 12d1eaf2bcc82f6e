"""Kernels of graphs with control flow, from graph text, against Python."""

import numpy as np
import pytest
from kernels import NO_MEMORY, OVERFLOW, GraphKernel, same_bits

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
  symbol s0 "n" = 10
  input %0 "n" : py_scalar int64 slot 0
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
    status, taken, results = GraphKernel(FIBONACCI)([n])
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


def loop_over(count, body, carried=(), outputs="", inputs=""):
    """Text of `for i in range(count): body` with symbol s9 = i. carried: (parameter, type, first value, next value)."""
    params = ", ".join(f"{p} : {t}" for p, t, _, _ in carried)
    return f"""\
graph {{
{inputs}
  b0:
    %900 = constant() {{literal = 0}} : py_scalar int64
    %901 = constant() {{literal = 1}} : py_scalar int64
    %902 = dim() {{dims = [{count}]}} : py_scalar int64
    jump b1(%900{"".join(", " + first for _, _, first, _ in carried)})
  b1(%903 : py_scalar int64{", " if params else ""}{params}):
    %904 = less(%903, %902) : py_scalar bool
    branch(%904) b2() b3()
  b2:
    %905 = bind(%903) {{dims = [s9]}} : py_scalar int64
{body}
    %906 = add(%903, %901) : py_scalar int64
    jump b1(%906{"".join(", " + after for _, _, _, after in carried)})
  b3:
    ret({outputs})
}}
"""


def symbols(count):
    return "\n".join(f'  symbol s{k} "s{k}" = 10' for k in range(count))


# for i in range(n): out[i] = a[i] * b[i] + i
ELEMENTS = loop_over(
    "s0",
    """\
    %10 = slice(%0) {dims = [s9], steps = [1]} : array float64[1]
    %11 = squeeze(%10) {axes = [0]} : numpy_scalar float64
    %12 = slice(%1) {dims = [s9], steps = [1]} : array float64[1]
    %13 = squeeze(%12) {axes = [0]} : numpy_scalar float64
    %14 = multiply(%11, %13) : numpy_scalar float64
    %15 = astype(%905) : numpy_scalar float64
    %16 = add(%14, %15) : numpy_scalar float64
    %17 = slice(%3) {dims = [s9], steps = [1]} : array float64[1]
    %18 = squeeze(%17) {axes = [0]} : array float64[]
    %19 = store(%3, %18, %16) : array float64[s0]""",
    [("%3", "array float64[s0]", "%2", "%19")],
    inputs=symbols(10)
    + '\n  input %0 "a" : array float64[s0] dense\n  input %1 "b" : array float64[s0] dense\n  input %2 "out" : array float64[s0] strided(s1)',
)


@pytest.mark.parametrize("stride", [1, 2, -1])
def test_elements(stride):
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 100))
    memory = np.zeros(200)
    out = memory[::-1][:100] if stride == -1 else memory[: 100 * stride : stride]
    assert GraphKernel(ELEMENTS)([100, out.strides[0]] + [0] * 8, [a, b, out]) == (0, 0, [])
    assert same_bits(out, a * b + np.arange(100))


def test_a_failed_run_leaves_no_trace():
    a, b = np.ones(100), np.ones(100)
    a[50], b[50] = 1e300, 1e300
    memory = np.arange(200.0)
    before = memory.copy()
    kernel = GraphKernel(ELEMENTS)
    status, _, _ = kernel([100, 16] + [0] * 8, [a, b, memory[::2]])
    assert status & OVERFLOW
    assert same_bits(memory, before)
    assert kernel([100, 16] + [0] * 8, [a, b, memory[::2]], accepted=OVERFLOW)[0] & OVERFLOW
    with np.errstate(over="ignore"):
        assert same_bits(memory[::2], a * b + np.arange(100))
    assert same_bits(memory[1::2], before[1::2])
    assert kernel([100, 16] + [0] * 8, [a, b, memory[::2]], allocations=0)[0] == OVERFLOW  # little is kept on the stack
    a, b, memory = np.ones(1000), np.ones(1000), np.arange(1000.0)
    assert kernel([1000, 8] + [0] * 8, [a, b, memory], allocations=0)[0] == NO_MEMORY
    assert same_bits(memory, np.arange(1000.0))


# A sweep: new = a; new[1:-1, 1:-1] = 0.25 * (up + down + left + right); a = new
JACOBI = loop_over(
    "s1",
    """\
    %10 = slice(%3) {dims = [0, 1], steps = [1, 1]} : array float64[s0 - 2, s0 - 2]
    %11 = slice(%3) {dims = [2, 1], steps = [1, 1]} : array float64[s0 - 2, s0 - 2]
    %12 = slice(%3) {dims = [1, 0], steps = [1, 1]} : array float64[s0 - 2, s0 - 2]
    %13 = slice(%3) {dims = [1, 2], steps = [1, 1]} : array float64[s0 - 2, s0 - 2]
    %14 = add(%10, %11) : array float64[s0 - 2, s0 - 2]
    %15 = add(%14, %12) : array float64[s0 - 2, s0 - 2]
    %16 = add(%15, %13) : array float64[s0 - 2, s0 - 2]
    %17 = constant() {literal = 0.25} : py_scalar float64
    %18 = multiply(%17, %16) : array float64[s0 - 2, s0 - 2]
    %19 = copy(%3) : array float64[s0, s0]
    %20 = slice(%19) {dims = [1, 1], steps = [1, 1]} : array float64[s0 - 2, s0 - 2]
    %21 = store(%19, %20, %18) : array float64[s0, s0]""",
    [("%3", "array float64[s0, s0]", "%0", "%21")],
    outputs="%3",
    inputs=symbols(10) + '\n  input %0 "a" : array float64[s0, s0] dense',
)
# The same in the argument's memory: a[1:-1, 1:-1] = ...
JACOBI_IN_PLACE = (
    JACOBI.replace("    %19 = copy(%3) : array float64[s0, s0]\n", "").replace("%19", "%3").replace("ret(%3)", "ret()")
)


@pytest.mark.parametrize("steps", [0, 1, 2, 7])
def test_jacobi(steps):
    a = np.random.default_rng(0).normal(size=(20, 20))
    expected = a.copy()
    for _ in range(steps):
        new = expected.copy()
        new[1:-1, 1:-1] = 0.25 * (expected[:-2, 1:-1] + expected[2:, 1:-1] + expected[1:-1, :-2] + expected[1:-1, 2:])
        expected = new
    before = a.copy()
    status, _, (result,) = GraphKernel(JACOBI)([20, steps] + [0] * 8, [a])
    assert status == 0
    assert same_bits(result, expected)
    assert same_bits(a, before)
    assert GraphKernel(JACOBI_IN_PLACE)([20, steps] + [0] * 8, [a])[0] == 0
    assert same_bits(a, expected)


MASKED = f"""\
graph {{
{symbols(1)}
  input %0 "x" : array float64[s0] dense
  b0:
    %1 = constant() {{literal = 0.0}} : py_scalar float64
    %2 = greater(%0, %1) : array bool[s0]
    %3 = lanes(%0, %2) : array float64[s0]
    %4 = log(%3) : array float64[s0]
    %5 = store(%0, %0, %4, %2) : array float64[s0]
    %6 = reduce(%5) {{axes = [0], ufunc = maximum}} : numpy_scalar float64
    %7 = reduce(%0) {{axes = [0], ufunc = maximum}} : numpy_scalar float64
    ret(%6, %7)
}}
"""


def test_masked_store():
    x = np.random.default_rng(0).normal(size=3000)
    expected = x.copy()
    expected[x > 0] = np.log(x[x > 0])
    old = x.max()
    kernel = GraphKernel(MASKED)
    status, _, (new, before) = kernel([3000], [x])
    assert status == 0
    assert same_bits(x, expected)
    assert (new, before) == (expected.max(), old)


def complex_values(dtype, special):
    part = np.dtype(dtype).type(0).real.dtype
    rng = np.random.default_rng(0)
    if not special:
        return (rng.normal(size=(999, 2)) * 10.0 ** rng.integers(-3, 3, (999, 2))).astype(part).view(dtype)[:, 0].copy()
    info = np.finfo(part)
    edges = np.array([0, 1, np.inf, -np.inf, np.nan, -0.0, info.smallest_subnormal, info.max, info.tiny], part)
    out = np.empty((9, 9), dtype)
    out.real, out.imag = edges[:, None], edges
    return out.ravel()


@pytest.mark.parametrize("special", [False, True])
@pytest.mark.parametrize(("op", "result"), [("multiply", "c"), ("square", "c"), ("absolute", "f")])
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex(dtype, op, result, special):
    a = complex_values(dtype, special)
    b = a[::-1].copy()
    kind = dtype if result == "c" else "float32" if dtype == "complex64" else "float64"
    inputs = [a, b] if op == "multiply" else [a]
    operands = "".join(f'  input %{k} "x" : array {dtype}[s0] dense\n' for k in range(len(inputs)))
    names = ", ".join(f"%{k}" for k in range(len(inputs)))
    text = f'graph {{\n  symbol s0 "n" = 9\n{operands}  b0:\n    %9 = {op}({names}) : array {kind}[s0]\n    jump b1()\n  b1:\n    ret(%9)\n}}\n'
    kernel = GraphKernel(text)
    assert "call_loop(frame, status" not in kernel.text
    with np.errstate(all="ignore"):
        expected = getattr(np, op)(*inputs)
    assert same_bits(kernel([len(a)], inputs, accepted=15)[2][0], expected)


MANDELBROT = """\
graph {
  symbol s0 "c.shape[0]" = 100
  symbol s1 "c.shape[1]" = 100
  symbol s2 "steps" = 50
  symbol s3 "k" = 0
  input %0 "c" : array complex64[s0, s1] dense
  input %1 "steps" : py_scalar int64 slot 2
  b0:
    %2 = constant() {literal = (0.0, 0.0)} : numpy_scalar complex64
    %3 = full(%2) : array complex64[s0, s1]
    %4 = constant() {literal = 0} : py_scalar int64
    %5 = full(%4) : array int64[s0, s1]
    jump b1(%4, %3, %5)
  b1(%6 : py_scalar int64, %7 : array complex64[s0, s1], %8 : array int64[s0, s1]):
    %9 = less(%6, %1) : py_scalar bool
    branch(%9) b2() b3()
  b2:
    %10 = absolute(%7) : array float32[s0, s1]
    %11 = constant() {literal = 2.0} : numpy_scalar float32
    %12 = less(%10, %11) : array bool[s0, s1]
    %13 = broadcast_to(%6) : array int64[s0, s1]
    %14 = store(%8, %8, %13, %12) : array int64[s0, s1]
    %15 = lanes(%7, %12) : array complex64[s0, s1]
    %16 = square(%15) : array complex64[s0, s1]
    %17 = lanes(%0, %12) : array complex64[s0, s1]
    %18 = add(%16, %17) : array complex64[s0, s1]
    %19 = store(%7, %7, %18, %12) : array complex64[s0, s1]
    %20 = constant() {literal = 1} : py_scalar int64
    %21 = add(%6, %20) : py_scalar int64
    jump b1(%21, %19, %14)
  b3:
    ret(%8, %7)
}
"""


def plane(rows, columns):
    x, y = np.linspace(-2.25, 0.75, columns, dtype=np.float32), np.linspace(-1.25, 1.25, rows, dtype=np.float32)
    return np.ascontiguousarray(x[None, :] + 1j * y[:, None]).astype(np.complex64)


def mandelbrot(c, steps):
    z, count = np.zeros_like(c), np.zeros(c.shape, np.int64)
    for k in range(steps):
        inside = abs(z) < 2.0
        count[inside] = k
        z[inside] = z[inside] ** 2 + c[inside]
    return count, z


@pytest.mark.parametrize("steps", [0, 1, 60])
@pytest.mark.parametrize("shape", [(1, 1), (33, 50), (7, 64), (80, 90), (0, 3)])
def test_mandelbrot(shape, steps):
    c = plane(*shape)
    expected = mandelbrot(c, steps)
    kernel = GraphKernel(MANDELBROT)
    assert any("tile by tile" in note for note in kernel.notes)
    status, _, results = kernel([*shape, steps, 0], [c], threads=2)
    assert status == 0
    assert all(same_bits(a, b) for a, b in zip(results, expected, strict=True))
    by_statement = GraphKernel(
        MANDELBROT.replace("%21 = add(%6, %20)", "%21 = add(%20, %6)").replace("less(%6, %1)", "greater(%1, %6)")
    )
    assert not any("tile by tile" in note for note in by_statement.notes)
    assert all(same_bits(a, b) for a, b in zip(by_statement([*shape, steps, 0], [c])[2], expected, strict=True))


READ_BEHIND_STORES = """\
graph {
  symbol s0 "n" = 10
  symbol s1 "i" = 0
  input %0 "x" : array float64[s0] dense
  b0:
    %1 = constant() {literal = 0} : py_scalar int64
    %2 = constant() {literal = 1} : py_scalar int64
    %3 = constant() {literal = 7.0} : numpy_scalar float64
    %4 = dim() {dims = [s0]} : py_scalar int64
    jump b1(%0, %1)
  b1(%5 : array float64[s0], %6 : py_scalar int64):
    %7 = less(%6, %4) : py_scalar bool
    branch(%7) b2() b3()
  b2:
    %8 = bind(%6) {dims = [s1]} : py_scalar int64
    %9 = slice(%5) {dims = [s1], steps = [1]} : array float64[1]
    %10 = squeeze(%9) {axes = [0]} : array float64[]
    %11 = store(%5, %10, %3) : array float64[s0]
    %12 = add(%6, %2) : py_scalar int64
    jump b1(%11, %12)
  b3:
    %13 = add(%0, %5) : array float64[s0]
    ret(%13)
}
"""


@pytest.mark.parametrize("size", [0, 1, 100])
def test_an_old_version_is_read_after_the_loop_that_stores(size):
    """The input is stored to in place: what was in it is kept for the sum."""
    x = np.arange(float(size))
    expected = x + 7
    status, taken, (result,) = GraphKernel(READ_BEHIND_STORES)([size, 0], [x])
    assert (status, taken) == (0, 0)
    assert same_bits(result, expected)
    assert (x == 7).all()
