"""Small functions as scientists write them, of many kinds: each is compiled as a whole and does what NumPy does."""

import collections
import dataclasses
import sys

import numpy as np
import pytest
from support.compiled import facts
from support.outcome import assert_same

import accel

Stats = collections.namedtuple("Stats", "mean median spread")


def spread(x):
    q1, q2, q3 = np.percentile(x, [25, 50, 75])
    return x.mean(), q2, q3 - q1, np.percentile(x, [2.5, 97.5])


def scaled_columns(table):
    result = {}
    for name, column in table.items():
        deviation = column.std()
        result[name] = (column - column.mean()) / deviation if deviation else np.zeros_like(column)
    return result


def total_of_parameters(table):
    return sum(np.sum(v * v) for v in table.values()), [name for name in table], dict(table)["a"] * 2


def low_pass(x):
    spectrum = np.fft.rfft(x)
    spectrum[4:] = 0
    return np.fft.irfft(spectrum, len(x)), np.abs(np.fft.fft(x)) ** 2


def spectra(x):
    return np.fft.fft(x, axis=0), np.fft.ifft(x * 1j, norm="ortho"), np.fft.rfft(x, norm="forward")


def peaks(y):
    indices = [i for i in range(1, len(y) - 1) if y[i] > y[i - 1] and y[i] >= y[i + 1] and y[i] > 0.3]
    return np.array(indices, dtype=np.intp)


def confusion(true, predicted):
    m = np.zeros((5, 5), dtype=int)
    np.add.at(m, (true, predicted), 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        precision = np.diag(m) / m.sum(axis=0)
    return m, np.nan_to_num(precision)


def sub_block(a, rows, columns):
    b = a[np.ix_(rows, columns)]
    return b @ b.T, np.linalg.det(b @ b.T + np.eye(len(rows)))


def best_three(scores):
    order = np.argsort(-scores, axis=1)[:, :3]
    return order, np.take_along_axis(scores, order, axis=1)


def group_means(labels, values):
    keys, inverse, counts = np.unique(labels, return_inverse=True, return_counts=True)
    sums = np.zeros(len(keys))
    for i, v in zip(inverse, values):
        sums[i] += v
    return keys, sums / counts


def ridge(x, y, penalty=0.1):
    n, d = x.shape
    try:
        w = np.linalg.solve(x.T @ x + penalty * np.eye(d), x.T @ y)
    except np.linalg.LinAlgError:
        w = np.zeros(d)
    r = y - x @ w
    return w, float(r @ r) / n


def entropy(x):
    counts, edges = np.histogram(x, bins=10)
    p = counts / counts.sum()
    p = p[p > 0]
    return -np.sum(p * np.log(p)), edges


def pair_energy(positions, charges):
    energy = 0.0
    for i in range(len(positions)):
        for j in range(i + 1, len(positions)):
            r = np.sqrt(((positions[i] - positions[j]) ** 2).sum())
            if r == 0:
                raise ValueError(f"particles {i} and {j} coincide")
            energy += charges[i] * charges[j] / r
    return energy


def cheapest_path(paths, distance):
    return min(sum(distance[p[i], p[i + 1]] for i in range(len(p) - 1)) for p in paths)


def settled(history):
    return len(history) > 1 and all(abs(a - b) < 1e-6 for a, b in zip(history[1:], history[:-1]))


def simpson(y, h):
    n = len(y) - 1
    odd = sum(y[2 * k - 1] for k in range(1, n // 2 + 1))
    return h / 3 * (y[0] + 4 * odd + 2 * sum(y[2 * k] for k in range(1, n // 2)) + y[-1])


def mean_norm(vectors):
    return sum(np.linalg.norm(v) for v in vectors) / len(vectors)


def orthogonal(a):
    q = []
    for v in a.T:
        w = v - sum(np.dot(v, u) * u for u in q)
        if np.linalg.norm(w) > 1e-10:
            q.append(w / np.linalg.norm(w))
    return np.array(q).T


def drawdown(prices):
    peak = prices[0]
    worst = 0.0
    for p in prices:
        peak = max(peak, p)
        worst = max(worst, (peak - p) / peak)
    return worst


def filled(x):
    y = x.copy()
    bad = np.isnan(y)
    at = np.arange(len(y))
    y[bad] = np.interp(at[bad], at[~bad], y[~bad])
    return y


def dominant(a, limit):
    v = np.ones(a.shape[0]) / np.sqrt(a.shape[0])
    old = 0.0
    for step in range(limit):
        w = a @ v
        v = w / np.linalg.norm(w)
        value = v @ a @ v
        if abs(value - old) < 1e-9:
            break
        old = value
    else:
        raise RuntimeError(f"no convergence after {limit} steps")
    return value, v, step


@dataclasses.dataclass
class Descent:
    rate: float
    decay: float = 0.9
    steps: int = 10


def descend(a, b, settings):
    x = np.zeros(a.shape[1])
    v = np.zeros_like(x)
    losses = []
    for _ in range(settings.steps):
        v = settings.decay * v - settings.rate * (a.T @ (a @ x - b))
        x = x + v
        losses.append(0.5 * np.sum((a @ x - b) ** 2))
    return x, np.array(losses)


def chosen(x, mode, **options):
    table = {"mean": np.mean, "range": lambda v: v.max() - v.min()}
    scale = options.get("scale", 1.0)
    return table[mode](x) * scale


def smoothed(x):
    taps = np.ones(5) / 5

    def smooth(v):
        return np.convolve(v, taps, mode="same")

    return smooth(smooth(x)) - x.mean()


def kernel(n):
    axis = np.arange(n) - n // 2
    xx, yy = np.meshgrid(axis, axis)
    k = np.exp(-(xx**2 + yy**2) / 8.0)
    return k / k.sum()


def real(n, *more):
    return np.random.default_rng(n).random((n, *more))


CASES = [
    (spread, lambda n: (real(n),)),
    (scaled_columns, lambda n: ({"a": real(n), "b": real(n) * 2, "c": np.ones(n)},)),
    (total_of_parameters, lambda n: ({"a": real(n), "b": real(n, 2)},)),
    (low_pass, lambda n: (real(2 * n),)),
    (spectra, lambda n: (real(n, 6),)),
    (peaks, lambda n: (real(n),)),
    (confusion, lambda n: (np.arange(n) % 5, np.arange(n) * 7 % 5)),
    (sub_block, lambda n: (real(n, n), np.arange(0, n, 2), np.arange(1, n))),
    (best_three, lambda n: (real(n, 10),)),
    (group_means, lambda n: (np.arange(n) % 7, real(n))),
    (ridge, lambda n: (real(n, 4), real(n))),
    (entropy, lambda n: (real(n),)),
    (pair_energy, lambda n: (real(n, 3), real(n))),
    (cheapest_path, lambda n: (np.array([np.random.default_rng(k).permutation(n) for k in range(8)]), real(n, n))),
    (settled, lambda n: (np.linspace(1, 1 + 1e-9, n),)),
    (simpson, lambda n: (real(2 * n + 1), 0.1)),
    (mean_norm, lambda n: (real(n, 3),)),
    (orthogonal, lambda n: (real(n, 5),)),
    (drawdown, lambda n: (real(n) + 1,)),
    (filled, lambda n: (np.where(real(n) < 0.2, np.nan, real(n)),)),
    (dominant, lambda n: (real(n, n), 100)),
    (descend, lambda n: (real(n, 5), real(n), Descent(0.001))),
    (chosen, lambda n: (real(n), "range")),
    (smoothed, lambda n: (real(n),)),
    (kernel, lambda n: (n,)),
]
BAD = [
    (pair_energy, (np.ones((4, 3)), np.ones(4)), ValueError),
    (dominant, (np.array([[0.0, 1.0], [-1.0, 0.3]]), 20), RuntimeError),
    (cheapest_path, (np.array([[0, 1, 9]]), np.ones((3, 3))), IndexError),
    (confusion, (np.array([1, 7]), np.array([0, 0])), IndexError),
    (mean_norm, (np.empty((0, 3)),), ZeroDivisionError),
]


def ids(case):
    return case[0].__name__


# Comprehensions of CPython 3.11 have frames of their own: such loops inside of others are not rolled there.
UNROLLED = [cheapest_path] if sys.version_info < (3, 12) else []


@pytest.mark.parametrize("case", CASES, ids=ids)
def test_captured_whole(case):
    function, make = case
    call = accel.compile(function, fullgraph=function not in UNROLLED)
    for n in (12, 40, 13, 12):
        assert_same(function, call, *make(n), times=2)
    found = facts(call)
    whole = found["compiled"] > 0 and found["interpreted"] == found["side_exits"] == 0
    assert whole or function in UNROLLED, found


@pytest.mark.parametrize("case", BAD, ids=ids)
def test_errors(case):
    function, arguments, error = case
    make = dict(CASES)[function]
    call = accel.compile(function)
    assert_same(function, call, *make(12), times=1)
    with pytest.raises(error):
        function(*arguments)
    assert_same(function, call, *arguments, times=2)
    assert_same(function, call, *make(12), times=1)


@pytest.mark.parametrize("exit", [1, 4, 13])
@pytest.mark.parametrize("case", CASES, ids=ids)
def test_left_at_an_exit(case, exit):
    function, make = case
    with accel.config(stress_exits=exit):
        call = accel.compile(function, backend="numpy")
        assert_same(function, call, *make(12), times=2)


def test_keys_of_a_dict():
    """Another key, or another order of the keys, is another version."""
    call = accel.compile(scaled_columns)
    x, y = real(6), real(6) * 3
    for table in ({"a": x, "b": y}, {"b": y, "a": x}, {"a": x}, {"a": x, "c": y}, {}, {1: x, (2, "b"): y}, {"a": x, "b": y}):
        assert_same(scaled_columns, call, table, times=2)
