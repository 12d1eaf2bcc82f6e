"""Where arrays on the device come from in a function, and which objects and memory its results are."""

import os
import subprocess
import sys

import numpy as np
import pytest
from support.device_arrays import on_host, ran_on_device

import accel


class Model:
    def __init__(self, weights):
        self.weights = weights

    def apply(self, x):
        return x @ self.weights + self.weights[0]

    def scaled(self, factor):
        self.weights = self.weights * factor
        return self.weights.sum()

    def grown(self, x):
        self.weights += x
        return self


IN_A_GLOBAL = None


def with_global(x):
    return x * IN_A_GLOBAL + 1


def made_with(array):
    def inner(x):
        return x - array * 2

    return inner


def of_list(arrays):
    return arrays[0] + arrays[1] * 2


def of_loop(arrays):
    total = arrays[0] * 0
    for a in arrays:
        total = total + a
    return total


def of_tuple(pair):
    x, (y, z) = pair
    return x * y - z


def of_dict(named):
    return named["a"] * named["b"] + 1


def of_star(*arrays, **named):
    return arrays[0] + named["b"] / 2


def of_default(x, y=None):
    return x + 1 if y is None else x + y


CONTAINERS = {
    "list": (of_list, lambda a, b: ([a, b],)),
    "loop over a list": (of_loop, lambda a, b: ([a, b, a],)),
    "nested tuples": (of_tuple, lambda a, b: ((a, (b, a)),)),
    "dict": (of_dict, lambda a, b: ({"a": a, "b": b},)),
    "method": (Model.apply, lambda a, b: (Model(b), a)),
    "attribute": (lambda m, x: m.weights * x, lambda a, b: (Model(b), a)),
    "default": (of_default, lambda a, b: (a,)),
}


@pytest.mark.parametrize("name", CONTAINERS)
def test_arrays_inside_of_arguments(name):
    function, make = CONTAINERS[name]
    a, b = np.arange(9.0).reshape(3, 3), np.arange(9.0)[::-1].reshape(3, 3) / 4
    wanted = function(*make(a, b))
    got = ran_on_device(accel.compile(function), *make(accel.to_device(a), accel.to_device(b)))
    assert isinstance(got, accel.DeviceArray)
    np.testing.assert_allclose(got.numpy(), wanted, rtol=1e-14)


def test_arguments_by_name():
    a, b = accel.to_device(np.arange(3.0)), accel.to_device(np.ones(3))
    compiled = accel.compile(of_star)
    why = accel.explain(compiled)(a, b=b)
    assert why.compiled and why.device["name"] == "cuda:0"
    assert why.result.tolist() == [0.5, 1.5, 2.5]


def test_methods_that_are_compiled():
    class Compiled(Model):
        apply = accel.compile(Model.apply)
        scaled = accel.compile(Model.scaled)
        grown = accel.compile(Model.grown)

    model = Compiled(accel.to_device(np.eye(2)))
    assert ran_on_device(model.apply, accel.to_device(np.ones((2, 2)))).tolist() == [[2, 1], [2, 1]]
    assert ran_on_device(model.scaled, 3.0) == 6.0
    assert isinstance(model.weights, accel.DeviceArray) and model.weights.tolist() == [[3, 0], [0, 3]]
    before = model.weights
    assert ran_on_device(model.grown, accel.to_device(np.ones((2, 2)))) is model
    assert model.weights is before and before.tolist() == [[4, 1], [1, 4]]


def test_globals_and_closures():
    global IN_A_GLOBAL
    IN_A_GLOBAL = accel.to_device(np.full(3, 2.0))
    compiled = accel.compile(with_global)
    assert ran_on_device(compiled, np.arange(3.0)).tolist() == [1, 3, 5]
    assert isinstance(ran_on_device(compiled, accel.to_device(np.arange(3.0))), accel.DeviceArray)
    IN_A_GLOBAL = np.full(3, 3.0)
    assert accel.explain(compiled)(np.arange(3.0)).device["name"] == "cpu"
    assert ran_on_device(compiled, accel.to_device(np.arange(3.0))).tolist() == [1, 4, 7]
    closure = accel.compile(made_with(accel.to_device(np.ones(3))))
    assert ran_on_device(closure, np.arange(3.0)).tolist() == [-2, -1, 0]


def test_arrays_of_numpy_beside_arrays_on_the_device():
    device, host = accel.to_device(np.arange(4.0)), np.ones(4)

    def both(x, y):
        y += x
        return x + y

    got = ran_on_device(accel.compile(both), device, host)
    assert host.tolist() == [1, 2, 3, 4]
    assert isinstance(got, accel.DeviceArray) and got.tolist() == [1, 3, 5, 7]


# ---- Results


def test_an_argument_is_returned_itself():
    def change(x, y):
        x += 1
        return x, y, [x, {"y": y}]

    x, y = accel.to_device(np.zeros(3)), accel.to_device(np.ones(3))
    first, second, nested = ran_on_device(accel.compile(change), x, y)
    assert first is x and second is y and nested[0] is x and nested[1]["y"] is y
    assert x.tolist() == [1, 1, 1]


def test_a_function_that_does_nothing():
    x = accel.to_device(np.zeros(3))
    assert accel.compile(lambda a: a)(x) is x
    view = accel.compile(lambda a: a[1:])(x)
    view[0] = 5
    assert x.tolist() == [0, 5, 0] and view.base is x


def test_results_that_are_views_share_memory():
    def views(x):
        x *= 2
        return x[1:], x.T, x[::-1, 0], x.reshape(-1)

    x = accel.to_device(np.arange(6.0).reshape(3, 2))
    for view in ran_on_device(accel.compile(views), x):
        assert view.base is x and np.shares_memory(view, x)
        view[0] = 9
    assert x.tolist() == [[9, 2], [9, 9], [9, 10]]


def test_one_result_twice_is_one_object():
    one, other = ran_on_device(accel.compile(lambda x: (lambda y: (y, y))(x + 1)), accel.to_device(np.zeros(2)))
    assert one is other


def test_a_view_of_a_result_shares_its_memory():
    def both(x):
        y = x * 2
        return y, y[1:]

    whole, part = ran_on_device(accel.compile(both), accel.to_device(np.arange(4.0)))
    part[0] = 7
    assert whole.tolist() == [0, 7, 4, 6]


ALIASES = {
    "shifted": lambda a: (a, a[1:]),
    "before": lambda a: (a[1:], a),
    "reversed": lambda a: (a, a[::-1]),
    "itself": lambda a: (a, a),
    "every other": lambda a: (a[::2], a[1::2]),
    "halves": lambda a: (a[:500], a[500:]),
}


def store(x, y):
    x[: len(y)] += 2 * y[: len(x)]
    y[0] = -1
    return x.sum()


def store_slice(x, y):
    n = min(len(x), len(y))
    x[:n] = y[:n] * 3
    return y * 1


@pytest.mark.parametrize("function", [store, store_slice])
@pytest.mark.parametrize("name", ALIASES)
def test_arguments_that_share_memory(name, function):
    host = np.arange(1000.0)
    device, copied = accel.to_device(host), host.copy()
    wanted = function(*ALIASES[name](host))
    compiled = accel.compile(function)
    for _ in range(2):
        got = accel.explain(compiled)(*ALIASES[name](device))
        assert got.device["name"] == "cuda:0" and got.exception is None, str(got)
        np.testing.assert_allclose(on_host(got.result), wanted, rtol=1e-12)
        assert device.tolist() == host.tolist()
        device[...] = copied
    with accel.device("cuda"):
        arguments = ALIASES[name](copied)
        got = accel.explain(accel.compile(function))(*arguments)
    # A function that stores to memory of two arguments can have exits that need a number from it: the CPU runs it.
    assert got.device["name"] == "cuda:0" or [n.reason for n in got.notes] == ["not_on_device"], str(got)
    np.testing.assert_allclose(got.result, wanted, rtol=1e-12)
    assert copied.tolist() == host.tolist()


def test_changes_through_views():
    def change(x):
        column = x[:, 1]
        column += 10
        x[0][0] = -1
        x.T[2] = column
        return x

    host = np.arange(9.0).reshape(3, 3)
    device = accel.to_device(host)
    assert ran_on_device(accel.compile(change), device) is device
    assert device.tolist() == change(host).tolist()


def test_read_only_arrays():
    def change(x):
        x += 1

    array = np.broadcast_to(accel.to_device(np.arange(3.0)), (2, 3))
    with pytest.raises(ValueError, match="read-only"):
        accel.compile(change)(array)
    assert array[0].tolist() == [0, 1, 2]


def test_a_function_that_the_device_cannot_run_whole():
    def partly(x):
        y = x * 2
        print(end="")
        return np.sort(y + 1, axis=0)

    x = np.array([3.0, 1.0, 2.0])
    got = accel.compile(partly)(accel.to_device(x))
    assert isinstance(got, accel.DeviceArray) and got.tolist() == partly(x).tolist()
    with accel.device("cuda"):
        got = accel.compile(partly)(x)
    assert type(got) is np.ndarray and got.tolist() == partly(x).tolist()


def test_backends_in_python_leave_arrays_on_the_device():
    x = accel.to_device(np.arange(3.0))
    for backend in ("numpy", "debug"):
        try:
            compiled = accel.compile(lambda a: a * 2 + 1, backend=backend)
        except accel.ArgumentError:
            continue
        assert compiled(x).tolist() == [1, 3, 5]


# ---- Several devices

SEVERAL = """
import numpy as np, accel, pytest
a, b = accel.to_device(np.arange(3.0)), accel.to_device(np.ones(3), "cuda:1")
def f(left, right): return left + right * 2
compiled = accel.compile(f)
for use in (lambda: compiled(a, b), lambda: compiled(b, a), lambda: a + b, lambda: np.add(a, b), lambda: a.__iadd__(b)):
    with pytest.raises(accel.ArgumentError, match="cuda:0.*cuda:1|cuda:1.*cuda:0") as raised:
        use()
    assert "accel.to_device" in str(raised.value)
with pytest.raises(accel.ArgumentError, match="cuda:0.*cuda:1|cuda:1.*cuda:0"):
    compiled(a, b)
assert compiled(a, a).tolist() == [0, 3, 6]
why = accel.explain(compiled)(b, b)
assert why.device["name"] == "cuda:1" and why.result.device == "cuda:1" and why.result.tolist() == [3, 3, 3]
with accel.device("cuda:1"):
    why = accel.explain(compiled)(np.ones(3), np.ones(3))
    assert why.device["name"] == "cuda:1"
    why = accel.explain(compiled)(a, np.ones(3))
    assert why.device["name"] == "cuda:0" and why.result.device == "cuda:0"
assert (a + accel.to_device(b, "cuda:0")).tolist() == [1, 2, 3]
"""


def test_arguments_on_several_devices():
    if "ACCEL_CUDA_DRIVER" not in os.environ and accel._accel.device_count() < 2:
        pytest.skip("there is one device")
    environment = {**os.environ, "ACCEL_EMULATE": "devices=2"}
    done = subprocess.run([sys.executable, "-c", SEVERAL], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
