"""Short programs: element access, recurrences, gathers, masks, integers and bits."""

import numpy as np
from support.whole_programs import Program


def running_mean(x, window):
    result = np.empty(len(x) - window + 1)
    total = x[:window].sum()
    result[0] = total / window
    for i in range(1, len(result)):
        total += x[i + window - 1] - x[i - 1]
        result[i] = total / window
    return result


def exponential_smoothing(x, alpha):
    result = np.zeros(x.shape, dtype=x.dtype)
    result[0] = x[0]
    for t in range(1, x.shape[0]):
        result[t] = alpha * x[t] + (1 - alpha) * result[t - 1]
    return result


def prefix_sums(a):
    """The integral image, row by row and column by column."""
    s = np.zeros((a.shape[0] + 1, a.shape[1] + 1), dtype=a.dtype)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            s[i + 1, j + 1] = a[i, j] + s[i, j + 1] + s[i + 1, j] - s[i, j]
    return s


def fibonacci(n):
    values = np.ones(n, dtype=np.int64)
    for i in range(2, n):
        values[i] = values[i - 1] + values[i - 2]
    return values


def logistic_map(r, x, steps):
    """A scalar result, and float arithmetic that is not NumPy's."""
    for _ in range(steps):
        x = r * x * (1.0 - x)
    return x


def upper_triangle(a):
    n = a.shape[0]
    total = a.dtype.type(0)
    for i in range(n):
        for j in range(i, n):
            total += a[i, j]
    return total


def symmetrise(a):
    for i in range(len(a)):
        for j in range(i):
            a[i, j] = a[j, i] = (a[i, j] + a[j, i]) / 2
    return a


def pairwise_distances(x):
    n = len(x)
    d = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1, n):
            d[i, j] = d[j, i] = np.sqrt(((x[i] - x[j]) ** 2).sum())
    return d


def histogram(values, low, high, bins):
    counts = np.zeros(bins, dtype=int)
    width = (high - low) / bins
    for v in values:
        if low <= v < high:
            counts[int((v - low) / width)] += 1
        elif v == high:
            counts[-1] += 1
    return counts


def histogram_2d(x, y, bins):
    counts = np.zeros((bins, bins), dtype=np.int64)
    ix = (x * bins).astype(int)
    iy = (y * bins).astype(int)
    for k in range(len(x)):
        counts[ix[k], iy[k]] += 1
    return counts


def scatter_add(target, index, values):
    for i, v in zip(index, values):
        target[i] += v
    np.add.at(target, index, values)
    return target


def gather_and_interpolate(table, x):
    """Linear interpolation in a table of equal steps."""
    position = np.clip(x, 0, 1) * (len(table) - 1)
    i = np.minimum(position.astype(np.int64), len(table) - 2)
    fraction = position - i
    return table[i] * (1 - fraction) + table[i + 1] * fraction


def fill_gaps(x):
    """Each missing value gets the last one before it."""
    filled = x.copy()
    last = np.nan
    for i in range(len(x)):
        if np.isnan(filled[i]):
            filled[i] = last
        else:
            last = filled[i]
    return filled


def mask_stores(a, limit):
    a[a > limit] = limit
    a[a < -limit] = -limit
    low = np.abs(a) < 0.1
    a[low] = a[low] * 0.5 + 1
    a[~low] += 2
    return a, low.sum()


def relax(x, steps):
    """float32 all the way; the constants must not widen it."""
    y = x.copy()
    for k in range(steps):
        y[1:-1] += 0.25 * (y[2:] - 2 * y[1:-1] + y[:-2])
        y *= np.float32(0.999)
        if k % 2:
            y[0] = y[-1]
    return y


def xorshift(seed, count):
    """Numbers of 64 bits that wrap around."""
    state = np.uint64(seed)
    result = np.empty(count, dtype=np.uint64)
    for i in range(count):
        state ^= state << np.uint64(13)
        state ^= state >> np.uint64(7)
        state ^= state << np.uint64(17)
        result[i] = state
    return result


def linear_congruential(seed, count):
    """Python's integers, reduced at each step."""
    values = np.zeros(count)
    for i in range(count):
        seed = (1103515245 * seed + 12345) % 2**31
        values[i] = seed / 2**31
    return values


def crc32(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= int(byte)
        for _ in range(8):
            crc = (crc >> 1) ^ (0xEDB88320 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def popcounts(x):
    count = np.zeros(x.shape, dtype=np.int64)
    while np.any(x):
        count += (x & 1).astype(np.int64)
        x = x >> 1
    return count


def gray_codes(bits):
    n = np.arange(1 << bits)
    gray = n ^ (n >> 1)
    back = gray.copy()
    shift = 1
    while shift < bits:
        back ^= back >> shift
        shift <<= 1
    return gray, np.array_equal(back, n)


def morton(x, y):
    """Interleaves the bits of two coordinates of 16 bits."""
    code = np.zeros(x.shape, dtype=np.uint32)
    for b in range(16):
        code |= ((x >> b) & 1) << (2 * b)
        code |= ((y >> b) & 1) << (2 * b + 1)
    return code


def knapsack(weights, values, capacity):
    best = np.zeros(capacity + 1, dtype=np.int64)
    for i in range(len(weights)):
        for c in range(capacity, weights[i] - 1, -1):
            best[c] = max(best[c], best[c - weights[i]] + values[i])
    return best[capacity]


def longest_increasing(x):
    n = len(x)
    length = np.ones(n, dtype=int)
    for i in range(n):
        for j in range(i):
            if x[j] < x[i] and length[j] + 1 > length[i]:
                length[i] = length[j] + 1
    return length.max() if n else 0


def matrix_chain(dims):
    """Dynamic programming over the diagonals of a triangle."""
    n = len(dims) - 1
    cost = np.zeros((n, n), dtype=np.int64)
    for length in range(2, n + 1):
        for i in range(n - length + 1):
            j = i + length - 1
            cost[i, j] = np.iinfo(np.int64).max
            for k in range(i, j):
                c = cost[i, k] + cost[k + 1, j] + dims[i] * dims[k + 1] * dims[j + 1]
                if c < cost[i, j]:
                    cost[i, j] = c
    return cost[0, n - 1]


def convolve(image, kernel):
    h, w = kernel.shape
    rows, columns = image.shape[0] - h + 1, image.shape[1] - w + 1
    result = np.zeros((rows, columns), dtype=image.dtype)
    for i in range(rows):
        for j in range(columns):
            result[i, j] = np.sum(image[i : i + h, j : j + w] * kernel)
    return result


def matrix_product(a, b):
    result = np.zeros((a.shape[0], b.shape[1]))
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            for k in range(a.shape[1]):
                result[i, j] += a[i, k] * b[k, j]
    return result


def fast_fourier(x):
    """Radix 2, in place, without recursion."""
    n = len(x)
    bits = n.bit_length() - 1
    order = np.zeros(n, dtype=int)
    for i in range(bits):
        order |= ((np.arange(n) >> i) & 1) << (bits - 1 - i)
    y = x[order].astype(np.complex128)
    size = 2
    while size <= n:
        half = size // 2
        factor = np.exp(-2j * np.pi * np.arange(half) / size)
        for start in range(0, n, size):
            even = y[start : start + half].copy()
            odd = y[start + half : start + size] * factor
            y[start : start + half] = even + odd
            y[start + half : start + size] = even - odd
        size *= 2
    return y


def local_maxima(x):
    """A list of places, as an array."""
    found = []
    for i in range(1, len(x) - 1):
        if x[i - 1] < x[i] > x[i + 1]:
            found.append(i)
    return np.array(found, dtype=int)


def rotations(angles):
    """Matrices that are stacked."""
    matrices = []
    for angle in angles:
        c, s = np.cos(angle), np.sin(angle)
        matrices.append(np.array([[c, -s], [s, c]]))
    return np.stack(matrices)


def reals(rng, n):
    return (rng.standard_normal(n),)


def with_gaps(rng, n):
    x = rng.standard_normal(n)
    x[rng.random(n) < 0.3] = np.nan
    return (x,)


def scattered(rng, n, k):
    return np.zeros(n), rng.integers(0, n, k), rng.random(k)


PROGRAMS = [
    Program(running_mean, lambda rng, n, w: (rng.random(n), w), (9, 3), (300, 20), (1_000_000, 50)),
    Program(exponential_smoothing, lambda rng, n: (rng.random(n), 0.3), (8,), (300,), (1_000_000,)),
    Program(prefix_sums, lambda rng, m, n: (rng.integers(0, 99, (m, n)),), (4, 5), (30, 40), (1000, 1000)),
    Program(fibonacci, lambda rng, n: (n,), (6,), (80,)),
    Program(logistic_map, lambda rng, n: (3.7, 0.4, n), (5,), (500,), (1_000_000,)),
    Program(upper_triangle, lambda rng, n: (rng.random((n, n)).astype(np.float32),), (5,), (40,), (1000,)),
    Program(symmetrise, lambda rng, n: (rng.random((n, n)),), (5,), (40,), (1000,)),
    Program(pairwise_distances, lambda rng, n, d: (rng.random((n, d)),), (5, 3), (30, 3), (500, 3)),
    Program(histogram, lambda rng, n: (np.append(rng.uniform(-0.2, 1.2, n), 1.0), 0.0, 1.0, 10), (9,), (300,), (1_000_000,)),
    Program(histogram_2d, lambda rng, n, b: (rng.random(n), rng.random(n), b), (9, 3), (300, 8), (1_000_000, 64)),
    Program(scatter_add, scattered, (5, 9), (50, 300), (10_000, 1_000_000)),
    Program(gather_and_interpolate, lambda rng, m, n: (rng.random(m), rng.random(n)), (5, 9), (50, 3000), (1000, 1_000_000)),
    Program(fill_gaps, with_gaps, (9,), (300,), (1_000_000,)),
    Program(mask_stores, lambda rng, m, n: (rng.standard_normal((m, n)), 1.5), (4, 5), (60, 50), (2000, 2000)),
    Program(relax, lambda rng, n, s: (rng.random(n, dtype=np.float32), s), (9, 4), (1000, 50), (1_000_000, 100)),
    Program(xorshift, lambda rng, n: (88172645463325252, n), (5,), (300,), (1_000_000,)),
    Program(linear_congruential, lambda rng, n: (42, n), (5,), (300,), (1_000_000,)),
    Program(crc32, lambda rng, n: (rng.integers(0, 256, n, dtype=np.uint8),), (5,), (60,), (100_000,)),
    Program(popcounts, lambda rng, n: (rng.integers(0, 1 << 40, n),), (5,), (300,), (1_000_000,)),
    Program(gray_codes, lambda rng, b: (b,), (3,), (10,), (20,)),
    Program(
        morton,
        lambda rng, n: (rng.integers(0, 1 << 16, n, dtype=np.uint32), rng.integers(0, 1 << 16, n, dtype=np.uint32)),
        (5,),
        (300,),
        (1_000_000,),
    ),
    Program(knapsack, lambda rng, n, c: (rng.integers(1, 9, n), rng.integers(1, 99, n), c), (4, 12), (15, 60), (100, 10_000)),
    Program(longest_increasing, reals, (7,), (40,), (3000,)),
    Program(matrix_chain, lambda rng, n: (rng.integers(1, 30, n),), (5,), (14,), (150,)),
    Program(convolve, lambda rng, m, k: (rng.random((m, m)), rng.random((k, k))), (6, 3), (24, 5), (500, 5)),
    Program(
        matrix_product, lambda rng, l, m, n: (rng.random((l, m)), rng.random((m, n))), (3, 4, 2), (12, 9, 10), (120, 120, 120)
    ),
    Program(fast_fourier, reals, (8,), (128,), (1 << 16,)),
    Program(local_maxima, reals, (9,), (300,), (1_000_000,)),
    Program(rotations, reals, (4,), (60,), (100_000,)),
]
