"""Functions in mode reduce-overhead: kernels launched as CUDA graphs give what they give one by one, in fresh memory."""

import re

import numpy as np
import pytest
from support.device_arrays import on_host
from support.interrupts import interrupted
from support.on_device.random_calls import PROGRAMS, RandomCalls, sweeps, until

import accel


def graph(function, **options):
    return accel.compile(function, mode="reduce-overhead", device="cuda", **options)


def explained(compiled, *arguments):
    why = accel.explain(compiled)(*arguments)
    assert why.compiled and why.device["name"] == "cuda:0", str(why)
    return why


def repeated(x, y, rounds):
    for _ in range(rounds):
        x += y
        y *= 0.5
    return x + y


@pytest.mark.parametrize("seed", range(3))
def test_random_calls(seed):
    """Results of mode reduce-overhead have the bits of the default mode, and NumPy's numbers; no later call changes them."""
    calls = RandomCalls(seed)
    calls.run(150)
    assert calls.interpreted() == 0


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_graphs_are_used(program):
    """From the second call with the same kernels on, or the third: an interrupt may have been asked for in between."""
    rng = np.random.default_rng(0)
    compiled, found = graph(program), []
    for _ in range(6):
        arguments = [accel.to_device(a) if isinstance(a, np.ndarray) else a for a in program.arguments(rng, 20)]
        found.append(explained(compiled, *arguments).device)
    assert any(work["graphs"] > 0 and work["graph_launches"] >= 2 * work["graphs"] for work in found[1:]), found
    assert all(work["graph_launches"] <= work["launches"] for work in found)
    work = accel.explain(accel.compile(program))(*arguments).device
    assert work["graphs"] == work["graph_launches"] == 0 and work["launches"] == found[-1]["launches"]


def test_what_explain_says():
    compiled = graph(until)
    x = accel.to_device(np.linspace(0, 1, 3000))
    for _ in range(3):
        text = str(explained(compiled, x, 10.0))
    assert re.search(r"launches \(\d+ in \d+ graphs?\), ", text), text
    assert " graph" not in str(explained(accel.compile(until), x, 10.0))


def test_results_are_in_fresh_memory():
    compiled = graph(sweeps)
    rng = np.random.default_rng(1)
    inputs = [rng.random((2, 50)) for _ in range(40)]
    kept = [compiled(accel.to_device(x[0]), accel.to_device(x[1]), 3) for x in inputs]
    assert len({array.__cuda_array_interface__["data"][0] for array in kept}) == len(kept)
    for x, array in zip(inputs, kept, strict=True):
        assert np.array_equal(array.numpy(), sweeps(x[0], x[1], 3))


def test_arguments_that_are_gone():
    """A graph is launched with the addresses of the call's own arguments, whose memory others have by then."""
    compiled = graph(repeated)
    for k in range(30):
        x, y = np.full(500 + k % 3, float(k)), np.full(500 + k % 3, 2.0)
        a, b = accel.to_device(x), accel.to_device(y)
        result = compiled(a, b, 4)
        del b
        others = [accel.to_device(np.full(len(x), -1.0)) for _ in range(3)]
        assert np.array_equal(result.numpy(), repeated(x, y, 4)) and np.array_equal(a.numpy(), x)
        del others


def test_counted_loops_of_any_length():
    compiled = graph(sweeps)
    a, b = np.random.default_rng(2).random((2, 30))
    for steps in (0, 1, 2, 63, 64, 65, 200, 200, 199):
        work = explained(compiled, accel.to_device(a), accel.to_device(b), steps)
        assert np.array_equal(work.result.numpy(), sweeps(a, b, steps))
    assert work.device["graph_launches"] > 250


def test_arguments_of_numpy():
    compiled = graph(repeated)
    for _ in range(5):
        mine, theirs = np.arange(10.0), np.arange(10.0)
        found = compiled(mine, np.ones(10), 6)
        assert type(found) is np.ndarray
        assert np.array_equal(found, repeated(theirs, np.ones(10), 6)) and np.array_equal(mine, theirs)


def test_many_sequences_of_kernels():
    """There are more sequences of kernels than graphs are cached for."""

    def steps(x, a, b, c):
        for _ in range(a):
            x = np.cumsum(x) / 3
        for _ in range(b):
            x = x - x.mean()
        for _ in range(c):
            x = x[::-1] * 2
        return x

    compiled = graph(steps)
    x = np.random.default_rng(3).random(40)
    for _ in range(3):
        for a in range(4):
            for b in range(3):
                for c in range(3):
                    found = compiled(accel.to_device(x), a, b, c)
                    assert np.allclose(on_host(found), steps(x, a, b, c), rtol=1e-13, atol=1e-13)


def test_memory_is_given_back():
    def used():
        accel.synchronize()
        return accel.memory_info().used

    compiled = graph(sweeps)
    a, b = (accel.to_device(x) for x in np.random.default_rng(4).random((2, 3000)))
    before = used()
    for steps in (1, 5, 100, 100, 100):
        compiled(a, b, steps)
        assert used() == before


def endless(x, y):
    while x[0] < 10:
        y += 1
        y *= 1.0
    return x


def counted(y, rounds):
    for _ in range(rounds):
        y[1:] += 1
        y[:-1] = y[1:]
    return y


@pytest.mark.parametrize(("function", "arguments"), [(endless, (np.zeros(1), np.zeros(5))), (counted, (np.zeros(5), 1 << 40))])
def test_an_interrupt(function, arguments):
    compiled = graph(function)
    compiled(*([np.full(1, 11.0), np.zeros(5)] if function is endless else [np.zeros(5), 3]))
    mine = [accel.to_device(a) if isinstance(a, np.ndarray) else a for a in arguments]
    late, frames = interrupted(compiled, *mine)
    assert frames[-1].name == function.__name__ and late < 2
    y = mine[1 if function is endless else 0].numpy()
    assert y[-1] > 0 and np.all(y[1:] == y[-1])


def test_a_pickled_function_has_the_mode():
    for mode in ("default", "reduce-overhead"):
        rebuild, arguments = accel.compile(lambda x: x + 1, mode=mode).__reduce_ex__(4)
        assert rebuild(*arguments).__reduce_ex__(4)[1][1]["mode"] == mode


def test_modes():
    with pytest.raises(accel.ArgumentError, match="reduce-overhead"):
        accel.compile(sweeps, mode="max-autotune")
    on_cpu = accel.compile(sweeps, mode="reduce-overhead")
    a, b = np.random.default_rng(5).random((2, 30))
    assert np.array_equal(on_cpu(a, b, 3), sweeps(a, b, 3))
