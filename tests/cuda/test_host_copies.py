"""Functions with arrays of a device that run on the CPU, on copies: NumPy's bits and effects, results on the device."""

import ctypes
import os

import numpy as np
import pytest
from support.device_arrays import check_equal, outcome
from support.interrupts import interrupted

import accel

rng = np.random.default_rng(7)
SHAPES = ["every other", "backwards", "itself", "with an offset"]


def ran_on_copies(compiled, *arguments):
    """The explanation of a call that compiled code answered as a whole, on the CPU, with copies."""
    why = accel.explain(compiled)(*arguments)
    assert why.compiled and why.device["name"] == "cpu" and "bytes_down" in why.device, str(why)
    return why


def view(array, name):
    return {"every other": array[::2], "backwards": array[::-1], "itself": array, "with an offset": array[3:]}[name]


def recurrence(x, y):
    last = y[0]
    for i in range(1, len(y)):
        last = 0.5 * last + x[i]
        y[i] = last
    return last


def filled(x):
    out = np.empty_like(x)
    for i in range(len(x)):
        out[i] = x[i] * 2 + i
    return out, x[1:-1], out[::-1], x


def relaxed(u):
    for i in range(1, u.shape[0] - 1):
        for j in range(1, u.shape[1] - 1):
            u[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
    return u.sum(), u.T


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128", "int16"])
@pytest.mark.parametrize("name", SHAPES)
def test_stores_and_results(name, dtype):
    """Elements between those of an argument stay as they are."""
    x, y = (rng.random((2, 25)) * 50).astype(dtype)
    compiled = accel.compile(recurrence)
    for _ in range(2):
        a, b, c, d = x.copy(), y.copy(), accel.to_device(x), accel.to_device(y)
        wanted = recurrence(view(a, name), view(b, name))
        why = ran_on_copies(compiled, view(c, name), view(d, name))
        assert "not on the device: a loop over single elements" in str(why)
        check_equal(why.result, wanted)
        check_equal((c, d), (a, b))


def test_results_are_on_the_device():
    """Views of arguments look at the same memory, and those of results at theirs."""
    x = np.arange(10.0)
    device = accel.to_device(x)
    why = ran_on_copies(accel.compile(filled), device)
    check_equal(why.result, filled(x))
    out, part, backwards, same = why.result
    assert same is device and part.base is device and backwards.base is out
    part[0] = -1
    out[0] = -2
    assert float(device[1]) == -1 and float(backwards[-1]) == -2


def test_axes():
    for order in "CF":
        u = np.asarray(rng.random((6, 7)), order=order)
        device = accel.to_device(u)
        why = ran_on_copies(accel.compile(relaxed), device)
        check_equal(why.result, relaxed(u))
        check_equal(device, u)


def compared(x, y, z):
    for i in range(len(z)):
        z[i] = x[i] - y[i]
    return x, y


def test_arguments_that_overlap():
    """Their copies overlap, too."""
    for make in (lambda a: (a[:-1], a[1:]), lambda a: (a, a), lambda a: (a[::-1], a), lambda a: (a[::2], a[3:])):
        x, z = np.arange(9.0) ** 2, np.zeros(4)
        device, differences = accel.to_device(x), accel.to_device(z)
        why = ran_on_copies(accel.compile(compared), *make(device), differences)
        check_equal(why.result, compared(*make(x), z))
        check_equal((device, differences), (x, z))
        assert why.device["bytes_down"] == x.nbytes + z.nbytes


def both(x, y):
    for i in range(len(x) - 1):
        y[i] = x[i + 1] * 2
    return x, y


def test_an_array_that_is_two_arguments():
    x = np.arange(9.0)
    device = accel.to_device(x)
    why = ran_on_copies(accel.compile(both), device, device)
    check_equal(why.result, both(x, x))
    check_equal(device, x)


def test_memory_that_the_call_only_reads_is_not_written():
    """Nor are elements beside those of the arguments."""
    x, y = accel.to_device(np.arange(40.0)), accel.to_device(np.zeros(20))
    compiled = accel.compile(recurrence)
    for _ in range(2):
        why = ran_on_copies(compiled, x[::2], y)
        assert why.device["bytes_up"] == y.nbytes


def test_arrays_of_numpy_among_the_arguments():
    x, y = rng.random((2, 30))
    device, mine = accel.to_device(x), y.copy()
    why = ran_on_copies(accel.compile(recurrence), device, mine)
    check_equal(why.result, recurrence(x, y))
    assert mine.tolist() == y.tolist()
    assert isinstance(ran_on_copies(accel.compile(lambda a, b: np.partition(a, 2)), device, mine).result, accel.DeviceArray)


def one_of_two(x, y):
    z = x if x[0] > y[0] else y
    for i in range(len(z)):
        z[i] = z[i] + i
    return z[0]


def one_after_the_other(x, y):
    z = x
    for k in range(3):
        for i in range(len(x)):
            z[i] = z[i] + k
        z = y
    return z[1]


@pytest.mark.parametrize("function", [one_of_two, one_after_the_other])
def test_a_name_for_either_argument(function):
    compiled = accel.compile(function)
    for first, second in ((1.0, 0.0), (0.0, 1.0)) * 2:
        x, y = np.array([first, 2, 3]), np.array([second, 5, 6])
        a, b = accel.to_device(x), accel.to_device(y)
        wanted = function(x, y)
        check_equal(ran_on_copies(compiled, a, b).result, wanted)
        check_equal((a, b), (x, y))


def gathers(x, index, n):
    for k in range(n):
        x[k] = x[index[k]] + 1
    return x


def test_errors_leave_arrays_as_numpy_does():
    x, index = np.arange(8.0), np.array([3, 2, 1, 99, 0, 0, 0, 0])
    mine, indices = accel.to_device(x), accel.to_device(index)
    compiled = accel.compile(gathers)
    for n in (3, 8, 8):
        check_equal(outcome(compiled, mine, indices, n), outcome(gathers, x, index, n))
        check_equal(mine, x)
    assert accel.stats(compiled)["compiled"] == 3


def quotients(x):
    total = 0.0
    for i in range(len(x)):
        total += 1 / x[i]
    return total


def test_events_are_not_reported():
    """As on the device."""
    x = accel.to_device(np.zeros(5))
    compiled = accel.compile(quotients)
    with np.errstate(all="raise"):
        for _ in range(2):
            assert ran_on_copies(compiled, x).result == np.inf


def numbers(x, k):
    found = []
    for i in range(k):
        found.append(x[i] * 2)
    return found


def test_lists_of_numbers():
    x = np.arange(5)
    for k in (0, 1, 5):
        check_equal(ran_on_copies(accel.compile(numbers), accel.to_device(x), k).result, numbers(x, k))


CALLS = {
    "argpartition": lambda x: np.argpartition(x, 3)[::-1],
    "einsum": lambda x: np.einsum("i,i->", x, x),
    "partition": lambda x: np.partition(x, 3)[3:],
}


@pytest.mark.parametrize("name", CALLS)
def test_nothing_but_calls_that_the_interpreter_makes(name):
    function = CALLS[name]
    x = rng.random(11) * 9
    device = accel.to_device(x)
    compiled = accel.compile(function)
    for _ in range(2):
        why = ran_on_copies(compiled, device)
        assert "not on the device: a call that the interpreter makes" in str(why)
        check_equal(why.result, function(x))
        check_equal(device, x)


def drawn(generator, x):
    total = generator.normal(size=5)
    for k in range(5):
        total[k] += x[k] * total[k - 1]
    return total


def test_draws():
    """Results and the state of the generator are NumPy's."""
    mine, theirs = np.random.default_rng(3), np.random.default_rng(3)
    x = np.arange(5.0)
    compiled = accel.compile(drawn)
    for _ in range(3):
        check_equal(ran_on_copies(compiled, mine, accel.to_device(x)).result, drawn(theirs, x))
    assert mine.random() == theirs.random()


def singular(x, y):
    for k in range(len(y)):
        y[k] = k
    return np.linalg.inv(x) + np.sort(y)


def test_an_exception_of_a_call():
    x, y = np.zeros((3, 3)), np.ones(3)
    device = accel.to_device(y)
    check_equal(outcome(accel.compile(singular), accel.to_device(x), device), outcome(singular, x, y))
    check_equal(device, y)


def wraps(x):
    return np.sort(x)[0] + helper(x)


def helper(x):
    exec("pass")
    return float(x.numpy()[0]) if isinstance(x, accel.DeviceArray) else None


def test_unknown_code_gets_the_array_itself():
    x = accel.to_device(np.arange(4.0))
    compiled = accel.compile(wraps)
    for _ in range(3):
        assert compiled(x) == 0.0


def long_loop(x, n):
    total = 0.0
    for k in range(n):
        total += x[k % len(x)]
        x[0] = total
    return total


def test_interrupts():
    """A loop that would take hours ends within a second, with the stores of the iterations that it made."""
    x = accel.to_device(np.ones(16))
    compiled = accel.compile(long_loop)
    ran_on_copies(compiled, x, 20)
    interrupted(lambda: compiled(x, 10**13))
    assert float(x[0]) > 20
    assert accel.stats(compiled)["compiled"] == 2


@pytest.mark.skipif("ACCEL_CUDA_DRIVER" not in os.environ, reason="a driver that fails when it is told to is the emulated one")
@pytest.mark.parametrize("function", ["cuMemcpyDtoHAsync_v2", "cuMemcpyHtoDAsync_v2"])
def test_a_driver_that_fails(function):
    """The argument keeps its elements, and the next call works."""
    driver = ctypes.CDLL(os.environ["ACCEL_CUDA_DRIVER"])
    driver.cuEmulateFail.argtypes = [ctypes.c_char_p, ctypes.c_long, ctypes.c_int, ctypes.c_int]
    compiled = accel.compile(filled)
    x = accel.to_device(np.arange(6.0))
    ran_on_copies(compiled, x)
    driver.cuEmulateFail(function.encode(), 1, 2, 0)
    try:
        found = outcome(compiled, x)
    finally:
        driver.cuEmulateFail(None, 0, 0, 0)
    assert isinstance(found, accel.DeviceError), found
    check_equal(x, np.arange(6.0))
    check_equal(ran_on_copies(compiled, x).result, filled(np.arange(6.0)))
