"""What a function does to ndarrays and to DeviceArrays."""

import numpy as np

import accel

SHAPES = [(), (1,), (5,), (0,), (3, 4), (2, 3, 4), (1, 3, 1), (3, 0, 2), (1, 1)]
DTYPES = ["bool", "int8", "uint16", "int32", "int64", "uint64", "float16", "float32", "float64", "complex64", "complex128"]


def numbers(shape, dtype="float64"):
    values = np.arange(1, 1 + int(np.prod(shape))).reshape(shape)
    if dtype == "bool":
        values = values % 3 > 0
    return np.asarray(values * 1j + 2 if np.dtype(dtype).kind == "c" else values, dtype)


def layouts(array):
    """The array and views of it, by name."""
    yield "itself", array
    yield "transposed", array.T
    if array.ndim > 0:
        yield "backwards", array[::-1]
        yield "every other", array[..., ::2]
    if array.ndim > 1:
        yield "swapped", array.swapaxes(0, 1)
        yield "column", array[:, :1]


def outcome(function, *arguments):
    """The result, or the exception."""
    try:
        return function(*arguments)
    except Exception as error:
        return error


def on_host(value):
    if isinstance(value, accel.DeviceArray):
        return value.numpy()
    return type(value)(map(on_host, value)) if type(value) in (list, tuple) else value


def check_equal(found, expected, units=0):
    """Equal in kind, dtype, shape and bits; floats may be `units` in the last place apart."""
    if isinstance(expected, Exception):
        assert type(found) is type(expected), repr(found)
        assert str(found) == str(expected)
    elif isinstance(expected, list | tuple):
        assert type(found) is type(expected)
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            check_equal(one, other, units)
    elif isinstance(expected, np.ndarray):
        assert isinstance(found, accel.DeviceArray), type(found)
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
        if units and expected.dtype.kind == "f":
            np.testing.assert_array_max_ulp(found.numpy(), expected, units)
        else:
            assert found.numpy().tobytes() == np.ascontiguousarray(expected).tobytes()
    else:
        assert type(found) is type(expected)
        assert found == expected or found != found


def check_same(function, *arrays, units=0):
    """The function does the same to DeviceArrays as to ndarrays, also to the arrays themselves."""
    hosts = [array.copy("K") if isinstance(array, np.ndarray) else array for array in arrays]
    devices = [accel.to_device(array) if isinstance(array, np.ndarray) else array for array in hosts]
    expected, found = outcome(function, *hosts), outcome(function, *devices)
    check_equal(found, expected, units)
    for host, device in zip(hosts, devices, strict=True):
        if isinstance(host, np.ndarray):
            check_equal(device, host)
    return found


def ran_on_device(compiled, *arguments):
    """The result of a call that compiled code answered as a whole, on the device."""
    why = accel.explain(compiled)(*arguments)
    assert why.exception is None, why.exception
    assert why.compiled and why.device["name"] == "cuda:0", str(why)
    return why.result
