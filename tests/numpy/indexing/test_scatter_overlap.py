"""Stores at run-time indices whose values or indices are the memory that is stored to: NumPy reads all before it writes."""

import numpy as np
import pytest
from support.differential import check


def itself(y, k, A):
    y[k] = y
    return y


def itself_through_a_view(y, k, A):
    v = y[:]
    v[k] = y
    return y


def reversed_itself(y, k, A):
    y[k] = y[::-1]
    return y


def added_to_itself(y, k, A):
    np.add.at(y, k, y)
    return y


def several_at_itself(y, k, A):
    np.subtract.at(y, k, y)
    np.multiply.at(y, (k,), y)
    return y


def rows(y, k, A):
    A[k] = A
    return A


def rows_added(y, k, A):
    np.add.at(A, k, A)
    return A


def columns_from_transposed(y, k, A):
    A[:, k] = A.T
    return A


def rows_from_transposed(y, k, A):
    A[k] += A.T
    return A


def transposed(y, k, A):
    A.T[k] = A.T
    return A


def indices_at_themselves(y, k, A):
    k[k] = k
    return k


def indices_reversed(y, k, A):
    k[k[::-1]] = k
    return k


def indices_added_at_themselves(y, k, A):
    np.add.at(k, k, k)
    return k


def put(y, k, A):
    np.put(y, k, y)
    return y


def in_a_loop(y, k, A):
    for i in range(3):
        y[k] = y
        y[k] = y[i] + y
        A[k, i] = A[i]
    return y, A


def after_a_store(y, k, A):
    y[0] = 7.0
    y[k] = y
    y[1] = -7.0
    np.add.at(y, k, y)
    return y


def array_of_its_own(y, k, A):
    z = y * 2
    z[k] = z
    np.maximum.at(z, k, z)
    return z, y


FUNCTIONS = [f for f in list(globals().values()) if getattr(f, "__module__", None) == __name__]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_read_before_written(function):
    y, k = np.arange(6.0) + 1, np.array([1, 2, 0, 2, 3, 1])
    check(function, y, k, np.arange(36.0).reshape(6, 6) - 17.5)
