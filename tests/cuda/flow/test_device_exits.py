"""Functions that leave compiled code in their middle: the interpreter goes on with the arrays on the device."""

import numpy as np
import pytest
from support.device_arrays import on_host, outcome

import accel


def filled(x):
    x.fill(3)
    z = np.ones_like(x)
    z[2] = x[0]
    return z + x


def standardised(x):
    mean = x.mean()
    deviation = x.std()
    return (x - mean) / deviation


def copied(x):
    x[3:] = x[:-3].copy() * 2
    x[0] += x[5]
    return x, x[1:]


def methods(x):
    sums = x.cumsum(), x.clip(0, 1), x.reshape(4, 5).T.ravel(), x.astype(np.float32)
    return [s + 1 for s in sums], x.max(), x.any(), x.argmax()


def bound_method(x):
    copy = x.copy
    x += 1
    return copy()


def changed_and_raised(x):
    x += 1
    y = x * 2
    x[0] = y[1]
    raise ValueError("raised")


def beyond(x):
    x *= 2
    return x[100]


def nested(x):
    def inner(y):
        y -= 1
        return y.sum(), y

    total, same = inner(x)
    return same * total, same, {"x": x}


def looped(x):
    parts = []
    for k in range(3):
        x = x * 1.5 + k
        parts.append(x[k:])
    return parts


def elements(x):
    x[0], x[1] = x[1], x[0]
    x[-1] = x[0] + x[2]
    return x[3], float(x[4]), x


FUNCTIONS = [filled, standardised, copied, methods, bound_method, changed_and_raised, beyond, nested, looped, elements]


def compare(got, wanted):
    if isinstance(wanted, (list, tuple)):
        assert type(got) is type(wanted) and len(got) == len(wanted)
        for one, other in zip(got, wanted, strict=True):
            compare(one, other)
    elif isinstance(wanted, dict):
        compare(list(got.values()), list(wanted.values()))
    elif isinstance(wanted, np.ndarray):
        assert isinstance(got, accel.DeviceArray)
        assert (got.shape, got.dtype) == (wanted.shape, wanted.dtype)
        np.testing.assert_allclose(on_host(got), wanted, rtol=1e-6 if wanted.dtype == np.float32 else 1e-12)
    elif isinstance(wanted, Exception):
        assert type(got) is type(wanted) and str(got) == str(wanted), repr(got)
    else:
        assert type(got) is type(wanted)
        assert np.allclose(got, wanted, rtol=1e-12)


def objects(value, x):
    """Where the argument itself is in a result."""
    if isinstance(value, (list, tuple)):
        return [objects(part, x) for part in value]
    return [objects(part, x) for part in value.values()] if isinstance(value, dict) else value is x


@pytest.mark.parametrize("exits", range(0, 24, 2))
@pytest.mark.parametrize("function", FUNCTIONS)
def test_exits_that_are_forced(function, exits):
    host = np.linspace(-1, 2, 20)
    device = accel.to_device(host)
    wanted = outcome(function, host)
    with accel.config(stress_exits=exits):
        got = outcome(accel.compile(function), device)
    compare(got, wanted)
    assert objects(got, device) == objects(wanted, host)
    np.testing.assert_allclose(device.numpy(), host, rtol=1e-12)
