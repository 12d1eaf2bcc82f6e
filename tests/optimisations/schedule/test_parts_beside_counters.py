"""Loops that store to parts of an array and read other parts, whose positions depend on the loop's counter: the parts are
disjoint, touch or overlap.
"""

import pytest
from support.differential import check_made, sample
from support.programs import define

# Two elements each: beside the counter i, beside k and n (where i starts and ends), and at the ends of the array.
PARTS = ["i:i + 2", "i + 1:i + 3", "i - 1:i + 1", "i - 2:i", "k:k + 2", "k - 2:k", "n:n + 2", "n - 1:n + 1", ":2", "-2:"]
LOOPS = ["range(k, n)", "range(n - 1, k - 1, -1)", "range(k, n, 2)", "range(n, k, -3)"]
VECTORS = """
def program(a, k, n):
    for i in {loop}:
        a[{to}] = a[{source}] * 0.5 + 1.0
    return a
"""
ROWS = """
def program(a, n):
    for i in {loop}:
        for j in range(i + 1, n):
            a[j, {to}] -= a[i, {source}] * a[j, i]
        a[i, i] = a[i, :i].sum() - a[i, i + 1:].sum()
    return a
"""
FLAT = """
def program(a, k, n):
    for i in range(n):
        for j in range(i + 1, n):
            a[j * k:(j + 1) * k] -= a[i * k:(i + 1) * k] * 0.5
    return a
"""


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("to", PARTS)
@pytest.mark.parametrize("source", PARTS)
def test_vectors(loop, to, source):
    function = define(VECTORS.format(loop=loop, to=to, source=source))
    check_made(function, *(lambda n=n, k=k: (sample(n + 3), k, n) for n, k in [(9, 2), (9, 3), (4, 2), (6, 6)]), times=1)


@pytest.mark.parametrize("loop", ["range(n)", "range(n - 1, -1, -1)"])
@pytest.mark.parametrize(
    ("to", "source"), [("i + 1:", "i + 1:"), ("i:", "i:"), (":i", ":i"), (":j - i", "i:j"), ("i:j", ":j - i"), ("i:j", "i:j")]
)
def test_rows(loop, to, source):
    function = define(ROWS.format(loop=loop, to=to, source=source))
    check_made(function, *(lambda n=n: (sample((n, n)), n) for n in (2, 5, 9)), times=1)


def test_rows_of_a_flat_matrix():
    check_made(define(FLAT), *(lambda n=n, k=k: (sample(n * k), k, n) for n, k in [(3, 4), (1, 5), (6, 1)]), times=1)
