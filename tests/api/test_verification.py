"""The setting verify: calls are made twice, compiled on copies, and differences are reported with a file that reproduces
them.
"""

import dataclasses
import subprocess
import sys
import warnings

import numpy as np
import pytest
from support.compiled import facts
from support.differential import call_with, sample

import accel
from accel._verify import CannotCopy, copies
from accel.backends import evaluate


def wrong(graph, example):
    """A backend whose results are off by one, and that stores to its arguments as it should."""

    def run(*values):
        return [np.asarray(x) + 1 for x in evaluate(graph, values)]

    return run


def right(graph, example):
    return lambda *values: evaluate(graph, values)


@pytest.fixture(autouse=True)
def every_call(tmp_path):
    with accel.config(verify=1.0, dump_dir=str(tmp_path)):
        yield


def scaled(x, s):
    return x * s + 1.0


def fill(x, y):
    x[1:] = y[:-1] * 2.0
    return x


@dataclasses.dataclass
class State:
    x: np.ndarray
    total: float = 0.0
    other: object = None


def step(state, dt):
    state.x += dt * 2.0
    state.total = float(state.x.sum())


def draws(x):
    return x + np.random.normal(size=3)


def draws_of(rng, x):
    return x + rng.normal(size=3)


def parts(x, n):
    return x[:n], {"rest": [x[n:] * 1.0, n]}


def overlapping():
    x = sample((6,))
    return x, x[::-1]


CASES = [
    (scaled, lambda: (sample((6,)), 2.0)),
    (fill, lambda: (sample((6,)), sample((6,)) + 1)),
    (parts, lambda: (sample((6,)), 2)),
    (step, lambda: (State(sample((6,))), 0.5)),
]


@pytest.mark.parametrize("function, make", CASES)
def test_what_is_right_stays_so(function, make):
    call = accel.compile(function)
    with warnings.catch_warnings():
        warnings.simplefilter("error", accel.AccelWarning)
        for _ in range(3):
            assert call_with(call, make()) == call_with(function, make())
    assert facts(call)["interpreted"] == 3 and accel._accel.record(call)["versions"][0]["runs"] == 3


def test_overlapping_arguments_stay_so():
    call = accel.compile(fill)
    for _ in range(2):
        assert call_with(call, overlapping()) == call_with(fill, overlapping())


def test_random_numbers_are_drawn_once():
    for function, make in ((draws, lambda: (np.ones(3),)), (draws_of, lambda: (np.random.default_rng(1), np.ones(3)))):
        call = accel.compile(function)
        np.random.seed(1)
        expected = [function(*make()) for _ in range(3)]
        np.random.seed(1)
        found = [call(*make()) for _ in range(3)]
        assert np.array_equal(expected, found)
        assert accel._accel.record(call)["versions"][-1]["runs"] > 0


def test_a_difference_is_reported_once(tmp_path):
    call = accel.compile(scaled, backend=wrong)
    with pytest.warns(accel.AccelWarning, match="accel and NumPy differ in scaled") as caught:
        assert np.array_equal(call(np.ones(3), 2.0), [3, 3, 3])
    assert len(caught) == 1 and len(list(tmp_path.iterdir())) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.array_equal(call(np.ones(3), 2.0), [3, 3, 3])
    assert [event["reason"] for event in accel._accel.record(call)["events"]][-1] == "verification_failed"


def test_differences_are_of_every_kind():
    def described(make):
        call = accel.compile(fill, backend=make)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            x, y = np.arange(4.0), np.arange(4.0)
            assert call(x, y) is x and np.array_equal(x, [0, 0, 2, 4])
        return [str(warning.message) for warning in caught]

    def stores_nothing(graph, example):
        def run(*values):
            return evaluate(graph, [np.copy(x) if isinstance(x, np.ndarray) else x for x in values])

        return run

    assert described(right) == []
    assert "NumPy gave array([0., 0., 2., 4.])" in described(stores_nothing)[0]


def test_the_warning_may_be_an_exception():
    call = accel.compile(scaled, backend=wrong)
    with warnings.catch_warnings():
        warnings.simplefilter("error", accel.AccelWarning)
        with pytest.raises(accel.AccelWarning):
            call(np.ones(3), 2.0)


FACTOR = 3.0


def of_globals(x, state, more=1.0):
    def inner(a):
        return a * FACTOR

    state.x[0] = 7.0
    return np.add(inner(x), more), helper(x, state.other)


def helper(x, y):
    return x + y[0]


def test_the_file_reproduces_it(tmp_path):
    """In a new process, where compiled code is right: the function, its helpers and its arguments are what they were."""
    x = sample((4, 6))[::2, ::-1]
    call = accel.compile(of_globals, backend=wrong)
    with pytest.warns(accel.AccelWarning, match="reproduces it"):
        call(x, State(np.ones(3), other=(2.0,)), more=np.float32(2.0))
    (file,) = tmp_path.iterdir()
    text = file.read_text()
    assert "of_globals" in text and "compiled code" in text
    done = subprocess.run([sys.executable, file], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "no difference here\n"), done.stderr


def test_calls_of_unknown_code_are_not_made_twice():
    seen = []

    def shows(x):
        seen.append(len(seen))
        return x * 2.0

    class Unknown:
        def __init__(self):
            self.memory = memoryview(b"x")

    def ignores(x, other):
        return x * 2.0

    call = accel.compile(shows)
    for _ in range(3):
        call(np.ones(3))
    assert seen == [0, 1, 2]
    other = accel.compile(ignores)
    for _ in range(2):
        other(np.ones(3), Unknown())
    assert facts(other)["compiled"] == 2


TABLE = np.zeros(3)


def changes_a_global(x):
    TABLE[0] += 1.0
    return TABLE + x


def test_what_is_no_argument_is_changed_once():
    call = accel.compile(changes_a_global)
    for _ in range(3):
        call(np.ones(3))
    assert TABLE[0] == 3 and facts(call)["compiled"] == 3


def test_events_warn_once():
    call = accel.compile(lambda x, y: np.log(x) * y)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(3):
            call(np.zeros(3), np.ones(3))
    assert len(caught) == 3 and all("divide by zero" in str(w.message) for w in caught)


def test_integers_beyond_the_limit_of_decimal_texts():
    call = accel.compile(lambda x, n: (x + 1.0, n))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(3):
            assert call(np.ones(3), 10**5000)[1] == 10**5000
    assert accel._accel.record(call)["versions"][0]["runs"] == 3


def test_the_share_is_a_share():
    call = accel.compile(scaled)
    with accel.config(verify=0.0):
        call(np.ones(3), 2.0)
    with accel.config(verify=0.2):
        for _ in range(500):
            call(np.ones(3), 2.0)
    assert 50 < facts(call)["interpreted"] < 150
    with pytest.raises(accel.SettingError):
        accel.config.verify = 2.0


def test_copies_share_what_the_originals_share():
    base = np.arange(12.0).reshape(3, 4)
    state = State(base[1:], other=[base, base[:, ::2]])
    state.other.append(state)
    twin, one, number = copies((state, base, 3))
    assert twin is not state and twin.other[2] is twin and one is twin.other[0] and number == 3
    assert np.array_equal(twin.x, base[1:]) and twin.other[1].strides == base[:, ::2].strides
    twin.x[0, 0] = -1.0
    assert one[1, 0] == twin.other[1][1, 0] == -1.0 and base[1, 0] == 4.0
    for value in (memoryview(b"x"), np.array([None]), lambda: base, iter([])):
        with pytest.raises(CannotCopy):
            copies((value,))
