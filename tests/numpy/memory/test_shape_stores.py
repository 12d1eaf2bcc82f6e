"""The shape of an array is set: a change of the object, which every name of it sees."""

import numpy as np
import pytest
from support.compiled import facts
from support.differential import check_made, sample
from support.outcome import assert_same

import accel


def flattened(a, v):
    b = a[:]
    c = b
    b.shape = -1
    b[1] = 7
    return b, c.shape, b is c, a.shape


def split_on_a_path(a, v):
    b = a.copy()
    if v.sum() > 0:
        b.shape = (b.shape[0], 1, -1)
    return b, b.ndim


def needs_a_copy(a, v):
    b = a[:, 1:]
    b.shape = -1
    return b


@pytest.mark.parametrize("function", [flattened, split_on_a_path, needs_a_copy])
@pytest.mark.filterwarnings("ignore:Setting the shape")
def test_shape_is_set(function):
    """Left to NumPy where it warns of that."""
    whole = np.lib.NumpyVersion(np.__version__) < "2.5.0" and function is not needs_a_copy
    makes = [lambda sign=sign: (sample((3, 4), "f8", 1), sign * np.abs(sample((3, 4), "f8", 2))) for sign in (1, -1)]
    check_made(function, *makes, whole=whole)


def resized(a, v):
    b = a + 1
    b.shape = (-1,)
    b.resize(3)
    return b


def owns_its_memory(a, v):
    b = a + 1
    b.shape = (-1, 1)
    b[0] = 5
    return b, b.flags.owndata, b.base is None, b.flags.c_contiguous


def with_a_view(a, v):
    b = a + 1
    row = b[0]
    b.shape = (-1,)
    b[1] = 7
    return b, row, b.flags.owndata, row.base is b


@pytest.mark.parametrize("function", [resized, owns_its_memory, with_a_view])
@pytest.mark.filterwarnings("ignore:Setting the shape")
def test_the_array_owns_its_memory(function):
    call = accel.compile(function)
    for _ in range(2):
        a, v = sample((3, 4), "f8", 1), sample((3, 4), "f8", 2)
        assert_same(function, call, a, v, times=1)
        found = call(a, v)
        found = found[0] if isinstance(found, tuple) else found
        assert found.flags.owndata and found.base is None
    assert facts(call)["compiled"] + facts(call)["side_exits"] > 0
