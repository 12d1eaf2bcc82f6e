"""What a kernel does around its loops: calls of NumPy's loops, memory, events, threads, variants."""

import numpy as np
import pytest
from kernels import DIVIDE, ERROR, INTERRUPTED, INVALID, NO_MEMORY, Kernel, host, same_bits
from programs import KMEANS, SOFTMAX, elementwise

from accel import _accel


@pytest.mark.parametrize("columns", [1, 5, 100, 20_000])
def test_softmax(columns):
    x = np.random.default_rng(0).normal(size=(37, columns))
    out = np.empty_like(x)
    kernel = Kernel(SOFTMAX, [(np.exp, ("d", None))])
    assert kernel([37, columns], [x], [out], threads=3) & ~4 == 0
    e = np.exp(x - x.max(axis=1, keepdims=True))
    assert same_bits(out, e / e.sum(axis=1, keepdims=True))
    assert host().host_live_allocations() == 0


def test_scratch_without_memory():
    x = np.ones((4, 20_000))
    kernel = Kernel(SOFTMAX, [(np.exp, ("d", None))])
    assert kernel([4, 20_000], [x], [np.empty_like(x)], allocations=0) == NO_MEMORY
    assert host().host_live_allocations() == 0


TWO_NESTS = """\
program symbols 1 inputs 1 outputs 1
buffer b0 input float64 [s0] 0 "x"
buffer b1 temp float64 [s0] -1 "square"
buffer b2 output float64 [s0] 0 "out"
temps (float64, float64, float64, float64)
nest "first" work [s0] any_thread {
  loop parallel i0 [s0] {
    t0 = load float64 b0[8*i0]
    t1 = compute multiply float64 (t0, t0)
    store float64 b1[8*i0] (t1)
  }
}
nest "second" work [s0] any_thread {
  loop parallel i1 [s0] {
    t2 = load float64 b1[8*s0 - 8*i1 - 8]
    t3 = compute add float64 (t2, t2)
    store float64 b2[8*i1] (t3)
  }
}
"""


def test_temps():
    x, out = np.random.default_rng(0).normal(size=1000), np.empty(1000)
    kernel = Kernel(TWO_NESTS)
    assert kernel([1000], [x], [out], threads=2) == 0
    assert same_bits(out, (x * x)[::-1] * 2)
    assert kernel([0], [x], [out]) == 0
    assert kernel([1000], [x], [out], allocations=0) == NO_MEMORY
    assert kernel([1000], [x], [out], interrupted=1) == INTERRUPTED
    assert host().host_live_allocations() == 0


TILES = """\
program symbols 1 inputs 1 outputs 1
buffer b0 input float32 [s0] 0 "x"
buffer b1 scratch float32 [1024] -1 "tile"
buffer b2 output float64 [s0] 0 "out"
import log (float32, float32)
temps (float32, float64, float64, float64)
nest "tiles" work [s0] any_thread {
  t2 = constant float64 2.5
  tile parallel i0 i1 [s0] 1024 {
    call 0 [i1] (b0[4*i0]:[4], b1[0]:[4])
    loop simd i2 [i1] {
      t0 = load float32 b1[4*i2]
      t1 = compute astype float64 (t0)
      t3 = compute multiply float64 (t1, t2)
      store float64 b2[8*i0 + 8*i2] (t3)
    }
  }
}
"""


@pytest.mark.parametrize("n", [0, 1, 1023, 1024, 1025, 100_000])
def test_tiles(n):
    x, out = np.random.default_rng(0).uniform(0.5, 2, n).astype("f"), np.empty(n)
    kernel = Kernel(TILES, [(np.log, ("f", None))])
    assert kernel([n], [x], [out], threads=3) == 0
    assert same_bits(out, np.log(x).astype(float) * 2.5)
    if n:
        x[n // 2] = -1
        assert kernel([n], [x], [out], threads=3) == INVALID
        x[n // 2] = 0
        assert kernel([n], [x], [out], threads=3) == DIVIDE


GUARDED = """\
program symbols 1 inputs 2 outputs 1
buffer b0 input float64 [s0] 0 "a"
buffer b1 input float64 [s0] 1 "b"
buffer b2 output float64 [s0] 0 "out"
temps (float64, float64, float64, bool, float64, float64)
nest "guarded" work [s0] any_thread {
  t2 = constant float64 0.0
  loop parallel i0 [s0] {
    t0 = load float64 b0[8*i0]
    t1 = load float64 b1[8*i0]
    t3 = compute greater bool (t1, t2)
    t4 = compute divide float64 (t0, t1)
    t5 = compute where float64 (t3, t4, t2)
    store float64 b2[8*i0] (t5)
  }
}
"""


@pytest.mark.parametrize("n", [1, 2, 3, 7, 8, 64, 1000])
def test_a_selection_keeps_the_events_of_what_it_drops(n):
    """NumPy divides everywhere before it selects: its warning must not get lost."""
    a, b, out = np.ones(n), np.ones(n), np.empty(n)
    kernel = Kernel(GUARDED)
    assert kernel([n], [a, b], [out]) == 0
    for k in {0, n // 2, n - 1}:
        zeros = b.copy()
        zeros[k] = 0
        assert kernel([n], [a, zeros], [out]) == DIVIDE
        assert same_bits(out, np.where(zeros > 0, 1.0, 0.0))


@pytest.mark.parametrize("use", ["store float64 b0[0] (t2)", "t3 = compute isnan bool (t2)"])
def test_operations_on_constants_and_unused_ones_keep_their_events(use):
    program = f"""\
program symbols 0 inputs 0 outputs 1
buffer b0 output float64 [1] 0 ""
temps (float64, float64, float64, bool)
nest "constants" work [1] any_thread {{
  t0 = constant float64 1.0
  t1 = constant float64 0.0
  t2 = compute divide float64 (t0, t1)
  {use}
}}
"""
    assert Kernel(program)([], [], [np.empty(1)]) == DIVIDE


def test_events_of_what_ran_before_are_not_the_kernels():
    kernel, failing = (
        Kernel(elementwise("negative", ["float64"], "float64")),
        Kernel(elementwise("divide", ["float64"] * 2, "float64")),
    )
    one, zero, out = np.ones(3), np.zeros(3), np.empty(3)
    adding = Kernel(elementwise("add", ["float64"] * 2, "float64"))
    for _ in range(2):
        assert failing([3], [one, zero], [out]) == DIVIDE  # leaves the hardware's flag behind
        assert kernel([3], [one], [out]) == 0
        assert failing([3], [one, zero], [out]) == DIVIDE
        assert adding([3], [one, one], [out]) == 0


def test_an_error_of_a_loop():
    program = TILES.replace("import log (float32, float32)", "import power (float32, float32)")
    kernel = Kernel(program, [(np.log, ("f", None))])
    import ctypes

    failing = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p] * 5)(lambda *_: -1)
    kernel.imports[0].loop = ctypes.cast(failing, ctypes.c_void_p).value
    assert kernel([5], [np.ones(5, "f")], [np.empty(5)]) & ERROR


@pytest.mark.parametrize("dtype", ["bool", "int16", "uint64", "float16", "float32", "complex64", "complex128"])
def test_scalar_inputs(dtype):
    program = f"""\
program symbols 3 inputs 0 outputs 1
buffer b0 output {dtype} [s0] 0 ""
temps ({dtype}, int64)
nest "fill" work [s0] any_thread {{
  t0 = input {dtype} 1
  loop parallel i0 [s0] {{
    store {dtype} b0[{np.dtype(dtype).itemsize}*i0] (t0)
  }}
}}
"""
    value = np.array([1.5 - 2j if dtype[0] == "c" else 1], dtype)
    slots = np.zeros(2, np.int64)
    slots.view("u1")[: value.nbytes] = value.view("u1")
    out = np.empty(50, dtype)
    assert Kernel(program)([50, *slots], [], [out], threads=2) == 0
    assert same_bits(out, np.full(50, value[0]))


def test_index_arithmetic():
    program = """\
program symbols 2 inputs 0 outputs 1
buffer b0 output int64 [s0] 0 ""
temps (int64)
nest "indices" work [s0] any_thread {
  loop parallel i0 [s0] {
    t0 = index int64 [((i0 + s1) // 7) + 100*((s1 + i0) % 5) - min(i0, 3) + max(i0, s1)]
    store int64 b0[8*i0] (t0)
  }
}
"""
    i, out = np.arange(50), np.empty(50, np.int64)
    for s in [-20, 3]:
        Kernel(program)([50, s], [], [out])
        assert same_bits(out, (i + s) // 7 + 100 * ((s + i) % 5) - np.minimum(i, 3) + np.maximum(i, s))


def test_accumulators_and_serial_loops():
    program = """\
program symbols 2 inputs 1 outputs 1
buffer b0 input float32 [s0*s1] 0 ""
buffer b1 output float32 [s1] 0 ""
temps (float32, float32, float32, float32)
variant (s0 = 3)
nest "columns" work [s0*s1] any_thread {
  t0 = constant float32 1.0
  loop parallel i0 [s1] {
    t1 = declare float32 (t0)
    loop serial i1 [s0] {
      t2 = load float32 b0[4*i0 + 4*s1*i1]
      t3 = compute multiply float32 (t1, t2)
      t1 = assign float32 (t3)
    }
    store float32 b1[4*i0] (t1)
  }
}
"""
    for rows in [0, 3, 10]:
        x, out = np.random.default_rng(0).normal(size=(rows, 999)).astype("f"), np.empty(999, "f")
        Kernel(program)([rows, 999], [x], [out], threads=2)
        assert same_bits(out, np.multiply.reduce(x, axis=0))


def test_gufunc():
    program = """\
program symbols 3 inputs 2 outputs 1
buffer b0 input float64 [s0*s1] 0 ""
buffer b1 input float64 [s1*s2] 1 ""
buffer b2 output float64 [s0*s2] 0 ""
import matmul (float64, float64, float64)
temps ()
nest "product" work [s0*s1*s2] calling_thread {
  gufunc 0 [1] (b0[0]:[0], b1[0]:[0], b2[0]:[0]) ([s0], [s1], [s2]) ([8*s1], [8], [8*s2], [8], [8*s2], [8])
}
"""
    rng = np.random.default_rng(0)
    a, b, out = rng.normal(size=(20, 30)), rng.normal(size=(30, 40)), np.empty((20, 40))
    kernel = Kernel(program, [(np.matmul, ("d", "d", None))])
    kernel([20, 30, 40], [a, b], [out])
    assert same_bits(out, a @ b)


def test_variants_that_change_nothing_share_their_functions():
    program = elementwise("add", ["float64", "float64"], "float64").replace(
        "temps", "variant (s0 = 100000)\nvariant (s0 = 77)\ntemps"
    )
    text = _accel.emit_program(program)
    assert "void nest0_v1(" in text and "void nest0_v2(" in text
    unrelated = program.replace("symbols 1", "symbols 2").replace("s0 = 100000", "s1 = 2").replace("s0 = 77", "s1 = 3")
    assert "nest0_v" not in _accel.emit_program(unrelated)


def test_the_text_includes_nothing():
    assert "#include" not in _accel.emit_program(KMEANS)


def test_malformed_programs_are_refused():
    for broken in [KMEANS.replace("argmin", "argmean"), KMEANS.replace("  }\n}\n", ""), KMEANS.replace("b0[8*s1", "b0(8*s1")]:
        with pytest.raises(ValueError, match="malformed"):
            _accel.emit_program(broken)
