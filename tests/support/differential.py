"""Comparisons of a function with its compiled form: equal results, and that it was compiled at all."""

import numpy as np
from support.compiled import compile_count, facts
from support.outcome import assert_same, describe

import accel


def check(function, *arguments, times=2, share=False):
    """Asserts that the compiled function does what NumPy does, and that no call ran, even in part, in the interpreter."""
    call = accel.compile(function)
    assert_same(function, call, *arguments, times=times, share=share)
    found = facts(call)
    whole = found["compiled"] == times and found["interpreted"] == 0 and found["side_exits"] == 0
    assert whole, f"not compiled as a whole: {found}\n{accel.explain(call)(*arguments)}"[:4000]
    return call


def check_side_by_side(function, cases):
    """`check` of one function that calls `function` for each case; if it fails, each case alone, to find the one that fails."""
    names = [[f"x{k}_{j}" for j in range(len(case))] for k, case in enumerate(cases)]
    calls = "".join(f"function({', '.join(each)}), " for each in names)
    together = eval(f"lambda {', '.join(sum(names, []))}: ({calls})", {"function": function})
    try:
        check(together, *(argument for case in cases for argument in case))
    except AssertionError:
        for case in cases:
            check(function, *case)
        raise


def check_in_loops(function, *arguments, times=1):
    """Asserts that the function is compiled as a whole, without calls of NumPy."""
    call = check(function, *arguments, times=times)
    calls = accel.explain(call)(*arguments).calls
    assert not calls, calls
    return call


def check_sizes(function, *cases, compiles=1, backend="native"):
    """Asserts that the function is captured as a whole, with this many versions for all cases."""
    call = accel.compile(function, fullgraph=True, backend=backend)
    for case in (*cases, cases[0]):
        assert_same(function, call, *case, times=1)
    found = facts(call)
    assert found["interpreted"] == found["side_exits"] == 0, f"{found}\n{accel.explain(call)(*cases[0])}"[:3000]
    assert compile_count(call) == compiles, accel.explain(call)(*cases[0])
    return call


def check_at_exits(function, *arguments, most=60):
    """`check`, and equal results with backend "numpy" when the function is left at each of its first instructions."""
    call = check(function, *arguments)
    for n in range(1, most):
        with accel.config(stress_exits=n):
            left = accel.compile(function, backend="numpy")
            assert_same(function, left, *arguments, times=2)
            if "an exit that was asked for" not in str(accel.explain(left)(*arguments)):
                break
    return call


def check_cases(function, cases, is_good):
    """Asserts that a compiled function does what NumPy does in each case, compiled to its end if `is_good(function, case)`."""
    call = accel.compile(function)
    cases = list(cases)
    good = [case for case in cases if is_good(function, case)]
    for case in good:
        assert_same(function, call, *case, times=1)
        found = facts(call)
        whole = found["interpreted"] == 0 and found["side_exits"] == 0
        assert whole, f"not compiled as a whole: {case} {found}\n{accel.explain(call)(*case)}"[:3000]
    for case in cases:
        assert_same(function, call, *case, times=1)
    return call


def check_left_to_numpy(function, *arguments):
    """Asserts results equal to NumPy's for calls that run partly in the interpreter: they raise, warn or are not compiled."""
    call = accel.compile(function)
    assert_same(function, call, *arguments, times=2, share=False)
    return call


def call_with(call, arguments):
    """Result or error, and the arguments afterwards."""
    error = None
    result = None
    try:
        result = call(*arguments)
    except Exception as raised:
        error = (type(raised), str(raised))
    views = [a for a in arguments if isinstance(a, np.ndarray)]
    return describe(result, views), error, [describe(a, views) for a in arguments]


def check_made(function, *makes, times=2, whole=True):
    """Compares calls of one compiled function, with fresh arguments from each of `makes`."""
    call = accel.compile(function)
    for make in makes:
        for _ in range(times):
            assert call_with(call, make()) == call_with(function, make())
    found = facts(call)
    if whole:
        assert found["interpreted"] == 0 and found["side_exits"] == 0, f"{found}\n{accel.explain(call)(*makes[-1]())}"
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
    """Arrays with equal elements in every kind of memory layout: name and array."""
    yield "C", np.ascontiguousarray(array)
    if array.ndim > 1:
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
