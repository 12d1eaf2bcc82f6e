"""NumPy with noise: each result whose last bits a device may have otherwise (docs/gpu.md) is a few units away.

How far runs of a function with noise are from NumPy's is how far a device may be.
"""

import re
from pathlib import Path

import numpy as np

PAGE = Path(__file__).resolve().parents[3] / "docs" / "gpu_accuracy.md"
COLUMNS = ["float16", "float32", "float64", "complex64", "complex128"]
PRODUCTS = ("dot", "inner", "vdot", "convolve", "correlate", "einsum", "tensordot")


def units_of_page():
    """(ufunc, dtype) -> units in the last place."""
    rows = re.findall(r"^\| (\w+) \|(.*)\|$", PAGE.read_text(), re.M)
    cells = {(name, d): c.strip().replace(",", "") for name, row in rows for d, c in zip(COLUMNS, row.split("|"), strict=True)}
    return {key: int(c) if c.isdigit() else 2**52 if c in ("all", "differs") else 0 for key, c in cells.items()}


def is_complex_backwards(x):
    """Of operands with negative strides NumPy's products and magnitudes of complex numbers have other bits."""
    return isinstance(x, np.ndarray) and x.dtype.kind == "c" and min(x.strides, default=0) < 0


class Noise:
    """Draws the noise of one run. `used`: whether a finite number was changed."""

    def __init__(self):
        self.units = units_of_page()
        self.seed(0)

    def seed(self, seed):
        self.rng = np.random.default_rng(seed)
        self.used = False
        self.sums_are_exact = True

    def add(self, result, units, scale=None, *, zeros=False, together=False):
        """Changes numbers by so many units of theirs or of `scale`, signs of NaNs, with `zeros` those of zeros.

        `together`: all in the same direction.
        """
        if result.dtype.kind not in "fc" or not result.size:
            return result
        changed = np.array(result)
        parts = changed.reshape(-1).view(changed.real.dtype)
        scales = parts if scale is None else np.asarray(scale, parts.dtype).reshape(-1).repeat(len(parts) // np.size(scale))
        signs = self.rng.choice([-1.0, 1.0], 1 if together else parts.shape).astype(parts.dtype)
        signs = np.broadcast_to(signs, parts.shape)
        flips = np.isnan(parts) | (zeros & (parts == 0))
        moved = np.isfinite(parts) & np.isfinite(scales) & (units * np.abs(scales) > 0)
        self.used |= bool(moved.any() or flips.any())
        parts[flips] *= signs[flips]
        parts[moved] += signs[moved] * parts.dtype.type(units) * np.spacing(np.abs(scales[moved]))
        return changed.reshape(np.shape(result))[()] if isinstance(result, np.generic) else changed.reshape(result.shape)

    def of_ufunc(self, ufunc, method, inputs, keywords, result):
        if not hasattr(result, "dtype"):
            return result
        name = ufunc.__name__
        if method == "reduce":
            return self.of_reduction(name, inputs[0], keywords, result)
        if name in ("matmul", "vecdot", "matvec", "vecmat"):
            return self.of_product(result, lambda: ufunc(*(np.abs(x) for x in inputs)))
        if name in ("power", "float_power") and np.ndim(inputs[1]) == 0 and inputs[1] == 2 and result.dtype.kind == "f":
            return self.add(result, 0)
        if method == "accumulate" and name in ("add", "multiply"):
            return self.of_accumulation(ufunc, inputs[0], keywords, result)
        if name in ("absolute", "multiply", "square") and any(map(is_complex_backwards, inputs)):
            return self.add(result, 2, ufunc(*map(np.abs, inputs)))
        dtypes = [np.result_type(result).name, *(np.result_type(x).name for x in inputs)]
        of_either_sign = name in ("fmax", "fmin", "maximum", "minimum")  # zeros, where the operands have zeros of both
        return self.add(result, max(self.units.get((name, dtype), 0) for dtype in dtypes), zeros=of_either_sign)

    def of_product(self, result, absolute):
        """`absolute`: makes the product of the magnitudes. Of infinite complex numbers anything may come."""
        if result.dtype.kind == "c" and not np.isfinite(result).all():
            return np.full_like(result, np.nan)
        return self.add(result, 2, absolute())

    def of_accumulation(self, ufunc, x, keywords, result):
        """Those of few long runs have another order."""
        axis = keywords.get("axis", 0)
        length = x.shape[axis]
        if length < 4096 or x.size // length >= 512:
            return self.add(result, 0)
        # NumPy is off by so much itself: where it adds the same number again and again, always in the same direction.
        return self.add(result, 2 + length / 16, ufunc.accumulate(np.abs(x), axis=axis), together=True)

    def of_variance(self, result, x, root, axis=None, keepdims=False, **_):
        """The mean, whose rounding changes all deviations, is not known before them. NumPy's may be far off, see above."""
        largest = np.max(np.abs(x), axis=axis, keepdims=keepdims).astype(result.dtype)
        deviation = result if root else np.sqrt(result)
        of_mean = largest * (1 + x.size / max(result.size, 1) / 16)
        scale = largest * deviation + of_mean * np.spacing(of_mean)
        return self.add(result, 2, np.where(result > 0, scale / np.where(deviation > 0, deviation, 1) if root else scale, 0))

    def of_reduction(self, name, x, keywords, result):
        if name == "add":
            axis = keywords.get("axis", 0)
            in_order = x.flags.c_contiguous and axis in (None, x.ndim - 1, -1, tuple(range(x.ndim)))
            kept = {k: v for k, v in keywords.items() if k in ("axis", "keepdims", "where")}
            # NumPy adds rows to rows: it is off by so much itself.
            units = 2 if in_order else 2 + (x.size / max(result.size, 1)) ** 0.5 / 4
            return self.add(result, 0 if in_order and self.sums_are_exact else units, np.add.reduce(np.abs(x), **kept))
        units = {"maximum": 0, "minimum": 0, "fmax": 0, "fmin": 0}
        return self.add(result, units.get(name, 4 + np.size(x) ** 0.5), zeros=name in units)


noise = Noise()


def plain(value):
    if isinstance(value, Noisy):
        return value.view(np.ndarray)
    return type(value)(map(plain, value)) if type(value) in (list, tuple) else value


def noisy(value):
    if type(value) is np.ndarray:
        return value.view(Noisy)
    return type(value)(map(noisy, value)) if type(value) in (list, tuple) else value


def called(ufunc, method, inputs, keywords):
    inputs, out = [plain(x) for x in inputs], keywords.get("out")
    out = out[0] if isinstance(out, tuple) else out
    keywords = {key: plain(value) for key, value in keywords.items()}
    before = [np.array(x) if isinstance(x, np.ndarray) and out is not None else x for x in inputs]
    result = getattr(ufunc, method)(*inputs, **keywords)
    if isinstance(result, tuple):
        return tuple(noisy(noise.add(part, 0)) for part in result)
    changed = noise.of_ufunc(ufunc, method, before, {k: v for k, v in keywords.items() if k != "out"}, result)
    if out is None:
        return noisy(changed)
    plain(out)[...] = changed
    return out


class Noisy(np.ndarray):
    """An array whose operations have noise."""

    def __array_ufunc__(self, ufunc, method, *inputs, **keywords):
        return called(ufunc, method, inputs, keywords)

    def __array_function__(self, function, types, arguments, keywords):
        result = super().__array_function__(function, types, arguments, keywords)
        if function.__name__ not in PRODUCTS or not hasattr(result, "dtype"):
            return result
        absolute = [np.abs(plain(x)) if hasattr(x, "dtype") else x for x in arguments]
        return noisy(noise.of_product(plain(result), lambda: plain(function(*absolute, **keywords))))

    def dot(self, other):
        return np.dot(self, other)


def in_any_order(name):
    """A method that computes sums: they are noisy in it, whatever the order."""

    def method(self, *arguments, **keywords):
        noise.sums_are_exact = False
        try:
            result = getattr(super(Noisy, self), name)(*arguments, **keywords)
        finally:
            noise.sums_are_exact = True
        if name == "mean" or not hasattr(result, "dtype"):
            return result
        return noisy(noise.of_variance(plain(result), plain(self), name == "std", *arguments, **keywords))

    return method


def accumulation(name, ufunc):
    """A method that NumPy does not compute by a call of the ufunc."""

    def method(self, axis=None, dtype=None, out=None):
        result = getattr(plain(self), name)(axis, dtype)
        x = plain(self).ravel() if axis is None else plain(self)
        changed = noise.of_accumulation(ufunc, x.astype(result.dtype), {"axis": axis or 0}, result)
        if out is None:
            return noisy(changed)
        plain(out)[...] = changed
        return out

    return method


Noisy.cumsum, Noisy.cumprod = accumulation("cumsum", np.add), accumulation("cumprod", np.multiply)
for name in ("mean", "var", "std"):
    setattr(Noisy, name, in_any_order(name))


class NoisyNumPy:
    """The module, for functions with noise."""

    def __getattr__(self, name):
        value = getattr(np, name)
        if isinstance(value, np.ufunc):
            return NoisyUfunc(value)
        if isinstance(value, type) or not callable(value):
            return value

        def function(*arguments, **keywords):
            return noisy(value(*arguments, **keywords))

        return function


def noisy_abs(x):
    """The function `abs`. That of NumPy's complex numbers is `hypot` of their parts."""
    if not isinstance(x, np.complexfloating):
        return abs(x)
    return noise.add(abs(x), noise.units["hypot", x.real.dtype.name])


class NoisyUfunc:
    """A ufunc whose calls with NumPy's numbers are noisy, too."""

    def __init__(self, ufunc):
        self.ufunc = ufunc

    def __call__(self, *inputs, **keywords):
        return called(self.ufunc, "__call__", inputs, keywords)

    def __getattr__(self, name):
        return getattr(self.ufunc, name)
