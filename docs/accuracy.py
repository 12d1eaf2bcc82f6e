"""Measures how far results of ufuncs on a CUDA device are from NumPy's, and writes docs/gpu_accuracy.md.

Needs a GPU: python docs/accuracy.py [FILE]. For each ufunc and dtype the greatest distance in units in the last place (ULP)
over random numbers of all magnitudes, numbers near 1 and special values; where the ufunc is not a number on one side, it must
not be one on the other.
"""

import argparse
import sys
import warnings
from pathlib import Path

import numpy as np

import accel
from accel import _accel

PAGE = Path(__file__).resolve().parent / "gpu_accuracy.md"
DTYPES = [np.float16, np.float32, np.float64, np.complex64, np.complex128]
COUNT = 200_000
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, np.inf, -np.inf, np.nan, 1e-30, -1e-30, 3.0, 10.0, 100.0, np.pi, np.e]
HEAD = """# How far results on a GPU are from NumPy's

The greatest distance in units in the last place, over {count:,} operands for each dtype: of all magnitudes, near 1, and
special values. 0: the same bits, but for signs and payloads of NaNs. "differs": for some operands one result is a number and
the other is not. "all": for some operands no digit agrees, as where the angle of a complex power is so large that its rounding
decides. Each part of a complex result counts by its own size. Measured on an {device} with NumPy {numpy} by
`python docs/accuracy.py`, which writes this page. NumPy's own functions are within a few units themselves.

Sums over runs that lie side by side in memory have NumPy's bits; see [On a GPU](gpu.md).
"""


def ufuncs():
    """NumPy's ufuncs of one or two numbers with one result, by name."""
    for name, function in sorted(vars(np).items()):
        if not isinstance(function, np.ufunc) or function.__name__ != name or function.signature is not None:
            continue
        if function.nout == 1 and function.nin < 3:
            yield name, function


def operands(dtype, rng):
    """Numbers of all magnitudes, numbers near 1, special values."""
    real = np.empty(0, dtype).real.dtype
    few = 6 if real == np.float16 else 30 if real == np.float32 else 200

    def reals():
        wide = rng.choice([-1, 1], COUNT // 2) * 10.0 ** rng.uniform(-few / 2, few / 2, COUNT // 2)
        near = rng.uniform(-4, 4, COUNT - COUNT // 2)
        out = np.concatenate([wide, near])
        rng.shuffle(out)
        return np.concatenate([np.repeat(SPECIAL, len(SPECIAL)), out]).astype(real)

    if np.dtype(dtype).kind != "c":
        return reals()
    return (reals() + 1j * rng.permutation(reals())).astype(dtype)


def order_of(x):
    """Integers in the order of floating-point numbers, neighbours of which are one apart."""
    bits = x.view(f"i{x.itemsize}")
    return np.where(bits < 0, np.iinfo(bits.dtype).min - bits, bits)


def distance(got, wanted):
    """The greatest distance in ULP; infinity where only one is a number."""
    if wanted.dtype.kind == "c":
        return max(distance(got.real.copy(), wanted.real.copy()), distance(got.imag.copy(), wanted.imag.copy()))
    if wanted.dtype.kind != "f":
        return 0 if np.array_equal(got, wanted) else np.inf
    lost = np.isnan(got) != np.isnan(wanted)
    if lost.any():
        return np.inf
    differ = ~np.isnan(wanted) & (got != wanted)
    far = order_of(got[differ]).astype(object) - order_of(wanted[differ]).astype(object)
    return int(np.abs(far).max()) if len(far) else 0


def measure():
    """Rows of the table."""
    for name, function in ufuncs():
        cells = []
        for dtype in DTYPES:
            rng = np.random.default_rng(1)
            given = [operands(dtype, rng) for _ in range(function.nin)]
            if function.nin == 2:
                count = len(SPECIAL) ** 2
                given[1][:count] = np.tile(np.asarray(SPECIAL).astype(dtype), len(SPECIAL))
            try:
                wanted = function(*given)
            except TypeError:
                cells.append("")
                continue
            compiled = _compiled(name, function.nin)
            why = accel.explain(compiled)(*[accel.to_device(x) for x in given])
            if not why.compiled or why.exception is not None:
                cells.append("host")
                continue
            cells.append(shown(distance(why.result.numpy(), wanted), wanted.dtype))
        if any(cells):
            yield name, cells
            print(name, *cells, file=sys.stderr, flush=True)


def shown(far, dtype):
    """The cell of a distance in ULP of results of a dtype."""
    if far == np.inf:
        return "differs"
    return "all" if dtype.kind in "fc" and far > 1 / np.finfo(dtype).eps else f"{far:,}"


def _compiled(name, count):
    names = ", ".join("xy"[:count])
    space = {"np": np}
    exec(f"def function({names}):\n    return np.{name}({names})\n", space)
    return accel.compile(space["function"])


def main():
    """Write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", nargs="?", type=Path, default=PAGE)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    device = _accel.examine_cuda()["devices"][0]["name"]
    lines = [HEAD.format(count=COUNT, device=device, numpy=np.__version__)]
    lines += ["| ufunc | " + " | ".join(np.dtype(d).name for d in DTYPES) + " |", "|---|" + "---|" * len(DTYPES)]
    lines += [f"| {name} | " + " | ".join(cells) + " |" for name, cells in measure()]
    options.file.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
