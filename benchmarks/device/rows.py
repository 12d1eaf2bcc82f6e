"""The rows of the table: what is computed, on which arrays, and the time that accel is to reach."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.cases.finance import black_scholes
from benchmarks.cases.kmeans import points_first
from benchmarks.cases.programs import PROGRAMS
from benchmarks.cases.small import scaled

SHARE = 0.70  # of the copy rate, for reductions
H100_COPY_RATE = 3013e9  # bytes/s: bars in seconds are for this device
OPERATIONS = "sum", "max", "argmax", "mean", "var", "softmax"


@dataclasses.dataclass
class Row:
    """A computation: `function` of NumPy arrays, which accel compiles, and for torch `torch`, called with (torch, *tensors).

    Without `torch` the peer runs `function` with its own arrays.
    """

    name: str
    function: Callable[..., Any] | None
    inputs: Callable[[bool], tuple]  # of whether arrays are small
    mode: str = "device"  # of benchmarks.device.timing
    bar: float | None = None  # seconds on an H100
    share: float | None = None  # of the copy rate
    moves: bool = True  # bound by the bytes that it moves: the bar goes with the copy rate
    beyond: str = ""  # the bar is the time of this row, and `bar`
    resident: bool = True
    same_bits: bool = False
    torch: Callable[..., Any] | None = None
    about: str = ""
    compile_mode: str = "default"  # of accel.compile


@functools.cache
def numbers(count):
    """Random signs: the order of a sum shows in its bits."""
    return np.random.default_rng(0).standard_normal(count)


def uniform(low, high, count):
    return np.random.default_rng(count).uniform(low, high, count)


def points(small):
    return numbers(2_000 if small else 40_000_000).reshape(-1, 2), numbers(10_000)[-4:].reshape(2, 2)


def options(small):
    count = 1_000 if small else 10_000_000
    return uniform(10, 50, count), uniform(10, 50, count + 2)[:count], uniform(0.2, 2, count), 0.03, 0.25


def matrices(size, small_size):
    def make(small):
        n = small_size if small else size
        rng = np.random.default_rng(1)
        return tuple(rng.standard_normal((n, n), np.float32) * np.float32(0.1) for _ in range(2))

    return make


def systems(count, size):
    """Positive definite matrices, and a right side for each."""

    def make(small):
        n = 8 if small else size
        a = numbers(count * n * n).reshape(count, n, n) if count > 1 else numbers(n * n).reshape(n, n)
        return a @ a.swapaxes(-1, -2) / n + np.eye(n), numbers(2 * a[..., :1].size)[::2].reshape(a[..., :1].shape)

    return make


def vectors(small):
    return numbers(8), numbers(16)[8:]


@functools.cache
def reshaped(shape):
    def make(small):
        extents = [(100 if len(shape) == 1 else 10) * min(n, 3) if n > 10 else n for n in shape] if small else shape
        return (numbers(int(np.prod(extents))).reshape(extents),)

    return make


def total(x):
    return np.sum(x)


def product(x, y):
    return x @ y


def solve(a, b):
    return np.linalg.solve(a, b)


def cholesky(a, b):
    return np.linalg.cholesky(a)


def softmax_product(x, y):
    z = x @ y
    e = np.exp(z - z.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def softmax_along(axis):
    def softmax(x):
        e = np.exp(x - np.max(x, axis=axis, keepdims=True))
        return e / np.sum(e, axis=axis, keepdims=True)

    return softmax


FUNCTIONS = {
    "sum": lambda axis: lambda x: np.sum(x, axis=axis),
    "max": lambda axis: lambda x: np.max(x, axis=axis),
    "argmax": lambda axis: lambda x: np.argmax(x, axis=axis),
    "mean": lambda axis: lambda x: np.mean(x, axis=axis),
    "var": lambda axis: lambda x: np.var(x, axis=axis),
    "softmax": softmax_along,
}

TORCH = {
    "sum": lambda torch, x, axis: torch.sum(x, dim=axis),
    "max": lambda torch, x, axis: torch.amax(x, dim=() if axis is None else axis),
    "argmax": lambda torch, x, axis: torch.argmax(x, dim=axis),
    "mean": lambda torch, x, axis: torch.mean(x, dim=axis),
    "var": lambda torch, x, axis: torch.var(x, dim=axis, correction=0),
    "softmax": lambda torch, x, axis: torch.softmax(x.flatten(), 0).view(x.shape) if axis is None else torch.softmax(x, axis),
}


def torch_nearest(torch, points, centres):
    return torch.linalg.vector_norm(points[:, None, :] - centres[None, :, :], dim=-1).argmin(dim=1)


def torch_black_scholes(torch, price, strike, years, rate, volatility):
    def cdf(d):
        x = d / 1.4142135623730951
        a = torch.abs(x)
        t = 1.0 / (1.0 + 0.3275911 * a)
        poly = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t
        y = 1.0 - poly * torch.exp(-a * a)
        return 0.5 * (1.0 + torch.where(x < 0, -y, y))

    root = volatility * torch.sqrt(years)
    d1 = (torch.log(price / strike) + (rate + 0.5 * volatility * volatility) * years) / root
    discounted = strike * torch.exp(-rate * years)
    call = price * cdf(d1) - discounted * cdf(d1 - root)
    return call, call - price + discounted


def torch_sum(torch, x):
    return torch.sum(x)


def torch_softmax_product(torch, x, y):
    return torch.softmax(x @ y, 1)


def random_stores(count):
    return numbers(count), np.random.default_rng(2).integers(0, count, count), numbers(2 * count)[count:]


@functools.cache
def grid(small):
    n = 40 if small else 2000
    return numbers(2 * n * n).reshape(2, n, n)


def axes(small):
    columns, rows = (60, 50) if small else (1000, 833)
    real, imag = np.linspace(-2.25, 0.75, columns), np.linspace(-1.25, 1.25, rows)
    return real.astype(np.float32), imag.astype(np.float32), 200, 2.0**40


def jacobi(a, b, steps):
    """The arrays are the same after the call, so that the next one computes the same."""
    a, b = a.copy(), b.copy()
    for _ in range(steps):
        b[1:-1, 1:-1] = 0.2 * (a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1])
        a[1:-1, 1:-1] = 0.2 * (b[1:-1, 1:-1] + b[1:-1, :-2] + b[1:-1, 2:] + b[2:, 1:-1] + b[:-2, 1:-1])
    return a


def in_order(x):
    return np.sort(x)


def ranked(x):
    return np.argsort(x, kind="stable")


def bins_and_weights(small):
    count = 1_000 if small else 10_000_000
    return np.random.default_rng(3).integers(0, 1000, count), uniform(0, 1, count)


def edges_and_values(small):
    count = 1_000 if small else 10_000_000
    return np.sort(uniform(-3, 3, count // 100)), numbers(count)


def binned(x, weights):
    return np.bincount(x, weights, 1000), np.bincount(x)


def located(edges, x):
    return np.searchsorted(edges, x)


def spectrum(x):
    return np.abs(np.fft.rfft(x)) ** 2


def selected(x):
    return x[x > 0]


def until(x, bound):
    """A loop of a thousand iterations, whose condition is a reduction of the array that the iteration has computed."""
    while x.max() < bound:
        x = x + 1.0
    return x


def gathered(x, indices):
    return x[indices]


def scattered(x, indices, values):
    x = x.copy()
    x[indices] = values
    return x


def added_at(x, indices, values):
    x = x.copy()
    np.add.at(x, indices, values)
    return x


def reduction(shape, operation, axis):
    name = f"{operation}_{'x'.join(f'{n:.0e}'.replace('e+0', 'e') if n > 10 else str(n) for n in shape)}_axis{axis}"
    function = FUNCTIONS[operation](axis)
    is_scalar = operation != "softmax" and (axis is None or len(shape) == 1)
    with_torch = TORCH[operation]

    def torch(torch, x):
        return with_torch(torch, x, axis)

    return Row(
        name,
        function,
        reshaped(shape),
        "ready" if is_scalar else "device",
        share=SHARE,
        torch=torch,
        about="bytes: the input once, the result once",
    )


def linear_algebra(name, function):
    def torch(torch, a, b):
        return getattr(torch.linalg, name)(a, *([b] if name == "solve" else []))

    return [
        Row(
            f"{name}_{text}",
            function,
            systems(count, n),
            "ready",
            moves=False,
            torch=torch,
            about=f"{count} of {n} rows, float64",
        )
        for text, count, n in (("1024", 1, 1024), ("1000x32", 1000, 32))
    ]


WITH_GRAPHS = "jacobi", "until", "eight", "softmax_product_100"
SHAPES = (10**8,), (10**4, 10**4), (8, 10**7), (10**7, 8), (3, 10**7)

NAMED = [
    Row("copy", None, reshaped((10**8,)), about="hand-written: reads and writes 1e8 float64"),
    Row("read", None, reshaped((10**8,)), about="hand-written: reads 1e8 float64"),
    Row("launch", None, vectors, "submit", moves=False, about="hand-written: an empty kernel"),
    Row("kmeans", points_first, points, bar=0.165e-3, torch=torch_nearest, about="20M points, 2 centres, float64"),
    Row(
        "kmeans_numpy",
        points_first,
        points,
        "ready",
        bar=8.4e-3,
        moves=False,
        resident=False,
        about="the same from and to NumPy arrays: 320 MB there, 160 MB back",
    ),
    Row("black_scholes", black_scholes, options, bar=0.175e-3, torch=torch_black_scholes, about="10M options, float64"),
    Row("sgemm_4096", product, matrices(4096, 32), moves=False, about="x @ y, float32, full precision"),
    Row(
        "softmax_product_4096",
        softmax_product,
        matrices(4096, 32),
        bar=0.08e-3,
        beyond="sgemm_4096",
        moves=False,
        torch=torch_softmax_product,
        about="softmax(x @ y), float32; bar: sgemm_4096 and 0.08 ms",
    ),
    Row(
        "softmax_product_100",
        softmax_product,
        matrices(100, 20),
        "ready",
        bar=20e-6,
        moves=False,
        torch=torch_softmax_product,
        about="softmax(x @ y), 100 x 100 float32, until the result is there",
    ),
    Row(
        "sum",
        total,
        reshaped((10**8,)),
        "ready",
        bar=0.29e-3,
        same_bits=True,
        torch=torch_sum,
        about="1e8 float64, NumPy's bits",
    ),
    Row(
        "mandelbrot",
        PROGRAMS["escape_time"].function,
        axes,
        bar=0.12e-3,
        moves=False,
        about="1000 x 833 points, 200 steps, complex64",
    ),
    Row("jacobi", jacobi, lambda small: (*grid(small), 20), bar=1.1e-3, about="2000 x 2000 float64, 20 sweeps in two halves"),
    Row("in_order", in_order, reshaped((10**7,)), "ready", same_bits=True, about="np.sort of 1e7 float64"),
    Row("ranked", ranked, reshaped((10**7,)), "ready", same_bits=True, about="stable np.argsort of 1e7 float64"),
    Row("binned", binned, bins_and_weights, "ready", about="np.bincount of 1e7 int64 in 1,000 bins, and of weights"),
    Row("located", located, edges_and_values, "ready", same_bits=True, about="np.searchsorted of 1e7 float64 in 1e5"),
    Row("spectrum", spectrum, reshaped((1000, 10**4)), "ready", about="power spectra of 1,000 x 10,000 float64"),
    Row("selected", selected, reshaped((10**8,)), "ready", bar=0.75e-3, same_bits=True, about="x[x > 0] of 1e8 float64"),
    Row(
        "until",
        until,
        lambda small: (np.abs(numbers(1000 if small else 10**6)) % 1, 20.5 if small else 1000.5),
        "ready",
        bar=14e-3,
        moves=False,
        about="a while loop of 1,000 iterations on 1e6 float64, whose condition is a reduction",
    ),
    Row(
        "gathered",
        gathered,
        lambda small: (numbers(10**8)[: 10**4 if small else 10**8], np.arange(0, 10**4 if small else 10**8, 3)[::-1].copy()),
        "ready",
        same_bits=True,
        about="x[i] of 1e8 float64 and a third as many indices, with the check of their range",
    ),
    Row(
        "scattered",
        scattered,
        lambda small: random_stores(10**4 if small else 10**7),
        "ready",
        same_bits=True,
        about="x[i] = v in a copy of 1e7 float64; i: as many random indices, of which the last one of a place counts",
    ),
    Row(
        "added_at",
        added_at,
        lambda small: random_stores(10**4 if small else 10**6),
        "ready",
        about="np.add.at(x, i, v) in a copy of 1e6 float64; i: as many random indices, whose order decides",
    ),
    *linear_algebra("solve", solve),
    *linear_algebra("cholesky", cholesky),
    Row("eight", scaled, vectors, "submit", bar=4.5e-6, moves=False, about="a * 2.0 + b on 8 elements, not waited for"),
    Row("eight_wait", scaled, vectors, "ready", bar=11e-6, moves=False, about="the same, until the result is there"),
    Row(
        "eight_numpy",
        scaled,
        vectors,
        "ready",
        bar=11e-6,
        moves=False,
        resident=False,
        about="the same, from and to NumPy arrays",
    ),
]


def with_graphs(row):
    about = f"the same in mode reduce-overhead as {row.name}"
    return dataclasses.replace(row, name=f"{row.name}_graph", compile_mode="reduce-overhead", about=about)


def of_program(program):
    """A row of a program of tests/programs, on arrays that lie on the device. Without arrays, its results are NumPy's."""

    def inputs(small):
        return program.arguments(program.small if small else program.full or program.large)

    about = " x ".join(map(str, program.full or program.large)) or "one call"
    resident = any(isinstance(argument, np.ndarray) for argument in inputs(True))
    return Row(f"program_{program.name}", program.function, inputs, "ready", moves=False, resident=resident, about=about)


def all_rows():
    rows = [*NAMED, *(with_graphs(row) for row in NAMED if row.name in WITH_GRAPHS), *map(of_program, PROGRAMS.values())]
    for shape in SHAPES:
        for axis in [None, *range(len(shape))]:
            rows += [reduction(shape, operation, axis) for operation in OPERATIONS]
    return {row.name: row for row in rows}
