"""First calls: what is emitted grows in proportion to the function, the compiler needs seconds at most, and capture has a
limit.
"""

import re
import resource

import numpy as np
import pytest
from support.compiled import assert_all_compiled, facts
from support.outcome import assert_same

import accel


class Particle:
    def __init__(self, x):
        self.x, self.v, self.a, self.hits = x, 0.5, 1.0, 0

    def state(self):
        return self.x, self.v, self.a, self.hits, type(self.x), type(self.hits)


def time_loop(count, parameters, updates):
    """A function with `count` objects as arguments that makes the updates of each object p in every iteration i of n."""
    names = [f"p{k}" for k in range(count)]
    lines = [f"def step({', '.join(names)}, {parameters}):", "    for i in range(n):"]
    lines += ["        " + update.replace("p.", f"{p}.") for p in names for update in updates]
    scope = {}
    exec("\n".join(lines), scope)
    return scope["step"]


def stepper(count):
    return time_loop(count, "n, dt", ["p.v = p.v + p.a * dt", "p.x = p.x + p.v * dt", "p.hits += 1"])


def particles(count, hits=0, at=-1):
    made = [Particle(float(k)) for k in range(count)]
    if at >= 0:
        made[at].hits = hits
    return made


def seconds_of_compiler(call, *arguments):
    """Processor time of the children that the call starts."""

    def spent():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    before = spent()
    call(*arguments)
    return spent() - before


def emitted(call, *arguments):
    """The lines of a function's kernel that are not the same in all kernels."""
    source = accel.explain(call)(*arguments).source
    return source[re.search(r"static .* run_0_|struct nest0|nest0_body", source).start() :]


@pytest.mark.parametrize("count", [20, 100])
def test_objects_that_change(count):
    """Long functions are compiled with less effort, and round as NumPy does: no product is fused with a sum."""
    step = stepper(count)
    call = accel.compile(step)
    expected, found = particles(count), particles(count)
    step(*expected, 50, 0.0137)
    assert seconds_of_compiler(call, *found, 50, 0.0137) < 0.06 * count
    assert [p.state() for p in found] == [p.state() for p in expected]
    assert_all_compiled(call)


def test_text_grows_in_proportion():
    lengths = [len(emitted(accel.compile(stepper(k)), *particles(k), 4, 0.01)) for k in (24, 48)]
    assert lengths[1] < 2.4 * lengths[0]


STEP = stepper(24)
COMPILED_STEP = accel.compile(STEP)


@pytest.mark.parametrize("at", [0, 1, 13, 23])
@pytest.mark.parametrize("rounds_before", [0, 1, 5])
def test_exits_that_share_tables(at, rounds_before):
    """A counter leaves int64 in the midst of an iteration: each object holds what Python would have stored by then."""
    call = COMPILED_STEP
    call(*particles(24), 8, 0.25)  # calls in a row that leave compiled code make it skip some
    hits = 2**63 - 1 - rounds_before
    expected, found = particles(24, hits, at), particles(24, hits, at)
    STEP(*expected, 8, 0.25)
    call(*found, 8, 0.25)
    assert [p.state() for p in found] == [p.state() for p in expected]
    found = facts(call)
    assert found["interpreted"] == 0 and found["side_exits"] > 0


def test_exits_with_numbers_of_all_sizes():
    """Complex numbers, floats, integers and truth values from one table."""
    count = 20
    step = time_loop(count, "n", ["p.x = p.x * 1j + i", "p.v = p.v < 2.0 * i", "p.hits += p.hits"])
    call = accel.compile(step)
    for n in (3, 70):
        made = [particles(count), particles(count)]
        for group, function in zip(made, (step, call), strict=True):
            for k, p in enumerate(group):
                p.x, p.v, p.hits = complex(k, -0.0), bool(k % 2), 1 + (k == 11)
            function(*group, n)
        assert [p.state() for p in made[0]] == [p.state() for p in made[1]]
    found = facts(call)
    assert (found["compiled"], found["interpreted"]) == (2, 0)


def test_objects_in_a_list():
    """Found one by one at first, then all at once."""

    def step(ps, n, dt):
        for _ in range(n):
            for p in ps:
                p.v = p.v + p.a * dt
                p.x = p.x + p.v * dt
                p.hits += 1

    call = accel.compile(step)
    expected, found = particles(30), particles(30)
    step(expected, 5, 0.5)
    assert seconds_of_compiler(call, found, 5, 0.5) < 5
    assert [p.state() for p in found] == [p.state() for p in expected]
    assert_all_compiled(call)


def test_set_functions():
    def sets(a, b):
        return np.union1d(a, b), np.unique(a), np.intersect1d(a, b), np.setdiff1d(a, b)

    call = accel.compile(sets)
    assert seconds_of_compiler(call, np.arange(30) % 7, np.arange(20) % 5) < 6
    rng = np.random.default_rng(3)
    for n, m in [(0, 4), (5, 0), (40, 30), (3000, 500)]:
        assert_same(sets, call, rng.integers(-50, 50, n), rng.integers(0, 90, m), times=1)


def statements(count, texts):
    lines = ["def f(x, y):", "    v0, v1 = x, y"]
    for k in range(2, count):
        lines.append(f"    v{k} = " + texts[k % len(texts)].format(a=f"v{k - 1}", b=f"v{k - 2}", k=k))
    scope = {"np": np}
    exec("\n".join([*lines, f"    return v{count - 1}"]), scope)
    return scope["f"]


@pytest.mark.parametrize(
    "texts",
    [
        ["{a} * {b} + {k}.5", "np.sqrt(abs({a})) - {b}", "{a} / ({b} * {b} + 2.0)"],
        ["({a} + {b}) % 1009", "{a} * 3 - {b}", "{a} // 7 + {k}", "abs({b} - {a})"],
    ],
)
def test_straight_lines(texts):
    f = statements(200, texts)
    call = accel.compile(f)
    assert seconds_of_compiler(call, 3, 5) < 3
    for x, y in [(3, 5), (-7, 2), (10**6, 1)]:
        assert_same(f, call, x, y, times=1)


MIXED = ["({a} + {b}) % 1009", "{a} * 3.5 - {b}", "np.where({a} > {b}, {a}, {k})", "abs({b} - {a})"]
MIXED += ["np.sqrt(abs({a})) - {b}", "{a} + {b}.sum()", "np.minimum({a}, {b})"]


def test_straight_lines_of_arrays():
    """What several loops need is computed once, in a tile or in memory of its own, not again in each loop that uses it."""
    x, y = np.arange(30.0) + 1, np.arange(30.0) * 2
    shorter, longer = statements(36, MIXED), statements(71, MIXED)
    calls = [accel.compile(shorter), accel.compile(longer)]
    assert len(emitted(calls[1], x, y)) < 2.4 * len(emitted(calls[0], x, y))
    rng = np.random.default_rng(0)
    for n in (1, 30, 1025, 3000):
        assert_same(longer, calls[1], rng.normal(size=n) * 10, rng.normal(size=n), times=1)
    assert_all_compiled(calls[1])


def test_joins_of_many_arrays():
    """Where each array begins is written as what differs from the one before."""
    call = accel.compile(lambda arrays: np.concatenate(arrays) * 2)
    lengths = []
    for count in (40, 80):
        arrays = [np.arange(k % 5 + 1.0) + k for k in range(count)]
        lengths.append(len(emitted(call, arrays)))
        np.testing.assert_array_equal(call(arrays), np.concatenate(arrays) * 2)
    assert lengths[1] < 2.3 * lengths[0]
    assert_all_compiled(call)


def test_equal_loops_share_a_function():
    """Nests that differ in buffers and sizes alone are one function of the kernel; others are not."""

    def f(x, y, z):
        a = (x[1:] - x[:-1]) * 2.0
        b = (y[1:] - y[:-1]) * 2.0
        c = (z[1:] - z[:-1]) * 3.0
        return a, b, c, a.sum(), b.sum(), np.flatnonzero(a > 1), np.flatnonzero(b > 1)

    call = accel.compile(f)
    rng = np.random.default_rng(0)
    for sizes in [(4, 9, 5), (1, 300, 2), (0, 0, 0), (70_000, 300_000, 1000)]:
        if 0 not in sizes:
            assert_same(f, call, *(rng.normal(size=n) for n in sizes), times=1)
    assert_all_compiled(call)


@pytest.mark.parametrize("shifts", [range(1, 30)])
def test_many_rolls(shifts):
    scope = {"np": np}
    exec("def f(x):\n    y = x\n" + "".join(f"    y = y + np.roll(x, {k})\n" for k in shifts) + "    return y\n", scope)
    call = accel.compile(scope["f"])
    assert seconds_of_compiler(call, np.arange(300.0)) < 5
    for n in (1, 2, 29, 300, 200_000):
        assert_same(scope["f"], call, np.arange(float(n)), times=1)
    assert_all_compiled(call)


def test_capture_has_a_limit_in_seconds():
    """With no time the interpreter runs the function, and the reason names the setting."""
    before = accel.config.capture_seconds
    try:
        accel.config.capture_seconds = 0
        call = accel.compile(lambda x: x * 2 + sum(k * 0.5 for k in range(20)))
        np.testing.assert_array_equal(call(np.arange(3.0)), np.arange(3.0) * 2 + 95)
        assert facts(call)["compiled"] == 0
        assert "capture_seconds" in str(accel.explain(call)(np.arange(3.0)))
    finally:
        accel.config.capture_seconds = before
