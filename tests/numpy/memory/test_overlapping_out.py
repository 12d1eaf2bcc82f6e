"""out= in memory that an operand looks at as well, shifted, interleaved or at other strides: values, bits and events of NumPy's
loops, which compute one element at a time where their memory overlaps."""

import numpy as np
import pytest
from support.compiled import facts
from support.outcome import assert_same

import accel

PLACES = {  # x has 4 * n + 8 elements: operand, out
    "the same": lambda x, n: (x[:n], x[:n]),
    "halves": lambda x, n: (x[:n], x[n : 2 * n]),
    "halves, turned": lambda x, n: (x[n : 2 * n], x[:n]),
    "one ahead": lambda x, n: (x[1 : n + 1], x[:n]),
    "one behind": lambda x, n: (x[:n], x[1 : n + 1]),
    "far ahead": lambda x, n: (x[n - 1 : 2 * n - 1], x[:n]),
    "interleaved": lambda x, n: (x[: 2 * n : 2], x[1 : 2 * n + 1 : 2]),
    "interleaved, turned": lambda x, n: (x[1 : 2 * n + 1 : 2], x[: 2 * n : 2]),
    "two ahead in steps": lambda x, n: (x[2 : 2 * n + 2 : 2], x[: 2 * n : 2]),
    "two behind in steps": lambda x, n: (x[: 2 * n : 2], x[2 : 2 * n + 2 : 2]),
    "faster": lambda x, n: (x[: 2 * n : 2], x[:n]),
    "slower": lambda x, n: (x[:n], x[: 2 * n : 2]),
    "turned over": lambda x, n: (x[:n][::-1], x[:n]),
    "backwards, ahead": lambda x, n: (x[:n][::-1], x[1 : n + 1][::-1]),
    "backwards, behind": lambda x, n: (x[1 : n + 1][::-1], x[:n][::-1]),
    "one for all": lambda x, n: (x[1:2], x[:n]),
    "rows ahead": lambda x, n: (x[4 : 4 * n + 4].reshape(n, 4), x[: 4 * n].reshape(n, 4)),
    "rows behind": lambda x, n: (x[: 4 * n].reshape(n, 4), x[4 : 4 * n + 4].reshape(n, 4)),
    "columns": lambda x, n: (x[: 4 * n].reshape(n, 4)[:, 1], x[: 4 * n].reshape(n, 4)[:, 0]),
    "blocks": lambda x, n: (x[: 4 * n].reshape(n, 4)[:, 1:3], x[: 4 * n].reshape(n, 4)[:, :2]),
}
COUNTS = [1, 2, 5, 33]


def products(x, w, operand, out):
    np.multiply(operand, w, out=out)
    np.multiply(2.5 - 1j, operand, out=out)
    np.square(operand, out=out)
    out *= operand
    return out * operand


def of_numpy_loops(x, w, operand, out):
    np.log(operand, out=out)
    np.arctan2(operand, out, out=out)
    np.exp(operand, out=out)
    return operand * 2.0 + out


def numbers(count, dtype, seed):
    rng = np.random.default_rng(seed)
    real = rng.standard_normal(count)
    return (real + 1j * rng.standard_normal(count) if np.dtype(dtype).kind == "c" else real).astype(dtype)


def placed(function, place):
    def call(x, w, n):
        return function(x, w, *place(x, n))

    return call


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("function, dtypes", [(products, "FD"), (of_numpy_loops, "d")])
def test_places(function, dtypes, place):
    plain = placed(function, PLACES[place])
    call = accel.compile(plain)
    for dtype in dtypes:
        for n in COUNTS:
            for seed in range(2):
                x = numbers(4 * n + 8, dtype, seed)
                operand, out = PLACES[place](x, n)
                w = numbers(operand.size, dtype, seed + 7).reshape(operand.shape)
                if operand.shape != out.shape:
                    w = w[0]
                assert_same(plain, call, x, w, n, times=1)
    assert facts(call)["compiled"] > 0
