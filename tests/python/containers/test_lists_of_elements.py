"""array.tolist(): Python's numbers, as many as there are elements."""

import numpy as np
import pytest
from support.differential import check, check_sizes


def given(x):
    return x.tolist()


def summed(x):
    total = 0
    for v in x.tolist():
        total = total + v
    return total, sum(x.tolist())


def picked(x):
    items = x.tolist()
    n = len(items)
    total = items[0]
    for i in range(1, n):
        if i % 2 == 0:
            total = total + items[i] - items[-i]
    return total, n, items[1:3]


def grown(x):
    items = (x * 2).tolist()
    items.append(x[0].item())
    for v in x[::2].tolist():
        items.append(v)
    return items


def stored_to(x):
    items = x.tolist()
    items[0] = items[-1]
    x[0] = 1
    return items, x


def changed_meanwhile(x):
    items = x.tolist()
    x[:] = 0
    return items, np.array(items) * 2, x


FUNCTIONS = [given, summed, picked, grown, stored_to, changed_meanwhile]


def sample(n, dtype):
    return (np.arange(n) * 3 % 7).astype(dtype)


@pytest.mark.parametrize("dtype", ["?", "i1", "u2", "i8", "f2", "f4", "f8", "c8", "c16"])
def test_kinds_of_numbers(dtype):
    check(given, sample(5, dtype))
    if dtype in ("i8", "f8"):
        check(summed, sample(5, dtype))


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_one_version_for_all_lengths(function):
    check_sizes(function, *[(sample(n, "f8"),) for n in (7, 4, 5, 300)])
    check_sizes(function, *[(sample(n, "i8"),) for n in (7, 4, 5, 300)])


def test_layouts():
    x = np.arange(24.0).reshape(4, 6)
    for view in (x[0], x[:, 1], x[1, ::-1], x.T[2], x[2, ::2], x[0, :0]):
        check(given, view)


def test_numbers_with_signs_and_nan():
    check(given, np.array([0.0, -0.0, np.nan, np.inf, -1.5, 2.0**70]))
    check(changed_meanwhile, np.array([0.0, -0.0, np.nan, np.inf]))
