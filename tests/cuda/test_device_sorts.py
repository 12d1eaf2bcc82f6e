"""`sort` and `argsort` by kernels: NumPy's order, NaN and equal elements included, in the layout that NumPy's results have."""

import numpy as np
import pytest
from support.device_arrays import DTYPES, check_equal, layouts, outcome, ran_on_device

import accel

TILE = 4096  # elements that a block sorts, at most
SHAPES = [
    (1, 0),
    (7, 0),
    (TILE, 0),
    (TILE + 1, 0),
    (9 * TILE + 5, 0),
    ((3, 700), 1),
    ((700, 3), 0),
    ((2, 3, 2100), 1),
    ((0, 4), 0),
]
SHAPES += [((2, TILE + 3), 1), ((4, 2500, 2), 1), ((5, 1), 1)]


def drawn(shape, dtype, has_equal):
    """Numbers with infinities and NaN. Many are equal, or few."""
    rng = np.random.default_rng(np.size(shape) + has_equal)
    x = rng.normal(size=shape) * (3 if has_equal else 1e3)
    x = np.round(x) if has_equal else x
    with np.errstate(all="ignore"):
        x = (x + np.round(rng.normal(size=shape)) * 1j if np.dtype(dtype).kind == "c" else x).astype(dtype)
    if x.dtype.kind in "fc" and x.size > 6:
        flat = x.reshape(-1)
        flat[rng.integers(0, x.size, 4)] = np.nan
        flat[rng.integers(0, x.size, 2)] = -np.inf
        if x.dtype.kind == "c":
            flat[:4] = complex(1, np.nan), complex(np.nan, 2), complex(-5, np.nan), complex(np.nan, -np.inf)
    return x


def defined(text):
    namespace = {"np": np}
    exec(f"def function(x):\n    {text}\n    return x", namespace)
    return namespace["function"]


def check_same_order(found, expected):
    assert isinstance(found, accel.DeviceArray)
    assert (found.dtype, found.shape, found.strides) == (expected.dtype, expected.shape, expected.strides)
    np.testing.assert_array_equal(found.numpy(), expected)


def sorted_on_device(compiled, array):
    why = accel.explain(compiled)(array)
    assert why.compiled and why.device["name"] == "cuda:0" and why.exception is None, str(why)
    assert why.device["bytes_down"] == 0, "sorted by NumPy"
    return why.result


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("has_equal", [False, True])
def test_sorts(dtype, has_equal):
    functions = [defined(f"x = np.sort(x, axis={axis})") for axis in range(3)]
    compiled = list(map(accel.compile, functions))
    for shape, axis in SHAPES:
        for name, x in layouts(drawn(shape, dtype, has_equal)):
            if name != "column":
                check_same_order(sorted_on_device(compiled[axis], accel.to_device(x)), functions[axis](x))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("has_equal", [False, True])
def test_stable_argsorts(dtype, has_equal):
    functions = [defined(f"x = np.argsort(x, {axis}, stable=True)") for axis in range(3)]
    compiled = list(map(accel.compile, functions))
    for shape, axis in SHAPES:
        x = drawn(shape, dtype, has_equal)
        check_same_order(sorted_on_device(compiled[axis], accel.to_device(x)), functions[axis](x))


@pytest.mark.parametrize("kind", ["quicksort", "heapsort", "mergesort", "stable"])
def test_kinds(kind):
    for text in (f"x = np.sort(x, kind={kind!r})", f"x = x.copy(); x.sort(0, {kind!r})", f"x = np.argsort(x, kind={kind!r})"):
        function = defined(text)
        compiled = accel.compile(function)
        x = np.random.default_rng(1).normal(size=5000)
        check_same_order(sorted_on_device(compiled, accel.to_device(x)), function(x))


@pytest.mark.parametrize("text", ["y.sort(kind='stable')", "y.sort(stable=True)", "y = y.argsort(stable=True)", "y.sort()"])
def test_the_last_axis_by_default(text):
    function = defined(f"y = x * 2.0; {text}; x = y")
    compiled = accel.compile(function)
    x = np.random.default_rng(1).normal(size=(30, 50))
    check_same_order(sorted_on_device(compiled, accel.to_device(x)), function(x))


@pytest.mark.parametrize("text", ["x = np.argsort(x * 1)", "x = np.argsort(x * 1, kind='heapsort')"])
def test_the_order_of_equal_elements_is_numpys(text):
    """NumPy sorts where it leaves the order open and elements are equal."""
    function = defined(text)
    compiled = accel.compile(function)
    x = np.random.default_rng(1).integers(0, 50, 5000)
    why = accel.explain(compiled)(accel.to_device(x))
    assert why.compiled and why.device["name"] == "cuda:0" and why.device["bytes_down"] == x.nbytes
    check_same_order(why.result, function(x))
    distinct = np.random.default_rng(1).permutation(5000)
    check_same_order(sorted_on_device(compiled, accel.to_device(distinct)), function(distinct))


def in_a_function(x):
    y = np.sort(x * 2.0)
    y[1:] -= y[:-1]
    return y, np.argsort(y - x), np.sort(y[::-2].reshape(-1, 5), axis=0)


def test_sorts_between_other_operations():
    x = np.random.default_rng(2).normal(size=10_000)
    wanted = in_a_function(x)
    compiled = accel.compile(in_a_function)
    for _ in range(3):
        check_equal(sorted_on_device(compiled, accel.to_device(x)), wanted)
    with accel.device("cuda"):
        found = compiled(x)
    assert all(one.tobytes() == other.tobytes() and one.strides == other.strides for one, other in zip(found, wanted))


def sorted_in_place(x):
    x.sort(axis=0)
    x += 1.0
    return x[0]


def test_arguments_that_are_sorted():
    x = np.random.default_rng(2).normal(size=(500, 7))
    for view in (x, x[::-1], x[:, ::3], x.T):
        mine, device = view.copy("K"), accel.to_device(view)
        wanted = sorted_in_place(mine)
        check_equal(sorted_on_device(accel.compile(sorted_in_place), device), wanted)
        check_same_order(device, mine)
        host = view.copy("K")
        check_equal(accel.to_device(accel.compile(sorted_in_place, device="cuda")(host)), wanted)
        assert host.tobytes() == mine.tobytes()


WRONG = ["axis=5", "axis=-3", "kind='wrong'", "kind='stable', stable=True", "order='x'", "kind=3"]
WRONG += ["-1, None, None, True", "0, None, None, None, 5", "0, axis=0", "0, 'stable', kind='stable'", "0, wrong=1"]


@pytest.mark.parametrize("arguments", WRONG)
@pytest.mark.parametrize("name", ["sort", "argsort"])
def test_wrong_arguments(name, arguments):
    """The exception is NumPy's."""
    called = defined(f"y = x * 2.0; y.{name}({arguments})")
    x = np.ones((4, 5))
    error = outcome(called, x)
    assert isinstance(error, Exception)
    for array in (x, accel.to_device(x)):
        check_equal(outcome(accel.compile(called, device="cuda"), array), error)


@pytest.mark.parametrize("text", ["x = np.sort(x, axis=None)", "x = np.argsort(x + 1.0, axis=None)"])
def test_all_axes_as_one(text):
    function = defined(text)
    x = np.random.default_rng(2).normal(size=(40, 50))
    compiled = accel.compile(function)
    check_same_order(ran_on_device(compiled, accel.to_device(x)), function(x))


def an_axis_of_the_caller(x, axis):
    return np.sort(x * 2.0, axis=axis)


def test_an_axis_of_the_caller():
    x = np.random.default_rng(2).normal(size=(40, 50))
    compiled = accel.compile(an_axis_of_the_caller)
    for axis in (0, 1, -1):
        check_same_order(ran_on_device(compiled, accel.to_device(x), axis), an_axis_of_the_caller(x, axis))
