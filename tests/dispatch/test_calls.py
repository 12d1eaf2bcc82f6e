"""Calls: floating-point events, exits into the interpreter, threads, fork, Ctrl-C, tracing, memory."""

import gc
import os
import signal
import subprocess
import sys
import threading
import time
import traceback
import warnings

import numpy as np
import pytest
from support.compiled import assert_all_compiled
from support.outcome import assert_same

import accel

X = np.arange(6.0)


def quotient(a, b):
    c = a + 1
    return c / b


def test_warnings_are_numpys():
    call = accel.compile(quotient)
    a, b = np.ones(3), np.array([1.0, 0.0, 2.0])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = call(a, b)
    assert np.array_equal(result, [2, np.inf, 1])
    (warning,) = caught
    assert str(warning.message) == "divide by zero encountered in divide"
    assert (warning.filename, warning.lineno) == (__file__, quotient.__code__.co_firstlineno + 2)
    assert accel.stats(call) | {"cache_hits": 0} == {
        "calls": 1, "compiled": 0, "interpreted": 1, "side_exits": 1, "recompiles": 0, "cache_hits": 0
    }  # fmt: skip
    assert [f.reason for f in accel.explain(call)(a, a).fallbacks] == ["floating_point_event"]


def test_ignored_events_cost_nothing():
    call = accel.compile(quotient)
    with np.errstate(divide="ignore", invalid="ignore"):
        assert np.array_equal(call(np.ones(2), np.zeros(2)), [np.inf, np.inf])
    assert_all_compiled(call)


def test_underflow_is_ignored_by_default():
    call = accel.compile(lambda x: x * 1e-200)
    assert np.array_equal(call(np.full(3, 1e-200)), np.zeros(3))
    assert_all_compiled(call)
    with np.errstate(under="raise"), pytest.raises(FloatingPointError, match="underflow"):
        call(np.full(3, 1e-200))


def test_errstate_raise_and_call():
    call = accel.compile(quotient)
    with np.errstate(all="raise"), pytest.raises(FloatingPointError) as error:
        call(np.ones(2), np.zeros(2))
    last = traceback.extract_tb(error.value.__traceback__)[-1]
    assert (last.name, last.lineno) == ("quotient", quotient.__code__.co_firstlineno + 2)
    seen = []
    with np.errstate(all="call", call=lambda *event: seen.append(event)):
        call(np.ones(2), np.zeros(2))
    assert len(seen) == 1 and seen[0][0] == "divide by zero"


def test_warnings_turned_into_errors():
    call = accel.compile(quotient)
    with warnings.catch_warnings(), pytest.raises(RuntimeWarning):
        warnings.simplefilter("error")
        call(np.ones(2), np.zeros(2))


def test_events_that_keep_happening_stop_the_attempts():
    call = accel.compile(quotient)
    with np.errstate(divide="call", call=lambda kind, flag: None):
        for _ in range(200):
            call(np.ones(2), np.zeros(2))
    found = accel.stats(call)
    assert found["interpreted"] == 200 and found["side_exits"] < 20
    for _ in range(1000):
        call(np.ones(2), np.ones(2))
    assert accel.stats(call)["compiled"] > 500


def with_a_side_effect(x, log):
    y = x * 2 + 1
    log.append("before")
    locals()
    z = y - x
    log.append(z.copy())
    return z, y


def test_resume():
    call = accel.compile(with_a_side_effect)
    for n in [3, 0, 5]:
        x, log, expected = np.arange(float(n)), [], []
        found = call(x, log)
        wanted = with_a_side_effect(x, expected)
        assert log[0] == "before" and np.array_equal(log[1], expected[1])
        assert all(map(np.array_equal, found, wanted))
    assert accel.stats(call)["compiled"] == 3 and accel.stats(call)["side_exits"] == 3


def raises_after_the_exit(x):
    y = x + 1
    try:
        y.missing_attribute  # noqa: B018
    except AttributeError as error:
        note = str(error)
    finally:
        y = y * 2
    if len(note) > 0:
        raise ValueError(note)
    return y


def test_errors_after_an_exit():
    call = accel.compile(raises_after_the_exit)
    with pytest.raises(ValueError, match="missing_attribute") as error:
        call(X)
    last = traceback.extract_tb(error.value.__traceback__)[-1]
    assert (last.name, last.lineno) == ("raises_after_the_exit", raises_after_the_exit.__code__.co_firstlineno + 9)


def loops(x, n):
    y = x
    for k in range(n):
        y = y * 2 + k
        if k == 2:
            y = y - x
    z = y.sum()
    return (y, z) if z > 0 else (y, -z)


PROGRAMS = {
    "quotient": (quotient, lambda: (X + 1, X + 2)),
    "loops": (loops, lambda: (X, 5)),
    "effect": (with_a_side_effect, lambda: (X, [])),
    "norm": (lambda x: np.linalg.norm(x.reshape(2, 3), axis=1) + x.mean(), lambda: (X,)),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_exit_gives_the_same_result(name):
    """Leaving compiled code before the n-th instruction changes nothing, for any n."""
    function, arguments = PROGRAMS[name]
    exits = 0
    for n in range(1, 40):
        with accel.config(stress_exits=n):
            call = accel.compile(function)
            assert_same(function, call, *arguments(), times=1)
            exits += accel.stats(call)["side_exits"]
    assert exits > 5


def heavy(x):
    y = x
    for _ in range(40):
        y = np.sin(y) + np.cos(y)
    return y


def test_ctrl_c_in_a_kernel():
    call = accel.compile(heavy)
    call(np.ones(4))
    big = np.random.default_rng(0).random(40_000_000)
    # Where the tests run in the background the shell has the signal ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    begin, raised = time.perf_counter(), False
    try:
        call(big)
    except KeyboardInterrupt:
        raised = True
    finally:
        signal.signal(signal.SIGINT, before)
    seconds = time.perf_counter() - begin
    assert raised and seconds < 5, f"{raised}, {seconds} s, {accel.stats(call)}, {signal.getsignal(signal.SIGINT)}"
    assert np.array_equal(call(big[:100]), heavy(big[:100]))


def test_other_threads_run_during_a_kernel():
    call = accel.compile(heavy)
    call(np.ones(4))
    beats, stop = [], threading.Event()

    def beat():
        while not stop.wait(0.005):
            beats.append(1)

    thread = threading.Thread(target=beat)
    thread.start()
    call(np.ones(3_000_000))
    stop.set()
    thread.join()
    assert len(beats) > 5


def test_threads():
    call = accel.compile(lambda x, y: np.sqrt(x * x + y))
    rng = np.random.default_rng(0)
    x, y = rng.random(1000), rng.random(1000)
    wrong = []

    def work(seed):
        for k in range(200):
            a, b = x[: (k * seed) % 50], y[: (k * seed) % 50]
            if k % 3 == 0:
                a, b = a.astype("f4"), b.astype("f4")
            if k % 50 == 49 and seed == 1:
                accel.reset(call)
            if not np.array_equal(call(a, b), call.__wrapped__(a, b)):
                wrong.append((seed, k))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(1, 7)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_fork():
    call = accel.compile(heavy)
    big = np.random.default_rng(0).random(300_000)
    expected = call(big)
    child = os.fork()
    if child == 0:
        fresh = accel.compile(lambda x: x * 2 + np.exp(x))
        right = np.array_equal(call(big), expected) and np.array_equal(fresh(X), X * 2 + np.exp(X))
        os._exit(0 if right and accel.stats(fresh)["compiled"] == 1 else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert np.array_equal(call(big), expected)


TRACED = """
import sys
import numpy as np
import accel

@accel.compile
def f(x):
    y = x + 1
    return y * 2

x = np.arange(3.0)
f(x)
lines = []

def tracer(frame, event, argument):
    if frame.f_code is f.__code__ and event == "line":
        lines.append(frame.f_lineno - f.__code__.co_firstlineno)
    return tracer

sys.settrace(tracer)
f(x)
sys.settrace(None)
assert lines == [2, 3], lines
f(x), f(x)
print(accel.stats(f)["compiled"] >= 2)
"""


def test_traced_code_runs_in_the_interpreter():
    done = subprocess.run([sys.executable, "-c", TRACED], capture_output=True, text=True, check=False)
    assert done.stdout == "True\n", done.stderr


FREED = """
import sys
import numpy as np
import accel

tool, events = 3, sys.monitoring.events
sys.monitoring.use_tool_id(tool, "tool")
sys.monitoring.register_callback(tool, events.LINE, lambda *given: None)
sys.monitoring.set_events(tool, events.LINE)

@accel.compile
def before(x):
    y = x + 1
    return y * 2

x = np.arange(3.0)
before(x)
assert accel.stats(before)["compiled"] == 0
sys.monitoring.register_callback(tool, events.LINE, None)
sys.monitoring.free_tool_id(tool)

@accel.compile
def behind(x):
    return x * 2 + 1

for _ in range(3):
    before(x), behind(x)
print(accel.stats(before)["compiled"] >= 2, accel.stats(behind)["compiled"])
"""


@pytest.mark.skipif(sys.version_info < (3, 12), reason="sys.monitoring")
def test_tools_that_do_not_listen_any_more():
    """On 3.12 a tool that is freed leaves its events behind."""
    done = subprocess.run([sys.executable, "-c", FREED], capture_output=True, text=True, check=False)
    assert done.stdout == "True 3\n", done.stdout + done.stderr


def test_recursion():
    def fall(x, depth):
        return call(x, depth - 1) if depth else x + 1

    call = accel.compile(fall)
    for depth in range(4):
        assert np.array_equal(call(X, depth), X + 1)
    with pytest.raises(RecursionError):
        call(X, 10**6)


def test_memory_is_given_back():
    def f(x, log):
        y = x + 1
        log.append(len(log))
        return y * 2, x[1:], (y, [y, x.shape])

    calls = [accel.compile(f), accel.compile(quotient), accel.compile(lambda x: (x, x.T, x * 2, {"a": x + 1}))]
    arguments = [(X, []), (X, X + 1), (X,)]

    def run(times):
        for _ in range(times):
            for call, given in zip(calls, arguments, strict=True):
                call(*given)
                if isinstance(given[-1], list):
                    given[-1].clear()

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run(50)
        gc.collect()
        before, references = sys.getallocatedblocks(), sys.getrefcount(X)
        run(500)
        gc.collect()
    assert sys.getallocatedblocks() - before < 50
    assert sys.getrefcount(X) == references


def test_results_share_what_numpys_share():
    def f(x):
        y = x + 1
        return y, y, y[1:], x[::2], x

    call = accel.compile(f)
    y, same, part, strided, x = call(X)
    assert y is same and part.base is y and x is X and strided.base is X
    assert y.flags.owndata and y.base is None and y.flags.writeable
    part[0] = 100
    assert y[1] == 100
    assert_all_compiled(call)


def test_large_results_own_their_memory():
    call = accel.compile(lambda x: x + 1)
    for _ in range(3):
        y = call(np.zeros(500_000))
        assert y.flags.owndata and y.base is None and y.sum() == 500_000
        y.resize(600_000, refcheck=False)
        assert y.sum() == 500_000
