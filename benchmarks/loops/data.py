"""Passes over data: counts, masks, bits and sums."""

import numpy as np

from benchmarks.loops import prange


def histogram(values, low, high, bins):
    counts = np.zeros(bins, np.int64)
    width = (high - low) / bins
    for v in values:
        if low <= v < high:
            counts[int((v - low) / width)] += 1
        elif v == high:
            counts[-1] += 1
    return counts


def histogram_2d(x, y, bins):
    counts = np.zeros((bins, bins), np.int64)
    for k in range(len(x)):
        counts[int(x[k] * bins), int(y[k] * bins)] += 1
    return counts


def scatter_add(target, index, values):
    for _ in range(2):
        for k in range(len(index)):
            target[index[k]] += values[k]
    return target


def mask_stores(a, limit):
    flat = a.reshape(-1)
    count = 0
    for i in prange(len(flat)):
        v = min(max(flat[i], -limit), limit)
        if abs(v) < 0.1:
            flat[i] = v * 0.5 + 1
            count += 1
        else:
            flat[i] = v + 2
    return a, count


def morton(x, y):
    code = np.zeros(x.shape, np.uint32)
    for i in prange(len(x)):
        c = np.uint32(0)
        for b in range(16):
            c |= np.uint32(((x[i] >> b) & 1) << (2 * b)) | np.uint32(((y[i] >> b) & 1) << (2 * b + 1))
        code[i] = c
    return code


def row_norms(a):
    result = np.empty(len(a))
    for i in prange(len(a)):
        total = 0.0
        for j in range(a.shape[1]):
            total += a[i, j] * a[i, j]
        result[i] = np.sqrt(total)
    return result


def rotations(angles):
    result = np.empty((len(angles), 2, 2))
    for i in prange(len(angles)):
        c, s = np.cos(angles[i]), np.sin(angles[i])
        result[i, 0, 0], result[i, 0, 1], result[i, 1, 0], result[i, 1, 1] = c, -s, s, c
    return result


def weighted_columns(a, weights):
    result = np.empty(len(a))
    for i in prange(len(a)):
        total = 0.0
        for j in range(len(weights)):
            total += weights[j] * a[i, j]
        result[i] = total
    return result


def longest_increasing(x):
    length = np.ones(len(x), np.int64)
    for i in range(len(x)):
        for j in range(i):
            if x[j] < x[i] and length[j] + 1 > length[i]:
                length[i] = length[j] + 1
    return length.max() if len(x) else 0


def collatz(numbers):
    steps = np.zeros(len(numbers), np.int64)
    for i in prange(len(numbers)):
        n = numbers[i]
        while n != 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            steps[i] += 1
    return steps


def moments(x):
    mean = x.mean()
    second = third = fourth = 0.0
    for i in prange(len(x)):
        d = x[i] - mean
        second += d * d
        third += d * d * d
        fourth += d * d * d * d
    n = len(x)
    variance = second / n
    return mean, variance, third / n / variance**1.5, fourth / n / variance**2 - 3


SOURCES = {
    "histogram": histogram,
    "histogram_2d": histogram_2d,
    "scatter_add": scatter_add,
    "mask_stores": mask_stores,
    "morton": morton,
    "row_norms": row_norms,
    "rotations": rotations,
    "weighted_columns": weighted_columns,
    "longest_increasing": longest_increasing,
    "collatz": collatz,
    "moments": moments,
}
