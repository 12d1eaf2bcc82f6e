"""Functions on the device against NumPy: arguments of NumPy's, and arguments that are on the device."""

import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from support.device_arrays import ran_on_device

import accel

rng = np.random.default_rng(7)


def black_scholes(spot, strike, years, rate, volatility):
    root = volatility * np.sqrt(years)
    upper = (np.log(spot / strike) + (rate + 0.5 * volatility * volatility) * years) / root
    lower = upper - root
    return spot * np.tanh(upper) - strike * np.exp(-rate * years) * np.tanh(lower)


def nearest(points, centres):
    return np.linalg.norm(points[:, None, :] - centres, axis=-1).argmin(axis=1)


def softmax(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def normalised(x):
    return (x - x.mean(axis=0)) / x.std(axis=0)


def whole_softmax(x):
    e = np.exp(x - x.max())
    return e / e.sum()


def in_place(x, y):
    x += 2 * y
    x[1:-1] *= y[:-2]
    return x


def shifted(x):
    x[1:] = x[:-1]
    return x


def reversed_in_place(x):
    x[:] = x[::-1].copy()
    return x


def masked(x):
    return np.where(x > 0, np.sqrt(np.abs(x)), -x)


def joined(x, y):
    return np.concatenate([x, y, x[::2]])


def views(x):
    return x[::2, 1:].T, x[0], x, (x + 1)[1:, ::2]


def scalars(x):
    return x.sum(), x.min(), int(x.argmax()), float(x.mean()), bool((x > 0).any())


def outer(x, y):
    return x[:, None] * y[None, :] + x[0]


def histogram_free(x):
    return (x % 7).astype(np.int32), x // 3, x << 2, ~x


def complex_parts(z):
    return z.real * 2, np.abs(z), z * z.conj(), np.exp(z)


def half(x):
    return x * x + x, x.sum(axis=0), x.astype(np.float32)


def variances(x):
    return x.var(axis=1), x.var(axis=0), x.std()


def whole_variance(x):
    return np.var(x), x.std(ddof=1)


def kept_dims(x):
    e = np.exp(x - x.max(axis=None, keepdims=True))
    return e / e.sum(axis=None, keepdims=True)


def extremes(x):
    return x.argmin(axis=0), x.argmax(axis=1), np.ptp(x, axis=1), x.argmax()


def booleans(x):
    return (x > 0).sum(axis=1), (x > 1).any(axis=0), (x > -9).all(), np.count_nonzero(x > 0)


def diagonal(x):
    return np.trace(x), x.diagonal() * 2


def three_axes(x):
    return x.sum(axis=1), x.max(axis=(0, 2)), x.mean(axis=0), x.sum(axis=2), x.sum()


def array(*shape, dtype=np.float64):
    kind = np.dtype(dtype).kind
    if kind == "i":
        return rng.integers(-100, 100, shape).astype(dtype)
    if kind == "c":
        return (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(dtype)
    return rng.standard_normal(shape).astype(dtype)


CASES = [
    (black_scholes, lambda: [np.abs(array(1000)) + 1, np.abs(array(1000)) + 1, np.abs(array(1000)) + 0.1, 0.05, 0.3]),
    (nearest, lambda: [array(500, 2), array(3, 2)]),
    (nearest, lambda: [array(300, 40), array(50, 40)]),
    (softmax, lambda: [array(20, 30)]),
    (softmax, lambda: [array(7, 2000)]),
    (softmax, lambda: [array(3, 20000, dtype=np.float32)]),
    (softmax, lambda: [array(700, 5)]),
    (normalised, lambda: [array(300, 40)]),
    (normalised, lambda: [array(5000, 3)]),
    (whole_softmax, lambda: [array(50000)]),
    (whole_softmax, lambda: [array(30, 5)]),
    (in_place, lambda: [array(100), array(100)]),
    (shifted, lambda: [array(1000)]),
    (shifted, lambda: [array(30, 40)]),
    (reversed_in_place, lambda: [array(1001)]),
    (masked, lambda: [array(40, 50)]),
    (masked, lambda: [array(40, 50)[::2, ::-3]]),
    (joined, lambda: [array(100), array(7)]),
    (views, lambda: [array(8, 9)]),
    (scalars, lambda: [array(10000)]),
    (scalars, lambda: [array(100, 37)]),
    (outer, lambda: [array(100), array(30)]),
    (histogram_free, lambda: [array(1000, dtype=np.int64)]),
    (complex_parts, lambda: [array(1000, dtype=np.complex128)]),
    (complex_parts, lambda: [array(1000, dtype=np.complex64)]),
    (half, lambda: [array(60, 50, dtype=np.float16)]),
    (variances, lambda: [array(60, 500)]),
    (variances, lambda: [array(60, 500).T]),
    (extremes, lambda: [array(60, 500)]),
    (extremes, lambda: [array(3, 9000, dtype=np.int32)]),
    (booleans, lambda: [array(60, 500)]),
    (variances, lambda: [array(2, 3)]),
    (whole_variance, lambda: [array(300)]),
    (whole_variance, lambda: [array(3000)]),
    (whole_variance, lambda: [array(30000)]),
    (kept_dims, lambda: [array(300)]),
    (kept_dims, lambda: [array(100, 300)]),
    (diagonal, lambda: [array(50, 50)]),
    (three_axes, lambda: [array(20, 30, 40)]),
    (three_axes, lambda: [array(2, 3, 4)]),
]
IDS = [f"{function.__name__}-{number}" for number, (function, _) in enumerate(CASES)]


def compare(got, wanted):
    if isinstance(wanted, tuple):
        assert type(got) is tuple and len(got) == len(wanted)
        for one, other in zip(got, wanted, strict=True):
            compare(one, other)
        return
    if isinstance(wanted, np.ndarray):
        assert type(got) in (np.ndarray, accel.DeviceArray)
        assert got.shape == wanted.shape and got.dtype == wanted.dtype
        assert got.strides == wanted.strides or got.size < 2
    else:
        assert type(got) is type(wanted)
    got = got.numpy() if isinstance(got, accel.DeviceArray) else got
    kind = np.asarray(wanted).dtype
    if kind.kind in "fc":
        tolerance = {2: 2e-3, 4: 2e-6, 8: 1e-14}[np.empty(0, kind).real.itemsize]
        np.testing.assert_allclose(got, wanted, rtol=tolerance, atol=tolerance)
    else:
        np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize(("function", "make"), CASES, ids=IDS)
def test_arguments_of_numpy(function, make):
    arguments = make()
    expected = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
    wanted = function(*expected)
    compiled = accel.compile(function)
    with accel.device("cuda"):
        got = ran_on_device(compiled, *arguments)
    compare(got, wanted)
    for one, other in zip(arguments, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-14)


@pytest.mark.parametrize(("function", "make"), CASES, ids=IDS)
def test_arguments_on_the_device(function, make):
    arguments = make()
    wanted = function(*[a.copy() if isinstance(a, np.ndarray) else a for a in arguments])
    resident = [accel.to_device(a) if isinstance(a, np.ndarray) else a for a in arguments]
    got = ran_on_device(accel.compile(function), *resident)
    values = [v for v in (got if isinstance(got, tuple) else (got,)) if isinstance(v, np.ndarray)]
    assert not values, "arrays stay on the device"
    compare(got, wanted)


def partitions(x):
    return np.partition(x, 9)


def shows(x):
    print(x.shape)
    return x + 1


def test_texts_of_explain():
    x = np.arange(5000.0)
    compiled = accel.compile(outer)
    with accel.device("cuda"):
        text = str(accel.explain(compiled)(x[:1000], x[:2]))
    assert ", on cuda:0: 1 launch, 0 waits, 8 kB up, 16 kB down" in text, text
    left = accel.compile(partitions)
    with accel.device("cuda"):
        text = str(accel.explain(left)(x))
    assert "compiled as a whole" in text and "cuda:0" not in text
    assert (
        "  not on the device: a call that the interpreter makes" in text and text.count("call that the interpreter makes") == 1
    )
    resident = accel.to_device(x)
    why = accel.explain(left)(resident)
    assert ", on cpu: 40 kB up, 40 kB down" in str(why) and "compiled as a whole" in str(why)
    assert "launch" not in str(why) and str(why).count("call that the interpreter makes") == 1
    assert isinstance(why.result, accel.DeviceArray)
    why = accel.explain(accel.compile(shows))(resident)
    assert why.answered == "interpreted" and why.exit.reason == "not_on_device" and why.exit.lineno > 0
    assert str(why).count(
        "a call of unknown code by a function of DeviceArrays"
    ) == 1 and "way out: nothing to do: the CPU runs" in str(why)
    assert isinstance(why.result, accel.DeviceArray)
    text = str(accel.explain(compiled)(resident[:0], resident[:2]))
    assert "on cuda:0" in text, text


LENGTHS = [1, 7, 8, 9, 100, 127, 128, 129, 136, 257, 1000, 1025, 4097, 9999, 40001, 300_001]


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16"])
@pytest.mark.parametrize("length", LENGTHS)
def test_sums_of_runs_have_bits_of_numpy(length, dtype):
    x = array(length, dtype=dtype)
    total = accel.compile(lambda x: x.sum())
    with accel.device("cuda"):
        assert ran_on_device(total, x).tobytes() == x.sum().tobytes()


@pytest.mark.parametrize("shape", [(5, 40), (300, 1000), (40, 5000), (3, 70_001), (5000, 20)])
def test_sums_of_rows_have_bits_of_numpy(shape):
    x = array(*shape)
    totals = accel.compile(lambda x: x.sum(axis=1))
    with accel.device("cuda"):
        assert ran_on_device(totals, x).tobytes() == x.sum(axis=1).tobytes()


def test_sums_of_many_columns_have_bits_of_numpy():
    x = array(300, 8200)
    totals = accel.compile(lambda x: (x.sum(axis=0), x.max(axis=0), x.argmin(axis=0)))
    with accel.device("cuda"):
        got = ran_on_device(totals, x)
    for one, other in zip(got, (x.sum(axis=0), x.max(axis=0), x.argmin(axis=0)), strict=True):
        assert one.tobytes() == other.tobytes()


def test_sums_are_the_same_in_each_run():
    x = accel.to_device(array(4000, 7))
    totals = accel.compile(lambda x: x.sum(axis=0))
    assert len({ran_on_device(totals, x).numpy().tobytes() for _ in range(5)}) == 1


# --- kernels that a call compiles ------------------------------------------------------------------------------------
# Those of products and solvers are compiled in the call that first needs them, while the process or another one may compile
# the same: calls wait, other threads run meanwhile, and an interrupt ends the wait.

# Compiles `call` for `array`. hold_locks() holds the locks of the disk cache, as a process does that compiles.
LATE = """
import faulthandler, fcntl, os, signal, threading, time
import numpy as np
import accel

faulthandler.dump_traceback_later(90, exit=True)
signal.signal(signal.SIGINT, signal.default_int_handler)  # a process in the background may ignore it
folder = os.environ["ACCEL_CACHE_DIR"]

def power(a, n):
    for _ in range(n):
        a = a @ a
    return a

def factors(a, n):
    for _ in range(n):
        a = np.linalg.cholesky(a)
    return a

def hold_locks(seconds):
    paths = [f"{folder}/lock-{k:02x}" for k in range(256)]
    held = [os.open(path, os.O_RDWR | os.O_CREAT, 0o600) for path in paths]
    for lock in held:
        fcntl.flock(lock, fcntl.LOCK_EX)
    release = lambda: [os.close(lock) for lock in held]
    threading.Timer(seconds, release).start()

array = accel.to_device(np.eye(3))
call = accel.compile(FUNCTION)
call(array, 0), call(array, 0)
assert accel.stats(call)["compiled"] == 2
"""

CALL_AGAIN = """
assert np.array_equal(call(array, 2).numpy(), np.eye(3))
assert accel.stats(call)["recompiles"] == 0
"""


@pytest.fixture(params=["power", "factors"])
def check_late(request, tmp_path):
    def check(program):
        code = LATE.replace("FUNCTION", request.param) + textwrap.dedent(program) + CALL_AGAIN
        environment = {**os.environ, "ACCEL_CACHE_DIR": str(tmp_path / "cache")}
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr

    return check


def test_while_another_process_compiles_the_same(check_late):
    check_late("hold_locks(0.5)")


def test_in_several_threads_at_once(check_late):
    check_late("""
        results = []
        hold_locks(0.5)
        threads = [threading.Thread(target=lambda: results.append(call(array, 1).numpy())) for _ in range(3)]
        [thread.start() for thread in threads]
        results.append(call(array, 1).numpy())
        [thread.join() for thread in threads]
        assert len(results) == 4 and all(np.array_equal(found, np.eye(3)) for found in results)
    """)


def test_other_threads_run_meanwhile(check_late):
    check_late("""
        rounds = []
        threading.Thread(target=lambda: [rounds.append(time.sleep(0.01)) for _ in range(20)], daemon=True).start()
        hold_locks(1)
        call(array, 1)
        assert len(rounds) == 20
    """)


@pytest.mark.parametrize("first", ["", "threading.Thread(target=call, args=(array, 1)).start(); time.sleep(0.3)"])
def test_interrupts(check_late, first):
    """KeyboardInterrupt in the call that waits for another process or for another thread; the next call is made as ever."""
    check_late(f"""
        hold_locks(2)
        {first}
        threading.Timer(0.5, signal.pthread_kill, (threading.main_thread().ident, signal.SIGINT)).start()
        try:
            call(array, 1)
        except KeyboardInterrupt:
            interrupted = True
        assert interrupted
    """)


def test_a_signal_handler_that_compiles(check_late):
    """The handler runs compiled code and the doctor, which waits for a compiler."""
    check_late("""
        seen = []
        def handler(*_):
            seen.append(accel.compile(lambda x: x + 1)(np.ones(3)))
            seen.append(accel._accel.examine())
        signal.signal(signal.SIGUSR1, handler)
        hold_locks(1)
        threading.Timer(0.3, signal.pthread_kill, (threading.main_thread().ident, signal.SIGUSR1)).start()
        call(array, 1)
        assert len(seen) == 2 and np.array_equal(seen[0], np.full(3, 2.0))
    """)
