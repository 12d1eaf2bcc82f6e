"""Short programs: the ways to loop."""

import numpy as np
from support.whole_programs import Program


def horner(coefficients, x):
    result = np.zeros_like(x)
    for c in reversed(coefficients):
        result = result * x + c
    return result


def weighted_columns(a, weights):
    result = np.zeros(a.shape[0])
    for i, w in enumerate(weights):
        result += w * a[:, i]
    return result


def pairs(xs, ys):
    total = 0.0
    largest = -np.inf
    for x, y in zip(xs, ys):
        total += x * y
        if x + y > largest:
            largest = x + y
    return total, largest


def row_norms(a):
    return np.array([np.sqrt(np.sum(row**2)) for row in a])


def smallest_divisors(most):
    """The loop's else belongs to numbers without a divisor."""
    result = np.zeros(most, dtype=np.int64)
    for n in range(2, most):
        d = 2
        while d * d <= n:
            if n % d == 0:
                result[n] = d
                break
            d += 1
        else:
            result[n] = n
    return result


def first_above(values, limit):
    for i, v in enumerate(values):
        if v > limit:
            return i
    return -1


def find_in_matrix(a, value):
    """Leaves two loops from inside, and one of them early."""
    rows, columns = a.shape
    seen = 0
    for i in range(rows):
        if a[i, 0] < 0:
            continue
        for j in range(columns):
            seen += 1
            if a[i, j] < 0:
                break
            if a[i, j] == value:
                return i, j, seen
    return None, None, seen


def bisection(f_values, xs, target):
    """Binary search by hand."""
    low, high = 0, len(xs) - 1
    while low < high:
        middle = (low + high) // 2
        if f_values[middle] < target:
            low = middle + 1
        else:
            high = middle
    return xs[low]


def collatz(numbers):
    steps = np.zeros(len(numbers), dtype=np.int64)
    for i in range(len(numbers)):
        n = int(numbers[i])
        while n != 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            steps[i] += 1
    return steps


def sieve(most):
    prime = np.ones(most + 1, dtype=bool)
    prime[:2] = False
    for p in range(2, int(most**0.5) + 1):
        if prime[p]:
            prime[p * p :: p] = False
    return np.nonzero(prime)[0]


def simpson(a, b, n, power):
    h = (b - a) / n
    total = a**power + b**power
    for i in range(1, n):
        x = a + i * h
        total += (4 if i % 2 else 2) * x**power
    return total * h / 3


def euclid(a, b):
    """Greatest common divisors, pair by pair."""
    result = np.empty_like(a)
    for i in range(a.size):
        x, y = a[i], b[i]
        while y:
            x, y = y, x % y
        result[i] = x
    return result


def insertion_sort(values):
    for i in range(1, len(values)):
        key = values[i]
        j = i - 1
        while j >= 0 and values[j] > key:
            values[j + 1] = values[j]
            j -= 1
        values[j + 1] = key
    return values


def bubble_sort(a):
    n = len(a)
    swaps = 0
    for i in range(n):
        swapped = False
        for j in range(n - 1 - i):
            if a[j] > a[j + 1]:
                a[j], a[j + 1] = a[j + 1], a[j]
                swaps += 1
                swapped = True
        if not swapped:
            break
    return swaps


def reals(rng, n):
    return (rng.standard_normal(n),)


def matrix(rng, m, n):
    return (rng.standard_normal((m, n)),)


PROGRAMS = [
    Program(horner, lambda rng, k, n: (list(rng.random(k)), rng.random(n)), (3, 5), (3, 1000), (3, 1_000_000)),
    Program(weighted_columns, lambda rng, m, n: (rng.random((m, n)), rng.random(n)), (5, 3), (300, 10), (1_000_000, 10)),
    Program(pairs, lambda rng, n: (rng.random(n), rng.random(n)), (6,), (300,), (1_000_000,)),
    Program(row_norms, matrix, (5, 3), (100, 20), (50_000, 20)),
    Program(smallest_divisors, lambda rng, n: (n,), (20,), (300,), (100_000,)),
    Program(first_above, lambda rng, n: (rng.random(n), 0.999), (6,), (1000,), (1_000_000,)),
    Program(find_in_matrix, lambda rng, m, n: (rng.integers(-1, 300, (m, n)), 7), (4, 5), (60, 50), (1000, 1000)),
    Program(bisection, lambda rng, n: (np.sort(rng.random(n)), np.arange(n) * 0.5, 0.3), (6,), (1000,), (1_000_000,)),
    Program(collatz, lambda rng, n: (rng.integers(1, 1000, n),), (5,), (50,), (50_000,)),
    Program(sieve, lambda rng, n: (n,), (30,), (3000,), (10_000_000,)),
    Program(simpson, lambda rng, n: (0.0, 2.0, n, 3), (6,), (200,), (1_000_000,)),
    Program(euclid, lambda rng, n: (rng.integers(1, 500, n), rng.integers(1, 500, n)), (5,), (100,), (100_000,)),
    Program(insertion_sort, reals, (7,), (50,), (2000,)),
    Program(bubble_sort, reals, (7,), (40,), (1000,)),
]
