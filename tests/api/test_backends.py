"""Backends: NumPy operation by operation, and callables of the user's own."""

import numpy as np
import pytest
from support.compiled import assert_all_compiled
from support.outcome import assert_same

import accel
from accel.backends import evaluate

RNG = np.random.default_rng(0)

FUNCTIONS = {
    "arithmetic": (lambda x, y: x * y + 2, lambda: (RNG.random((3, 4)), RNG.random((3, 4)))),
    "broadcast": (lambda x, y: x[:, None] - y[None, :], lambda: (RNG.random(5), RNG.random(7))),
    "sums": (lambda x: (x.sum(), x.sum(axis=0), x.T.sum(axis=0)), lambda: (RNG.random((300, 200)),)),
    "fortran": (lambda x: (x + 1).sum(axis=1), lambda: (np.asfortranarray(RNG.random((130, 140))),)),
    "strided": (lambda x: (x * 2, x[::-1] - x), lambda: (RNG.random((20, 30))[::2, ::3],)),
    "reductions": (lambda x: (x.max(axis=0), np.argmin(x, axis=1), x.prod(), np.any(x > 1)), lambda: (RNG.random((4, 5)),)),
    "norm": (lambda x: np.linalg.norm(x, axis=1), lambda: (RNG.random((4, 5)),)),
    "numbers": (lambda x, s, n: (x + s) * n, lambda: (RNG.random(4), 2.5, 3)),
    "mean": (lambda x: (x.mean(axis=0), x.std(), np.var(x, axis=1)), lambda: (RNG.random((40, 50)),)),
    "integers": (lambda x, y: (x // y, x % y, x << 1, x & y), lambda: (np.arange(10), np.arange(10) + 1)),
    "matmul": (lambda x, y: x @ y + 1, lambda: (RNG.random((3, 4)), RNG.random((4, 5)))),
    "views": (lambda x: (x.reshape(2, -1) + 1, x[1:3], np.where(x > 0.5, x, 0)), lambda: (RNG.random(8),)),
    "concatenate": (lambda x, y: np.concatenate([x, y * 2]), lambda: (RNG.random(3), RNG.random(4))),
    "creation": (lambda x: x + np.arange(x.shape[0]) + np.ones(x.shape), lambda: (RNG.random(6),)),
}


def mine(graph, example_inputs):
    assert len(example_inputs) == len(graph.symbols) + len(graph.inputs)
    return lambda *values: evaluate(graph, values)


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("backend", ["numpy", mine])
def test_same_as_numpy(name, backend):
    function, arguments = FUNCTIONS[name]
    call = accel.compile(function, backend=backend)
    assert_same(function, call, *arguments(), times=2)
    assert_all_compiled(call)


def test_warnings_come_from_the_function():
    call = accel.compile(lambda x: 1 / x, backend="numpy")
    assert_same(call.__wrapped__, call, np.array([0.0, 1.0]), times=2)
    assert accel.stats(call)["side_exits"] == 2


def test_graph_is_plain_data():
    seen = []

    def backend(graph, example_inputs):
        seen.append(graph)
        return mine(graph, example_inputs)

    accel.compile(lambda x: x + 1, backend=backend)(np.ones(3))
    (graph,) = seen
    assert [node["op"] for node in graph.nodes] == ["constant", "add"]
    assert graph.nodes[-1]["file"] == __file__ and "add" in repr(graph)
    assert graph.inputs[0]["dtype"] == "float64" and graph.inputs[0]["shape"] == ["s0"]


def failing(graph, example_inputs):
    raise OSError("no such machine")


def wrong(graph, example_inputs):
    return lambda *values: [np.zeros(3, "f4")]


def silent(graph, example_inputs):
    return lambda *values: None


def without_results(graph, example_inputs):
    return lambda *values: (0, None)


def plus_one(x):
    return x + 1


def halved(x):
    while x.sum() > 1:
        x = x / 2
    return x


@pytest.mark.parametrize(
    ("function", "backend", "message"),
    [
        (plus_one, failing, "no such machine"),
        (plus_one, wrong, "another dtype"),
        (plus_one, lambda g, e: 3, "callable"),
        (plus_one, silent, "no results but NoneType"),
        (halved, silent, "control flow returns the exit .* not NoneType"),
        (halved, without_results, "no results but NoneType"),
    ],
)
def test_backends_that_fail(function, backend, message):
    x = np.ones(3)
    with accel.config(strict=False):
        call = accel.compile(function, backend=backend)
        with pytest.warns(accel.AccelWarning, match=f"backend_failed.*{message}"):
            assert np.array_equal(call(x), function(x))
        assert np.array_equal(call(x), function(x))
    with accel.config(strict=True), pytest.raises(accel.InternalError, match=message):
        accel.compile(function, backend=backend)(x)
