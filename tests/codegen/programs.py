"""Texts of Programs that the tests and measurements share."""


def elementwise(op, operands, result):
    """out[i] = op(in0[i], in1[i], ...) over dense arrays of s0 elements."""
    n, lines = len(operands), []
    for k, dtype in enumerate(operands):
        lines.append(f'buffer b{k} input {dtype} [s0] {k} ""')
    lines.append(f'buffer b{n} output {result} [s0] 0 ""')
    lines.append(f"temps ({', '.join([*operands, result])})")
    lines.append('nest "elementwise" work [s0] any_thread {')
    lines.append("  loop parallel i0 [s0] {")
    for k, dtype in enumerate(operands):
        lines.append(f"    t{k} = load {dtype} b{k}[{size(dtype)}*i0]")
    args = ", ".join(f"t{k}" for k in range(n))
    lines.append(f"    t{n} = compute {op} {result} ({args})")
    lines.append(f"    store {result} b{n}[{size(result)}*i0] (t{n})")
    return "\n".join([f"program symbols 1 inputs {n} outputs 1", *lines, "  }", "}"])


def size(dtype):
    sizes = {"bool": 1, "int8": 1, "uint8": 1, "complex64": 8, "complex128": 16}
    return sizes.get(dtype) or int("".join(c for c in dtype if c.isdigit())) // 8


def pairwise(dtype, result, *, chunk=0, divided="whole", compute=False):
    """out[0] = sum of in[i], or of the (not contiguous) product in[i] * 1."""
    body = [f"    t0 = load {dtype} b0[{size(dtype)}*i0]"]
    if compute:
        body.append(f"    t2 = compute positive {dtype} (t0)")
    return "\n".join(
        [
            "program symbols 1 inputs 1 outputs 1",
            f'buffer b0 input {dtype} [s0] 0 ""',
            f'buffer b1 output {result} [1] 0 ""',
            f"temps ({dtype}, {result}, {dtype})",
            'nest "sum" work [s0] any_thread {',
            f"  t1 = pairwise {result} i0 [s0] ({'t2' if compute else 't0'}) {chunk} {divided} {{",
            *body,
            "  }",
            f"  store {result} b1[0] (t1)",
            "}",
        ]
    )


def reduction(kind, op, dtype, result, divided=""):
    """out[0] = argmin or argmax (kind argreduce) or the fold of in[i] starting from in[0]."""
    args = "(t0)" if kind == "argreduce" else "(t0, t2)"
    return "\n".join(
        [
            "program symbols 1 inputs 1 outputs 1",
            f'buffer b0 input {dtype} [s0] 0 ""',
            f'buffer b1 output {result} [1] 0 ""',
            f"temps ({dtype}, {result}, {dtype})",
            'nest "reduction" work [s0] any_thread {',
            f"  t2 = load {dtype} b0[0]",
            f"  t1 = {kind} {op} {result} i0 [s0] {args} {divided}{{",
            f"    t0 = load {dtype} b0[{size(dtype)}*i0]",
            "  }",
            f"  store {result} b1[0] (t1)",
            "}",
        ]
    )


KMEANS = """\
program symbols 3 inputs 2 outputs 1
buffer b0 input float64 [s0*s1] 0 "points"
buffer b1 input float64 [s2*s1] 1 "centres"
buffer b2 output int64 [s0] 0 "labels"
temps (float64, float64, float64, float64, float64, float64, int64)
variant (s1 = 2, s2 = 2)
nest "labels" work [s0*s1*s2] any_thread {
  loop parallel i0 [s0] {
    t6 = argreduce argmin int64 i1 [s2] (t5) {
      t4 = pairwise float64 i2 [s1] (t3) 0 whole {
        t0 = load float64 b0[8*s1*i0 + 8*i2]
        t1 = load float64 b1[8*s1*i1 + 8*i2]
        t2 = compute subtract float64 (t0, t1)
        t3 = compute multiply float64 (t2, t2)
      }
      t5 = compute sqrt float64 (t4)
    }
    store int64 b2[8*i0] (t6)
  }
}
"""

# Rows of an (s0, s1) array: exp(x - max) / sum, in a row of scratch.
SOFTMAX = """\
program symbols 2 inputs 1 outputs 1
buffer b0 input float64 [s0*s1] 0 "x"
buffer b1 output float64 [s0*s1] 0 "out"
buffer b2 scratch float64 [s1] -1 "row"
import exp (float64, float64)
temps (float64, float64, float64, float64, float64, float64, float64, float64)
nest "softmax" work [8*s0*s1] any_thread {
  loop parallel i0 [s0] {
    t0 = load float64 b0[8*s1*i0]
    t1 = fold maximum float64 i1 [s1] (t2, t0) whole {
      t2 = load float64 b0[8*s1*i0 + 8*i1]
    }
    loop simd i2 [s1] {
      t3 = load float64 b0[8*s1*i0 + 8*i2]
      t4 = compute subtract float64 (t3, t1)
      store float64 b2[8*i2] (t4)
    }
    call 0 [s1] (b2[0]:[8], b2[0]:[8])
    t5 = pairwise float64 i3 [s1] (t6) 0 whole {
      t6 = load float64 b2[8*i3]
    }
    loop simd i4 [s1] {
      t3 = load float64 b2[8*i4]
      t7 = compute divide float64 (t3, t5)
      store float64 b1[8*s1*i0 + 8*i4] (t7)
    }
  }
}
"""
