"""Pairwise sums, folds, argmin and argmax against NumPy, by bits."""

import numpy as np
import pytest
from kernels import Kernel, same_bits
from programs import KMEANS, pairwise, reduction, several_pairwise

LENGTHS = [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 31, 63, 64, 65, 127, 128, 129, 136, 200, 255, 257, 1000, 1023, 4099, 100_003]
SUMMED = ["float16", "float32", "float64", "complex64", "complex128"]


def numbers(dtype, n, seed=0):
    rng = np.random.default_rng(seed + n)
    a = rng.normal(0, 1, n) * 10.0 ** rng.integers(-3, 3, n)
    if np.dtype(dtype).kind == "c":
        a = a + 1j * rng.normal(0, 1, n)
    return a.astype(dtype)


@pytest.mark.parametrize("compute", [False, True])
@pytest.mark.parametrize("dtype", SUMMED)
def test_pairwise(dtype, compute):
    kernel = Kernel(pairwise(dtype, dtype, compute=compute))
    for n in LENGTHS:
        a, out = numbers(dtype, n), np.empty(1, dtype)
        kernel([n], [a], [out])
        assert same_bits(out[0], np.add.reduce(a)), n
    for n in [0, 1, 5, 8, 9, 200]:  # a run of negative zeros has a negative zero as its sum; NumPy adds that to the start, 0
        a, out = np.full(n, -0.0).astype(dtype), np.empty(1, dtype)
        kernel([n], [a], [out])
        assert same_bits(out[0] + np.dtype(dtype).type(0), np.add.reduce(a))
        assert np.signbit(out[0].real), n


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
def test_divided_pairwise_has_the_same_bits(dtype, threads):
    kernel = Kernel(pairwise(dtype, dtype, divided="divided"))
    for n in [0, 1, 100, 8193, 100_003, 1_000_003, 5_000_001]:
        a, out = numbers(dtype, n), np.empty(1, dtype)
        kernel([n], [a], [out], threads=threads)
        assert same_bits(out[0] + np.dtype(dtype).type(0), np.add.reduce(a)), n


@pytest.mark.parametrize("divided", ["whole", "divided"])
def test_chunks(divided):
    """float32 data summed in float64: NumPy casts it buffer by buffer."""
    program = pairwise("float64", "float64", chunk=8192, divided=divided)
    program = program.replace("buffer b0 input float64", "buffer b0 input float32").replace(
        "(float64, float64", "(float32, float64"
    )
    program = program.replace("t0 = load float64 b0[8*i0]", "t0 = load float32 b0[4*i0]\n    t2 = compute astype float64 (t0)")
    kernel = Kernel(program.replace("(t0) 8192", "(t2) 8192"))
    for n in [1, 8191, 8192, 8193, 100_003, 20_000_000]:
        a, out = numbers("float32", n), np.empty(1)
        kernel([n], [a], [out], threads=3)
        assert same_bits(out[0], np.add.reduce(a, dtype=np.float64)), n


@pytest.mark.parametrize("n", range(17))
def test_pairwise_of_known_length_is_straight_line_code(n):
    """One kernel has a nest per dtype."""
    kernel = Kernel(several_pairwise(SUMMED).replace("temps", f"variant (s0 = {n})\ntemps"))
    arrays, outs = [numbers(dtype, n) for dtype in SUMMED], [np.empty(1, dtype) for dtype in SUMMED]
    kernel([n], arrays, outs)
    for dtype, a, out in zip(SUMMED, arrays, outs, strict=True):
        assert same_bits(out[0] + np.dtype(dtype).type(0), np.add.reduce(a)), (dtype, n)


ARGREDUCED = ["bool", "int8", "int64", "uint8", "uint64", "float16", "float32", "float64", "complex64", "complex128"]


@pytest.mark.parametrize("op", ["argmin", "argmax"])
@pytest.mark.parametrize("dtype", ARGREDUCED)
def test_argreduce(op, dtype):
    """For each dtype one of the two operations is divided among threads."""
    general = Kernel(reduction("argreduce", op, dtype, "int64").replace("temps", "variant (s0 = 5)\ntemps"))
    kernels = [general]
    if (ARGREDUCED.index(dtype) % 2 == 0) == (op == "argmin"):
        kernels.append(Kernel(reduction("argreduce", op, dtype, "int64", "divided ")))
    rng = np.random.default_rng(1)
    for n in [1, 2, 5, 63, 64, 65, 128, 129, 1000, 10_000, 100_000]:
        for repeat in range(6):
            a = rng.integers(0, 2 if repeat == 0 else 100, n).astype(dtype)
            if np.dtype(dtype).kind in "fc" and repeat > 2:
                a[rng.integers(0, n, repeat - 2)] = np.nan
            if np.dtype(dtype).kind == "c" and repeat == 5:
                a[rng.integers(0, n)] = complex(1, np.nan)
            if repeat == 1:
                a = np.sort(a)[::-1].copy()
            out = np.empty(1, np.int64)
            for kernel in kernels:
                kernel([n], [a], [out], threads=2)
                assert out[0] == getattr(np, op)(a), (n, repeat)


@pytest.mark.parametrize("divided", ["whole ", "divided "])
@pytest.mark.parametrize(
    ("op", "dtype"),
    [
        *[
            (op, dtype)
            for op in ("maximum", "minimum", "fmax")
            for dtype in ("int8", "uint64", "float16", "float32", "float64")
        ],
        ("add", "int64"),
        ("add", "uint8"),
        ("multiply", "int32"),
        ("logical_and", "bool"),
        ("logical_or", "bool"),
        ("bitwise_xor", "uint16"),
    ],
)
def test_fold(op, dtype, divided):
    kernel = Kernel(reduction("fold", op, dtype, dtype, divided))
    rng = np.random.default_rng(2)
    for n in [1, 2, 8, 63, 64, 65, 127, 128, 129, 600, 1000, 100_003]:
        a = rng.integers(1, 100, n).astype(dtype)
        if np.dtype(dtype).kind == "f" and n > 500:
            a[rng.integers(0, n)] = np.nan
        out = np.empty(1, dtype)
        kernel([n], [a], [out], threads=2)
        # The fold starts from in[0] and combines it once more.
        expected = getattr(np, op)(a[:1], getattr(np, op).reduce(a, dtype=dtype))
        assert same_bits(out[0], expected[0]), n


@pytest.mark.parametrize(("features", "clusters"), [(2, 2), (3, 2), (2, 5), (16, 10), (1, 1), (2, 70)])
def test_kmeans(features, clusters):
    rng = np.random.default_rng(3)
    points, centres = rng.normal(size=(1001, features)), rng.normal(size=(clusters, features))
    labels = np.empty(1001, np.int64)
    assert Kernel(KMEANS)([1001, features, clusters], [points, centres], [labels], threads=2) == 0
    distances = np.sqrt(((points[:, None, :] - centres[None]) ** 2).sum(axis=2))
    assert same_bits(labels, distances.argmin(axis=1))
