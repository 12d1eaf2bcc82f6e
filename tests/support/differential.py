"""A function and its compiled form, compared: what NumPy gives, and that it was compiled at all."""

import numpy as np
from support.compiled import facts
from support.outcome import assert_same

import accel


def check(function, *arguments, times=2, share=False):
    """The compiled function does what NumPy does, and no call ran (even in part) in the interpreter."""
    call = accel.compile(function)
    assert_same(function, call, *arguments, times=times, share=share)
    found = facts(call)
    whole = found["compiled"] == times and found["interpreted"] == 0 and found["side_exits"] == 0
    assert whole, f"not compiled as a whole: {found}\n{accel.explain(call)(*arguments)}"[:4000]
    return call


def check_at_exits(function, *arguments, most=60):
    """`check`, and the same results through NumPy's calls where the function is left at one of its first instructions."""
    call = check(function, *arguments)
    for n in range(1, most):
        with accel.config(stress_exits=n):
            left = accel.compile(function, backend="numpy")
            assert_same(function, left, *arguments, times=2)
            if "an exit that was asked for" not in str(accel.explain(left)(*arguments)):
                break
    return call


def check_left_to_numpy(function, *arguments):
    """The same result as NumPy's, although a part runs in the interpreter: calls that raise, warn or have no compiled form."""
    call = accel.compile(function)
    assert_same(function, call, *arguments, times=2, share=False)
    return call


def sample(shape, dtype="float64", seed=0):
    """Numbers of both signs, without zeros; small enough that integers do not overflow."""
    dtype = np.dtype(dtype)
    rng = np.random.default_rng(seed)
    if dtype.kind == "b":
        return rng.random(shape) < 0.5
    if dtype.kind == "u":
        return rng.integers(1, 100, shape).astype(dtype)
    if dtype.kind == "i":
        return (rng.integers(1, 100, shape) * rng.choice([-1, 1], shape)).astype(dtype)
    values = rng.uniform(0.5, 4.0, shape) * rng.choice([-1.0, 1.0], shape)
    if dtype.kind == "c":
        values = values + 1j * rng.uniform(-3.0, 3.0, shape)
    return values.astype(dtype)


def layouts(array):
    """The same elements in every kind of memory: name and array."""
    yield "C", np.ascontiguousarray(array)
    yield "F", np.asfortranarray(array)
    wide = np.empty([2 * n for n in array.shape], array.dtype)
    strided = wide[tuple(slice(None, None, 2) for _ in array.shape)]
    strided[...] = array
    yield "strided", strided
    backwards = np.ascontiguousarray(array[tuple(slice(None, None, -1) for _ in array.shape)])
    yield "reversed", backwards[tuple(slice(None, None, -1) for _ in array.shape)]
    if array.ndim > 1:
        padded = np.empty([*array.shape[:-1], array.shape[-1] + 3], array.dtype)[..., : array.shape[-1]]
        padded[...] = array
        yield "padded", padded
