"""Quotients, remainders and shifts of integers: every pair of bytes, and what lies at the ends of wider dtypes."""

import numpy as np
import pytest
from support.differential import check

OPERATIONS = {
    "quotient": lambda a, b: a // b,
    "remainder": lambda a, b: a % b,
    "left": lambda a, b: a << b,
    "right": lambda a, b: a >> b,
    "before others": lambda a, b: ((a << b) * 2.0, (a >> b) * 2.0),
}
BY_NUMBERS = {
    "quotients": lambda a: (a // 3, a // 7, a // 1, a // 8, a // 100),
    "remainders": lambda a: (a % 3, a % 7, a % 1, a % 8, a % 100),
    "negative quotients": lambda a: (a // -3, a // -7),
    "negative remainders": lambda a: (a % -3, a % -7),
    "before others": lambda a: (a // 3 * 2.0, a % 5 * 0.5, (a >> 2) * 2.0),
}


def ends(dtype):
    info = np.iinfo(dtype)
    near = [info.min, info.min + 1, info.max, info.max - 1, 0, 1, 2, 3, 6, 7, 8, 21, 100, info.max // 3, info.max // 3 * 3]
    signed = [-1, -2, -3, -6, -7, -8, -21, -100] if info.min < 0 else []
    many = np.random.default_rng(0).integers(info.min, info.max, 500, dtype=dtype, endpoint=True)
    return np.concatenate([np.array(near + signed, dtype), many])


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"])
def test_pairs(name, dtype):
    a = ends(dtype)
    divides = name in ("quotient", "remainder")
    b = np.array([1, 2, 3, 5, 7, 8, 31, 33, 63, 65, 100], dtype) if divides else np.arange(0, 70).astype(dtype)
    if divides and np.dtype(dtype).kind == "i":
        b = np.concatenate([b, -b[1:]])
    elif np.dtype(dtype).kind == "i":
        b = np.concatenate([b, b[:3] - np.array(5, dtype)])
    left, right = (part.ravel().copy() for part in np.meshgrid(a, b))
    check(OPERATIONS[name], left, right)


@pytest.mark.parametrize("name", BY_NUMBERS)
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64", "uint64"])
def test_numbers(name, dtype):
    if "negative" in name and np.dtype(dtype).kind == "u":
        pytest.skip("NumPy refuses the negative number")
    check(BY_NUMBERS[name], ends(dtype))
