"""Random numbers that a kernel draws itself, by NumPy's C functions: the same numbers and the same state afterwards."""

import os
import re
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from support.differential import call_with, check, check_left_to_numpy
from support.generators import generator, is_free
from support.outcome import assert_same

import accel
from accel.backends import evaluate

# By method: arguments that it takes, one after the other, and some that it does not take.
DRAWS = {
    "beta": [(0.3, 0.4), (2.0, 5), (1, 1)],
    "chisquare": [(0.7,), (3,)],
    "exponential": [(), (2.5,), (0.0,)],
    "f": [(2.0, 3.5)],
    "gamma": [(0.3,), (2, 3.0), (1.0, 0.0)],
    "geometric": [(0.2,), (0.6,), (1,)],
    "gumbel": [(), (1.0, 2)],
    "laplace": [(), (1.0, 2)],
    "logistic": [(), (1.0, 2)],
    "lognormal": [(), (1.0, 0.5)],
    "logseries": [(0.3,), (0.97,)],
    "noncentral_chisquare": [(3.0, 2.0), (0.5, 0.0)],
    "noncentral_f": [(3.0, 2.0, 1.5)],
    "normal": [(), (3,), (np.float32(1.5), 2), (1e308, np.inf), (0.0, np.nan)],
    "pareto": [(3.0,)],
    "poisson": [(), (0.0,), (7.5,), (1000,)],
    "power": [(0.5,), (3,)],
    "random": [()],
    "rayleigh": [(), (2.0,)],
    "standard_cauchy": [()],
    "standard_exponential": [()],
    "standard_gamma": [(0.0,), (0.5,), (4,)],
    "standard_normal": [()],
    "standard_t": [(3.5,)],
    "triangular": [(-1.0, 0, 2.5), (0.0, 0.0, 1.0)],
    "uniform": [(), (-1, 3.0), (2.0, 2.0)],
    "vonmises": [(0.5, 2.0), (0.0, 0.0), (1.0, 1e7)],
    "wald": [(2.0, 3.0)],
    "weibull": [(0.0,), (1.5,)],
    "zipf": [(1.5,), (4,)],
    "integers": [(1,), (10,), (-5, 6), (0, 2**31), (0, 2**32), (-(2**62), 2**63 - 1), (5, 2**40), (2**32 - 1,), (2**32 + 1,)],
}
REFUSED = {
    "normal": (0.0, -1.0),
    "exponential": (-0.0,),
    "uniform": (-1e308, 1e308),
    "triangular": (1.0, 0.5, 2.0),
    "poisson": (np.nan,),
    "geometric": (0.0,),
    "logseries": (1.0,),
    "zipf": (1.0,),
    "gamma": (-1.0, 1.0),
    "beta": (0.0, 1.0),
    "integers": (3, 3),
}
COUNTS = {"geometric", "integers", "logseries", "poisson", "zipf"}
PARAMETERS = [(name, arguments) for name, many in DRAWS.items() for arguments in many]


def drawing(method, count):
    """A function of a generator, `count` arguments and n that draws by `method` in a loop."""
    names = ", ".join(f"a{k}" for k in range(count))
    text = f"""
def function(rng, n, {names}):
    out = np.empty(n, {"np.int64" if method in COUNTS else "float"})
    for k in range(n):
        out[k] = rng.{method}({names})
    return out, rng.random()
"""
    made = {"np": np}
    exec(text, made)
    return made["function"]


def test_every_method_of_the_table_is_tested():
    table = Path(__file__).parents[3] / "src" / "capture" / "product" / "rng_functions.inc"
    of_random_state = {"randint"}  # test_random_state.py
    assert set(DRAWS) | of_random_state == set(re.findall(r"^DRAW\((\w+)", table.read_text(), re.MULTILINE))


def operations(function, *arguments):
    """Names of the operations of the graph."""
    seen = []

    def backend(graph, inputs):
        seen.extend(node["op"] for node in graph.nodes)
        return lambda *values: evaluate(graph, values)

    accel.compile(function, backend=backend)(*arguments)
    return seen


@pytest.mark.parametrize(("name", "arguments"), PARAMETERS)
def test_draws(name, arguments):
    function = drawing(name, len(arguments))
    call = check(function, generator(7), 40, *arguments)
    assert_same(function, call, generator(8, np.random.MT19937), 700, *arguments, times=1)
    constant = eval(f"lambda rng: rng.{name}{arguments!r}", {"inf": np.inf, "nan": np.nan, "np": np})
    assert "draw" in operations(constant, generator())


@pytest.mark.parametrize("bits", [np.random.MT19937, np.random.Philox, np.random.SFC64, np.random.PCG64DXSM, np.random.PCG64])
def test_draws_of_every_bit_generator(bits):
    """32-bit halves are kept between calls, in the kernel and outside."""

    def function(rng, n):
        total = 0.0
        for k in range(n):
            total += rng.integers(10) * rng.normal() + rng.random()
        return total, rng.integers(3)

    call = check(function, generator(3, bits), 33)
    a, b = generator(5, bits), generator(5, bits)
    for n in (0, 1, 2, 7):
        assert call(a, n) == function(b, n)
        assert a.integers(2**20) == b.integers(2**20)
        assert repr(a.bit_generator.state) == repr(b.bit_generator.state)


@pytest.mark.parametrize("name", REFUSED)
def test_arguments_that_a_draw_does_not_take(name):
    """They come after some that it takes; the generator has then drawn as often as in NumPy."""
    good = next(a for a in DRAWS[name] if len(a) == len(REFUSED[name])) if name != "integers" else (0, 3)
    names = ", ".join(f"a{k}[k]" for k in range(len(good)))
    made = {}
    exec(
        f"def function(rng, n, {', '.join(f'a{k}' for k in range(len(good)))}):\n"
        f"    for k in range(n):\n        x = rng.{name}({names})\n    return x",
        made,
    )
    arrays = [np.array([g, g, r, g]) for g, r in zip(good, REFUSED[name], strict=True)]
    check(made["function"], generator(), 2, *arrays)
    with np.errstate(all="ignore"):
        check_left_to_numpy(made["function"], generator(), 4, *arrays)
    constant = f"lambda rng: (rng.random(), rng.{name}{REFUSED[name]!r})".replace("nan", "float('nan')")
    check_left_to_numpy(eval(constant), generator())


@pytest.mark.parametrize("bits", [np.random.MT19937, np.random.PCG64])
def test_normal_numbers_of_every_layer_and_size(bits):
    """Many, so that the rare ways are taken, too; between numbers of other methods, which go on in the stream where they
    end.
    """

    def function(rng, n, loc, scale):
        out = np.empty((n, 4))
        for k in range(n):
            out[k, 0] = rng.standard_normal()
            out[k, 1] = rng.normal(loc, scale)
            out[k, 2] = rng.uniform(loc, loc + scale)
            out[k, 3] = rng.random()
        return out, rng.integers(7)

    call = check(function, generator(1, bits), 30_000, 0.3, 1.7)
    for loc, scale in [(0.0, 0.0), (-0.0, 5e-324), (1e308, 1e300), (-1.5, 1e-310), (1e-320, 2e-320), (3, 1), (1e308, 7e307)]:
        assert_same(function, call, generator(2, bits), 200, loc, scale, times=1)


def test_draws_between_events():
    """Events of what is computed are seen, those of draws are not."""

    def function(rng, n, x, scale, loc=0.0):
        total = np.float64(0.0)
        for k in range(n):
            rng.normal(1.0, scale)
            rng.normal(loc, 1.0)
            rng.uniform(0.0, scale)
            total += x[k] / x[k + 1]
        return total

    with np.errstate(all="raise"):
        check(function, generator(), 5, np.ones(6), 1e-310)
        check(function, generator(), 5, np.ones(6), 1e308)
        for loc in (np.nan, np.inf, -1e308, 5e-324):
            check(function, generator(), 5, np.ones(6), 1.0, loc)
    for scale in (1.0, 1e-310, 1e308):
        check_left_to_numpy(function, generator(), 5, np.array([1.0, 2.0, 0.0, 1.0, 0.0, 0.0]), scale)


def test_what_draws_raise_nobody_hears_of():
    def function(rng, n, loc, x):
        total = x / 3.0
        for _ in range(n):
            rng.normal(loc, 1e308)
            rng.gamma(1e-300)
        return total, x * 2.0

    with np.errstate(all="raise"):
        check(function, generator(), 20, 1.5e308, np.float64(2.0))


def test_one_bit_generator_under_two_names():
    def function(first, second, n):
        total = 0.0
        for _ in range(n):
            total += first.random() - second.normal() * first.integers(5)
        return total

    bits = np.random.PCG64(3)
    call = accel.compile(function, fullgraph=True)
    for make in (
        lambda: (np.random.Generator(np.random.PCG64(3)),) * 2,
        lambda: tuple(map(np.random.Generator, [np.random.PCG64(3)] * 2)),
        lambda: (generator(3), generator(4, np.random.SFC64)),
    ):
        for _ in range(2):
            ours, theirs = make(), make()
            assert call(*ours, 9) == function(*theirs, 9)
            for a, b in zip(ours, theirs, strict=True):
                assert repr(a.bit_generator.state) == repr(b.bit_generator.state)
                assert is_free(a)
    del bits


@pytest.mark.parametrize("backend", ["native", "numpy"])
@pytest.mark.parametrize("exit", range(1, 8))
def test_exits_between_draws(exit, backend):
    def function(rng, x, n):
        total = 0.0
        for i in range(n):
            if rng.random() < 0.5:
                x[rng.integers(len(x))] += rng.normal(0.0, abs(x[i % len(x)]))
            total += rng.exponential(1.0 + i)
        return total, rng.permutation(x)

    with accel.config(stress_exits=exit):
        call = accel.compile(function, backend=backend)
        assert_same(function, call, generator(), np.arange(5.0), 12, times=3)


def test_boxed_calls_between_draws():
    def function(rng, x, n):
        total = 0.0
        for _ in range(n):
            total += rng.random() + rng.choice(x) + rng.normal(size=3)[1] + rng.binomial(9, 0.3)
            rng.shuffle(x)
        return total, x[0], rng.random()

    check(function, generator(), np.arange(6.0), 11)


def test_state_is_as_before_after_an_event_among_draws():
    def function(rng, x, n):
        total = np.float64(0.0)
        for i in range(n):
            total += rng.normal() / x[i] + rng.integers(7)
        return total

    for bits in (np.random.PCG64, np.random.MT19937, np.random.Philox, np.random.SFC64):
        check_left_to_numpy(function, generator(2, bits), np.array([1.0, 2.0, 0.0, 3.0]), 4)
        rng = generator(2, bits)
        with pytest.warns(RuntimeWarning):
            accel.compile(function)(rng, np.array([1.0, 2.0, 0.0, 3.0]), 4)
        assert is_free(rng)


def test_calls_that_raise_in_the_numpy_backend():
    def function(rng, n):
        total = 0
        for _ in range(3):
            total += int(rng.integers(n)) + int(rng.choice(n))
        return total

    call = accel.compile(function, backend="numpy")
    for n in (0, 5, -1, 0):
        a, b = generator(), generator()
        assert call_with(call, (a, n)) == call_with(function, (b, n))
        assert a.bit_generator.state == b.bit_generator.state and is_free(a)


def test_threads_share_a_generator():
    """All numbers are drawn once, whoever draws them."""

    def function(rng, n):
        out = np.empty(n)
        for i in range(n):
            out[i] = rng.random()
        return out

    call = accel.compile(function, fullgraph=True)
    call(generator(), 3)
    rng, results = generator(11), []

    def work():
        for n in (5, 60000, 100, 70000):
            results.append(call(rng, n))
            results.append(rng.random(50))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    drawn = np.concatenate(results)
    assert np.array_equal(np.sort(drawn), np.sort(generator(11).random(len(drawn))))


def test_threads_with_two_generators_in_turn():
    def function(first, second, n):
        total = 0.0
        for _ in range(n):
            total += first.random() - second.random()
        return total

    call = accel.compile(function, fullgraph=True)
    a, b = generator(1), generator(2)
    call(a, b, 3)

    def work(first, second):
        for _ in range(30):
            call(first, second, 20000)

    threads = [threading.Thread(target=work, args=pair) for pair in [(a, b), (b, a)] * 2]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    assert a.random() == generator(1).random(4 * 30 * 20000 + 4)[-1]


def test_a_lock_that_another_thread_holds():
    call = accel.compile(lambda rng, n: [rng.random() for _ in range(n)], fullgraph=True)
    call(generator(), 3)
    rng = generator(4)
    held, results = rng.bit_generator.lock, []
    held.acquire()
    thread = threading.Thread(target=lambda: results.append(call(rng, 5)))
    thread.start()
    thread.join(0.2)
    assert thread.is_alive() and not results
    call(rng, 0)
    held.release()
    thread.join(60)
    assert results == [list(generator(4).random(5))]


def test_a_bit_generator_that_is_exchanged():
    def function(rng, n):
        return [rng.normal() for _ in range(n)]

    call = accel.compile(function, fullgraph=True)
    for bits in (np.random.PCG64, np.random.MT19937):
        for n in (0, 1, 3):
            a, b = generator(n, bits), generator(n, bits)
            assert call(a, n) == function(b, n) and a.random() == b.random()

    class Mine(np.random.PCG64):
        pass

    a, b = np.random.Generator(Mine(1)), generator(1)
    assert call(a, 4) == function(b, 4) and a.random() == b.random()


def test_without_numpys_library_methods_are_called():
    program = """
import numpy as np
np.random.__file__ = "/nowhere/__init__.py"
import accel
def function(rng, n):
    total = 0.0
    for _ in range(n):
        total += rng.normal(0.5, 2.0) * rng.integers(7) + rng.random()
    return total
call = accel.compile(function, fullgraph=True)
a, b = np.random.default_rng(3), np.random.default_rng(3)
assert [call(a, n) for n in (3, 0, 40)] == [function(b, n) for n in (3, 0, 40)]
assert a.bit_generator.state == b.bit_generator.state
assert accel.stats(call)["compiled"] == 3
"""
    assert subprocess.run([sys.executable, "-c", program], check=False, timeout=120).returncode == 0


def test_library_is_built_in_a_call_of_a_kernel(tmp_path):
    program = """
import numpy as np
import accel

@accel.compile
def draw(method):
    method(5.0)
    return method(np.arange(2.0, 12.0))

def make(seed):
    return np.random.Generator(np.random.PCG64(seed))

def test(seed):
    rng = make(seed)
    first = rng.standard_gamma(10, 10)
    return first, draw(rng.standard_gamma)

call = accel.compile(test)
for seed in range(3):
    for found, expected in zip(call(seed), test(seed)):
        assert found.tobytes() == expected.tobytes()
assert accel.stats(call)["compiled"] == 3
"""
    environment = {**os.environ, "ACCEL_CACHE_DIR": str(tmp_path)}
    assert subprocess.run([sys.executable, "-c", program], env=environment, check=False, timeout=120).returncode == 0
