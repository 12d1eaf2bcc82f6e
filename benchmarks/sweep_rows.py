"""What the sweep times: one operation of NumPy each, as an expression over named inputs.

NumPy itself lists the ufuncs and their dtypes; the rest is written down here, separated by semicolons. The inputs have no
floating-point events in these expressions: calls that warn are another benchmark's subject.
"""

import dataclasses

import numpy as np


@dataclasses.dataclass(frozen=True)
class Row:
    """`name` is unique; `expression` is over the names that `inputs` gives, or the body of a function of them."""

    name: str
    expression: str


def whole(dtype, high):
    return lambda n, rng: rng.integers(1, high, n).astype(dtype)


def complex_numbers(n, rng):
    return rng.standard_normal(n) + 1j * rng.standard_normal(n)


def with_nans(n, rng):
    return np.where(rng.random(n) < 0.1, np.nan, rng.standard_normal(n))


def matrix_shape(n):
    return (n // 200, 200) if n >= 1000 else (n // 5, 5)


# name -> maker(count, generator) of a vector; capital letters are matrices of about as many elements.
VECTORS = {
    "x": lambda n, rng: rng.standard_normal(n) + np.where(rng.random(n) < 0.5, 3.0, -3.0),
    "y": lambda n, rng: rng.standard_normal(n) + np.where(rng.random(n) < 0.5, 4.0, -4.0),
    "p": lambda n, rng: rng.random(n) + 0.1,
    "q": lambda n, rng: rng.random(n) + 0.1,
    "u": lambda n, rng: rng.uniform(-0.9, 0.9, n),
    "f": lambda n, rng: (rng.standard_normal(n) + 2.0).astype(np.float32),
    "h": lambda n, rng: (rng.random(n) + 0.5).astype(np.float16),
    "i": whole(np.int64, 50),
    "j": whole(np.int64, 7),
    "s": whole(np.int32, 50),
    "b": whole(np.uint8, 60),
    "m": lambda n, rng: rng.random(n) < 0.5,
    "k": lambda n, rng: rng.random(n) < 0.3,
    "z": complex_numbers,
    "w": complex_numbers,
    "c": lambda n, rng: complex_numbers(n, rng).astype(np.complex64),
    "o": lambda n, rng: np.sort(rng.random(n)),
    "a": with_nans,
}
MATRICES = {"X": "x", "Y": "y", "F": "f", "I": "i", "B": "b", "M": "m", "Z": "z", "C": "c", "A": "a"}
NUMBERS = {"number": 3.5}

# dtype -> the inputs of a ufunc's loop of that dtype.
UFUNC_INPUTS = {"?": "mk", "B": "bb", "i": "ss", "l": "ij", "e": "hh", "f": "ff", "d": "xy", "F": "cc", "D": "zw"}
SMALL_DOMAIN = {"arcsin": "u", "arccos": "u", "arctanh": "u", "log": "p", "log2": "p", "log10": "p", "log1p": "p", "sqrt": "p"}
SMALL_DOMAIN |= {"power": "pq", "float_power": "pq", "arccosh": "(p + 1.0)", "cosh": "u", "sinh": "u", "exp2": "u"}
LEFT_OUT = {"matmul", "vecdot", "matvec", "vecmat"}  # products have rows of their own


def ufunc_rows():
    for name in sorted(dir(np)):
        ufunc = getattr(np, name)
        if not isinstance(ufunc, np.ufunc) or ufunc.__name__ != name or name in LEFT_OUT or ufunc.nin > 2:
            continue
        loops = {types.split("->")[0] for types in ufunc.types}
        for letter, inputs in UFUNC_INPUTS.items():
            if letter * ufunc.nin not in loops and not (name == "ldexp" and letter == "d"):
                continue
            if name in SMALL_DOMAIN:
                if letter != "d":
                    continue
                inputs = SMALL_DOMAIN[name]
            operands = [inputs] if inputs.startswith("(") else list(inputs[: ufunc.nin])
            if name == "ldexp":
                operands[1] = "s"
            yield Row(f"{name} {np.dtype(letter)}", f"np.{name}({', '.join(operands)}){'[0]' * (ufunc.nout > 1)}")


UFUNC_METHODS = """
np.add.reduce(x) ; np.multiply.accumulate(u) ; np.add.accumulate(x) ; np.add.outer(x[:200], y[:200]) ; np.maximum.reduce(x)
np.maximum.accumulate(x) ; np.logical_or.reduce(m) ; np.add.reduce(X, axis=0) ; np.add.reduce(X, axis=1)
np.minimum.reduce(X, axis=0) ; np.bitwise_and.reduce(i) ; np.multiply.outer(x[:200], y[:200])
"""

OPERATORS = """
x + y ; x - number ; x * 2 ; x / y ; x // y ; x % y ; p ** 2 ; x ** 3 ; p ** 0.5 ; i + j ; i // j ; i % j ; i // 3 ; i % 7
i ** 2 ; i << 2 ; b + b ; b * 2 ; b // 3 ; b % 7 ; b >> 1 ; s * s ; s // 3 ; -x ; abs(x) ; abs(z) ; z * w ; z / w ; z + 1.0
z ** 2 ; ~m ; x > 0 ; x == y ; i > 3 ; b == 7 ; z == w ; (x > 0) & (y < 0) ; (x > 0) | (y < 0) ; m & k ; m ^ k ; (x > 0) / 3
(x > 0) * 2.0 ; (x > 0) + 1 ; np.abs(z) > 2 ; np.abs(z) ** 2 ; f + f ; f * 2 ; f // 2 ; f > 1 ; h + h ; h * 2 ; x + i ; x * m
f + x ; i / j ; i / 3 ; x @ y ; X + x[:1] ; X * X[:, :1] ; X - X.mean(axis=0) ; X / X.sum(axis=1, keepdims=True) ; i & 3
i | j ; s ^ s ; divmod(i, j)[0] ; divmod(x, y)[1]
"""

REDUCTIONS = """
{}.sum({}) ; {}.prod({}) ; {}.max({}) ; {}.min({}) ; {}.mean({}) ; {}.std({}) ; {}.var({}) ; {}.any({}) ; {}.all({})
{}.argmax({}) ; {}.argmin({}) ; np.ptp({},{}) ; np.median({},{}) ; np.count_nonzero({},{})
"""
FUNCTIONS = """
np.nansum(a) ; np.nanmean(a) ; np.nanmax(a) ; np.nanmin(a) ; np.nanstd(a) ; np.nanprod(a) ; np.nanargmax(a) ; np.nancumsum(a)
np.nanmean(A, axis=0) ; np.nansum(A, axis=1) ; np.nan_to_num(x) ; np.nan_to_num(a) ; np.nan_to_num(z) ; np.average(x)
np.average(x, weights=p) ; np.cumsum(x) ; np.cumprod(u) ; np.cumsum(i) ; np.cumsum(X, axis=0) ; np.cumsum(X, axis=1)
np.diff(x) ; np.diff(X, axis=0) ; np.diff(x, n=2) ; np.ediff1d(x) ; np.gradient(x) ; np.gradient(X)[0] ; np.trapezoid(x)
np.clip(x, -1, 1) ; np.clip(i, 3, 9) ; np.clip(b, 3, 9) ; np.round(x) ; np.round(x, 2) ; np.fix(x) ; np.sign(x) ; np.sign(i)
np.sign(f) ; np.real(z) ; np.imag(z) ; np.angle(z) ; np.conj(z) ; np.real_if_close(z) ; np.isreal(z) ; np.iscomplex(z)
np.isneginf(x) ; np.isposinf(x) ; np.isclose(x, y) ; np.allclose(x, y) ; np.array_equal(x, y) ; np.sinc(x) ; np.i0(u)
np.unwrap(x) ; np.deg2rad(x) ; np.where(x > 0, x, y) ; np.where(x > 0, 1.0, -1.0) ; np.where(m, i, j) ; np.where(m)[0]
np.where(x > 0, x, 0) ; np.where(m, b, 0) ; np.nonzero(m)[0] ; np.where(np.diff(np.signbit(x)))[0] ; np.flatnonzero(m)
np.argwhere(m) ; np.extract(m, x) ; np.compress(m, x) ; np.select([x > 1, x < -1], [x, y], 0.0) ; np.choose(j % 3, [x, y, p])
np.piecewise(x, [x > 0, x <= 0], [1.0, -1.0]) ; np.place(x.copy(), m, 0.0) ; np.heaviside(x, 0.5)
np.digitize(p, [0.2, 0.5, 0.8]) ; np.take(x, j) ; np.take(X, j[:3], axis=0) ; np.take_along_axis(X, I % 3, axis=1)
np.roll(x, 3) ; np.roll(b, 3) ; np.roll(X, 1, axis=0) ; np.roll(X, 1, axis=1) ; np.roll(X, (1, 2), axis=(0, 1))
np.roll(i, -2) ; np.roll(m, 1) ; np.roll(z, 5) ; np.flip(x) ; np.flip(X, 1) ; np.fliplr(X) ; np.flipud(X) ; np.rot90(X)
np.repeat(x, 3) ; np.repeat(b, 2) ; np.repeat(X, 2, axis=0) ; np.repeat(X, 2, axis=1) ; np.repeat(x, j) ; np.tile(x, 3)
np.tile(X, (2, 2)) ; np.resize(x, 60) ; np.concatenate([x, y]) ; np.concatenate([X, Y], axis=1) ; np.stack([x, y])
np.stack([x, y], axis=1) ; np.hstack([x, y]) ; np.vstack([x, y]) ; np.dstack([x, y]) ; np.column_stack([x, y])
np.append(x, 3.0) ; np.append(x, y) ; np.insert(x, 1, 3.0) ; np.delete(x, 1) ; np.pad(x, 2) ; np.pad(x, 2, mode="edge")
np.pad(X, 1) ; np.split(x, 2)[0] ; np.array_split(x, 3)[1] ; X.T.reshape(-1) ; X.T.copy() ; np.transpose(X).ravel()
np.ascontiguousarray(X.T) ; np.swapaxes(X, 0, 1).copy() ; np.broadcast_to(x, (3, x.size)).copy() ; np.atleast_2d(x)
np.expand_dims(x, 0) ; np.squeeze(x[None]) ; np.moveaxis(X, 0, 1) ; np.ravel(X) ; X.flatten() ; np.zeros(x.size)
np.ones(x.size) ; np.full(x.size, 3.5) ; np.zeros_like(x) ; np.ones_like(i) ; np.full_like(x, 2.0) ; np.arange(x.size)
np.arange(x.size) * 0.5 ; np.linspace(0.0, 1.0, x.size) ; np.logspace(0.0, 1.0, x.size) ; np.geomspace(1.0, 2.0, x.size)
np.eye(50) ; np.identity(20) ; np.tri(20) ; np.diag(x[:20]) ; np.diag(X) ; np.diagonal(X) ; np.trace(X) ; np.tril(X)
np.triu(X) ; np.vander(x[:50], 4) ; np.meshgrid(x[:100], y[:100])[0] ; np.indices((20, 20))[0] ; np.outer(x[:200], y[:200])
np.inner(x, y) ; np.dot(x, y) ; np.dot(x, number) ; np.dot(X, x[:X.shape[1]]) ; np.vdot(z, w) ; np.vdot(x, y)
np.matmul(X, x[:X.shape[1]]) ; np.kron(x[:50], y[:50]) ; np.cross(X[:, :3], Y[:, :3]) ; np.linalg.norm(x)
np.linalg.norm(X, axis=1) ; np.linalg.norm(X, axis=0) ; np.tensordot(x, y, 1) ; np.einsum("i,i->i", x, y)
np.einsum("i,i->", x, y) ; np.einsum("ij->j", X) ; np.einsum("ij,j->i", X, x[:X.shape[1]])
np.convolve(x, np.array([1.0, 2.0, 1.0])) ; np.correlate(x, np.array([1.0, 2.0, 1.0])) ; np.cov(x, y) ; np.corrcoef(x, y)
np.interp(p, o, x) ; np.polyval([1.0, 2.0, 3.0], x) ; np.histogram(u, 10)[0] ; np.bincount(j) ; np.bincount(j, weights=x)
np.searchsorted(o, p) ; np.sort(x) ; np.argsort(x) ; np.partition(x, 3) ; np.argpartition(x, 3) ; np.unique(j)
np.percentile(x, 30) ; np.quantile(x, 0.3) ; np.isin(i, [3, 5, 9]) ; np.intersect1d(i, j) ; np.union1d(i, j)
np.setdiff1d(i, j) ; np.setxor1d(i, j) ; np.packbits(m) ; np.unpackbits(b) ; np.bitwise_count(i) ; np.copysign(x, y)
np.nextafter(x, y) ; np.modf(x)[0] ; np.frexp(x)[0] ; np.ldexp(x, 2) ; np.hypot(x, y) ; np.copy(x) ; np.asarray(x)
np.array([x, y]) ; np.array(x, dtype=np.float32) ; np.argmax(m) ; np.lexsort((x, y))
np.apply_along_axis(np.sum, 0, X[:, :3]) ; np.empty_like(x) ; np.fft.fft(x[:512]) ; np.fft.rfft(x[:512]) ; np.fft.fftshift(x)
np.poly1d([1.0, 2.0])(x) ; np.trim_zeros(x) ; np.ix_(x[:3], y[:3])[0]
"""

METHODS = """
x.astype(np.float32) ; x.astype(np.int64) ; i.astype(np.float64) ; b.astype(np.float64) ; m.astype(np.float64)
m.astype(np.int64) ; f.astype(np.float64) ; x.astype(bool) ; i.astype(np.uint8) ; x.astype(complex) ; s.astype(np.int64)
x.copy() ; X.copy() ; x.clip(-1.0, 1.0) ; x.round(1) ; x.ravel() ; x.reshape(-1, 5) ; x.reshape(5, -1).T.reshape(-1)
X.transpose() ; X.swapaxes(0, 1) ; x.take(j) ; x.repeat(2) ; x.nonzero()[0] ; x.compress(m) ; x.searchsorted(1.0) ; x.sort()
x.argsort() ; x.cumsum() ; u.cumprod() ; z.conj() ; z.real ; z.imag ; z.real * z.imag ; x.view(np.int64) ; x.fill(3.0)
X.trace() ; X.diagonal() ; x.dot(y) ; x.item(3) ; x.tolist() ; X.sum() ; X.mean() ; X.T.sum(axis=0) ; X.max() ; X.argmax()
X.flatten() ; x.squeeze() ; x.put([1, 2], 3.0) ; X[0] ; X[:, 1] ; x[::-1] ; x[1:] - x[:-1] ; x[m] ; x[j] ; X[m[: X.shape[0]]]
x[x > 0] ; X[:, ::-1].copy() ; X[1:, 1:] + X[:-1, :-1] ; x[3] ; x[-1] ; X[1, 2] ; x[None, :] + y[:3, None]
"""

GENERATORS = """
rng.random(3) ; rng.random() ; rng.standard_normal(x.size) ; rng.integers(0, 9, 5) ; rng.normal(0.0, 1.0, 10)
rng.random(x.size) ; rng.uniform(0.0, 2.0, 4) ; rng.permutation(10) ; rng.choice(x, 3)
"""

PROGRAMS = {
    "two covering stores": "n = x.size // 2\n    r = np.empty(x.size)\n    r[:n] = x[:n]\n    r[n:] = y[n:]\n    return r",
    "zeros, then a store": "r = np.zeros(x.size)\n    r[1:] = x[1:]\n    return r",
    "store through a mask": "r = x.copy()\n    r[r > 0] = 0.0\n    return r",
    "in-place arithmetic": "r = x.copy()\n    r *= 2\n    r += y\n    return r",
    "softmax": "e = np.exp(x - x.max())\n    return e / e.sum()",
    "standardise": "return (x - x.mean()) / x.std()",
    "out of a ufunc": "r = np.empty_like(x)\n    np.add(x, y, out=r)\n    return r",
}


def expressions(text):
    return [part.strip() for line in text.splitlines() for part in line.split(" ; ") if part.strip()]


def reduction_rows():
    for name, axis in [(n, "") for n in "xfibmzch"] + [(n, a) for n in "XFIBMZC" for a in ("axis=0", "axis=1")]:
        for template in expressions(REDUCTIONS):
            if name in "zcZC" and ("ptp" in template or "median" in template or ".max" in template or ".min" in template):
                continue
            if name in "mM" and ("ptp" in template or "median" in template):
                continue
            yield template.format(name, axis).replace(",)", ")")


def all_rows():
    """Every row, by name: in the order of the table."""
    rows = list(ufunc_rows())
    texts = [*expressions(UFUNC_METHODS), *expressions(OPERATORS), *reduction_rows()]
    texts += [*expressions(FUNCTIONS), *expressions(METHODS), *expressions(GENERATORS)]
    rows += [Row(text, text) for text in texts]
    rows += [Row(name, text) for name, text in PROGRAMS.items()]
    return {row.name: row for row in rows}


def strided(array):
    """Copy the array into one whose last axis has a stride of two elements."""
    spread = np.zeros((*array.shape[:-1], 2 * array.shape[-1]), array.dtype)
    spread[..., ::2] = array
    return spread[..., ::2]


def inputs(count, layout):
    """name -> array, for all names that expressions use."""
    rng = np.random.default_rng(0)
    found = {name: make(count, rng) for name, make in VECTORS.items()}
    shape = matrix_shape(count)
    found |= {name: VECTORS[vector](shape[0] * shape[1], rng).reshape(shape) for name, vector in MATRICES.items()}
    if layout == "strided":
        found = {name: strided(array) for name, array in found.items()}
    return found | NUMBERS | {"rng": np.random.default_rng(1)}
