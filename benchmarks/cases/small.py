"""Calls whose time is the overhead of a call."""

from benchmarks.case import Case


def scaled(a, b):
    return a * 2.0 + b


def four(a, b, c, d):
    return a + b + c + d


def one(a):
    return a + 1.0


def vectors(count, length):
    return lambda rng: tuple(rng.standard_normal(length) for _ in range(count))


CASES = [
    Case("add8", scaled, vectors(2, 8), vectors(2, 8), about="a * 2.0 + b on 8 elements", large=False),
    Case("entry_4_arrays", four, vectors(4, 4), vectors(4, 4), about="a + b + c + d on 4 elements", large=False),
    Case("entry_1_array", one, vectors(1, 1), vectors(1, 1), about="a + 1.0 on 1 element", large=False),
    Case("add1000", scaled, vectors(2, 1000), vectors(2, 1000), about="a * 2.0 + b on 1000 elements", large=False),
]
