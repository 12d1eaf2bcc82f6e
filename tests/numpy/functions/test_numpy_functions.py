"""Functions that NumPy writes in Python, traced through their code: each case is compiled as a whole."""

import numpy as np
import numpy.fft  # loaded at its first use otherwise
import pytest
from support.differential import check, check_left_to_numpy, sample

A, B = sample((6, 5)), sample((6, 5), seed=1)
S = sample((5, 5), seed=3)
V, W = sample(7), sample(7, seed=2)
T = sample((3, 4, 5))
P, Q = sample((8, 3)), sample((8, 3), seed=5)
C = sample((6, 5), "complex128")
SORTED = np.sort(np.abs(V))

CASES = {
    "eye": (lambda x: np.eye(5) + x, S),
    "eye of another shape": (lambda x: np.eye(6, 5, 1) + x, A),
    "eye below": (lambda x: np.eye(6, 5, k=-2) + x, A),
    "identity": (lambda x: np.identity(5) + x, S),
    "linspace": (lambda x: np.linspace(0, 1, 7) * x, V),
    "linspace without its end": (lambda x: np.linspace(0, 1, 7, endpoint=False) * x, V),
    "linspace of a size": (lambda x: np.linspace(0, 1, x.shape[0]) * x, V),
    "linspace with step": (lambda x: np.linspace(0, 1, 7, retstep=True)[0] * x, V),
    "meshgrid": (lambda x, y: np.meshgrid(x, y)[0] * 2, V, W),
    "meshgrid ij": (lambda x, y: np.meshgrid(x, y, indexing="ij")[1] * 2, V, W),
    "meshgrid sparse": (lambda x, y: np.meshgrid(x, y, sparse=True)[1] * 2, V, W),
    "mgrid": (lambda x: np.mgrid[0:6, 0:5] * x, A),
    "mgrid of a count": (lambda x: np.mgrid[0:1:7j] * x, V),
    "ogrid": (lambda x: np.ogrid[0:6, 0:5][0] * x, A),
    "indices": (lambda x: np.indices((6, 5)) * x, A),
    "flip": (lambda x: np.flip(x) * 2, A),
    "flip of an axis": (lambda x: np.flip(x, 1) * 2, A),
    "roll": (lambda x: np.roll(x, 1), V),
    "roll of a matrix": (lambda x: np.roll(x, 1), A),
    "roll along an axis": (lambda x: np.roll(x, 1, axis=0), A),
    "roll along two axes": (lambda x: np.roll(x, (1, -1), axis=(0, 1)), A),
    "moveaxis": (lambda x: np.moveaxis(x, 0, -1) * 2, T),
    "rollaxis": (lambda x: np.rollaxis(x, 2) * 2, T),
    "expand_dims": (lambda x: np.expand_dims(x, 0) * 2, A),
    "stack": (lambda x, y: np.stack([x, y]), A, B),
    "stack last": (lambda x, y: np.stack([x, y], axis=-1), A, B),
    "block": (lambda x, y: np.block([[x, y], [y, x]]), A, B),
    "tile": (lambda x: np.tile(x, 3), V),
    "tile twice": (lambda x: np.tile(x, (2, 3)), A),
    "broadcast_to": (lambda x: np.broadcast_to(x, (6, 6, 5)) * 2, A),
    "broadcast_arrays": (lambda x, y: np.broadcast_arrays(x, y)[1] * 2, A, A[0]),
    "tensordot": (lambda x, y: np.tensordot(x, y, 1), A, S),
    "tensordot of axes": (lambda x, y: np.tensordot(x, y, axes=([0], [0])), A, B),
    "tensordot of all": (lambda x, y: np.tensordot(x, y, axes=2), A, B),
    "rot90": (lambda x: np.rot90(x) * 2, A),
    "diff twice": (lambda x: np.diff(x, n=2), V),
    "cross": (lambda x, y: np.cross(x, y), P, Q),
    "linalg.cross": (lambda x, y: np.linalg.cross(x, y), P, Q),
    "gradient": (lambda x: np.gradient(x), V),
    "gradient with a distance": (lambda x: np.gradient(x, 0.5), V),
    "gradient of a matrix": (lambda x: np.gradient(x)[0], A),
    "gradient of an axis": (lambda x: np.gradient(x, axis=0), A),
    "trapezoid": (lambda x, y: np.trapezoid(x, y), V, W),
    "average": (lambda x: np.average(x, axis=0), A),
    "weighted average": (lambda x, y: np.average(x, weights=y), V, SORTED),
    "count_nonzero": (lambda x: np.count_nonzero(x > 0, axis=0), A),
    "isclose": (lambda x, y: np.isclose(x, y), A, B),
    "allclose": (lambda x, y: np.allclose(x, y), A, B),
    "nanmax": (lambda x: np.nanmax(x), A),
    "nanmin": (lambda x: np.nanmin(x, axis=0), A),
    "nanmean": (lambda x: np.nanmean(x), A),
    "vdot": (lambda x, y: np.vdot(x, y), V, W),
    "take_along_axis": (lambda x: np.take_along_axis(x, np.argmax(x, axis=1)[:, None], axis=1), A),
    "ix_": (lambda x: x[np.ix_([0, 2], [1, 2])] * 2, A),
    "a mean under a mask": (lambda x: (x[x > 0].mean(), x[x > 0].std(), x[x > 0].max()), A),
    "elements of flat": (lambda x: sum(x.flat[i] for i in range(5)), A),
    "pad": (lambda x: np.pad(x, 1), A),
    "pad with widths": (lambda x: np.pad(x, ((1, 2), (0, 1)), constant_values=3), A),
    "pad with edges": (lambda x: np.pad(x, 1, mode="edge"), A),
    "fftshift": (lambda x: np.fft.fftshift(x) * 2, V),
    "hanning": (lambda x: np.hanning(7) * x, V),
    "imag of real numbers": (lambda x: x.imag + x, A),
    "polyval": (lambda x: np.polyval([1, 2, 3], x), V),
    "flags": (lambda x: x * 2 if x.flags.c_contiguous else x, A),
    "broadcast": (lambda x, y: x * np.broadcast(x, y).ndim, A, A[0]),
    "angle": (lambda x: np.angle(x), C),
}


@pytest.mark.parametrize("name", CASES)
def test_function(name):
    function, *arguments = CASES[name]
    with np.errstate(all="ignore"):
        check(function, *arguments)


def test_generators():
    def consumed(x):
        squares = tuple(i * i for i in range(4))
        total = sum(x * i for i in squares)
        if any(i > 5 for i in squares) and all(i >= 0 for i in squares):
            total = total + max(i for i in squares) + sorted(-i for i in squares)[0]
        for i, row in zip((k + 1 for k in (1, 2)), [x, total], strict=False):
            total = total + row * i
        return total * (3 in (i for i in squares)) + len(set(i % 2 for i in squares))

    check(consumed, A)


def test_generator_functions():
    def numbers(limit):
        k = 0
        while k < limit:
            yield k
            k += 1

    def stepwise(x):
        source = numbers(5)
        x = x * next(source)
        for k in source:
            x = x + k
            if k == 3:
                break
        return x * next(source) + next(source, 7)

    check(stepwise, A)


def test_sets():
    def sets(x):
        axes = {a % 3 for a in (0, 1, 2, 3)}
        axes |= {1}
        axes.discard(2)
        rest = set(range(3)) - axes
        shapes = {x.shape, (x * 2).shape}
        if len(shapes) != 1:
            raise ValueError("shapes")
        return x.sum(axis=tuple(sorted(axes))) * len(rest) + (1 in axes) + ({1} <= axes)

    check(sets, A)


def test_handled_exceptions():
    def handled(x, n):
        try:
            n = tuple(n)
        except TypeError:
            n = (n,)
        try:
            {}["missing"]
        except (ValueError, KeyError):
            x = x * 2
        else:
            x = x * 3
        finally:
            x = x + 1
        try:
            try:
                raise ValueError("inner")
            finally:
                x = x - 0.5
        except ValueError:
            x = x * 1.5
        return x * len(n)

    check(handled, A, 3)


def test_exceptions_that_leave():
    def leaves(x):
        y = x * 2
        try:
            y = y + 1
            raise KeyError(str(3))
        except ValueError:
            y = y * 5
        return y

    check_left_to_numpy(leaves, A)


class Scale:
    """An instance that lives in one call only."""

    limit = 3.0

    def __init__(self, factor, offset=0.0):
        self.factor = factor
        self.offset = offset

    def __call__(self, x):
        return np.minimum(x * self.factor + self.offset, self.limit)

    def __enter__(self):
        self.factor = self.factor * 2
        return self

    def __exit__(self, kind, error, trace):
        self.factor = 1.0
        return kind is ValueError

    @property
    def double(self):
        return self.factor * 2


def test_instances():
    def made(x, f):
        scale = Scale(f, offset=1.0)
        x = scale(x)
        with scale as inner:
            x = x * inner.factor
        with Scale(2.0):
            x = x + 1
            raise ValueError
        return x * scale.double

    check(made, A, 0.5)


def test_a_class_that_changes():
    def scaled(x):
        return Scale(2.0)(x)

    call = check(scaled, A)
    try:
        Scale.limit = 1.0
        np.testing.assert_array_equal(call(A), scaled(A))
    finally:
        Scale.limit = 3.0


def test_errstate():
    def safe(x, y):
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = x / y
        return np.where(y == 0, 0.0, ratio)

    check(safe, A, B)
    zeros = B.copy()
    zeros[1] = 0
    check_left_to_numpy(safe, A, zeros)

    @np.errstate(over="ignore")
    def decorated(x):
        return np.exp(x)

    check(decorated, A)
    check_left_to_numpy(decorated, A * 1000)


def test_numbers_known_from_constants():
    def known(x):
        weights = np.array([1.0, 2.0, 3.0])
        if weights.sum() > 5 and np.float64(2.0) * 3 == 6:
            return x[int(weights[1])] * weights[2]
        return x

    check_left_to_numpy(known, A)
