"""Texts of Programs that the tests and measurements share."""


def elementwise(op, operands, result):
    """out[i] = op(in0[i], in1[i], ...) over dense arrays of s0 elements."""
    return several_elementwise([(op, operands, result)])


def several_elementwise(cases):
    """One nest for each (op, operands, result), over dense arrays of its own; the arrays of nest k have sk elements."""
    inputs = sum(len(operands) for _, operands, _ in cases)
    buffers, temps, nests, first = [], [], [], 0
    for k, (op, operands, result) in enumerate(cases):
        first_buffer, out = len(buffers), first + len(operands) + k
        for j, dtype in enumerate(operands):
            buffers.append(f'buffer b{first_buffer + j} input {dtype} [s{k}] {first + j} ""')
        buffers.append(f'buffer b{out} output {result} [s{k}] {k} ""')
        nests.append(f'nest "elementwise" work [s{k}] any_thread {{')
        nests.append(f"  loop parallel i0 [s{k}] {{")
        for j, dtype in enumerate(operands):
            nests.append(f"    t{first_buffer + j} = load {dtype} b{first_buffer + j}[{size(dtype)}*i0]")
        arguments = ", ".join(f"t{first_buffer + j}" for j in range(len(operands)))
        nests.append(f"    t{out} = compute {op} {result} ({arguments})")
        nests.append(f"    store {result} b{out}[{size(result)}*i0] (t{out})")
        nests += ["  }", "}"]
        temps += [*operands, result]
        first += len(operands)
    head = f"program symbols {len(cases)} inputs {inputs} outputs {len(cases)}"
    return "\n".join([head, *buffers, f"temps ({', '.join(temps)})", *nests])


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


def several_pairwise(dtypes):
    """One nest for each dtype: the sums of arrays of s0 elements."""
    buffers, nests = [], []
    for k, dtype in enumerate(dtypes):
        buffers.append(f'buffer b{2 * k} input {dtype} [s0] {k} ""')
        buffers.append(f'buffer b{2 * k + 1} output {dtype} [1] {k} ""')
        nests += [
            'nest "sum" work [s0] any_thread {',
            f"  t{2 * k + 1} = pairwise {dtype} i0 [s0] (t{2 * k}) 0 whole {{",
            f"    t{2 * k} = load {dtype} b{2 * k}[{size(dtype)}*i0]",
            "  }",
            f"  store {dtype} b{2 * k + 1}[0] (t{2 * k + 1})",
            "}",
        ]
    temps = ", ".join(dtype for dtype in dtypes for _ in range(2))
    return "\n".join([f"program symbols 1 inputs {len(dtypes)} outputs {len(dtypes)}", *buffers, f"temps ({temps})", *nests])


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
