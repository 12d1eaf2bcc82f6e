"""Numbers in globals, closures, dicts of globals, modules and classes: one that has changed once is an input like an
argument.
"""

import itertools
import types

import numpy as np
import pytest
from support.compiled import compile_count, facts
from support.outcome import assert_same

import accel

X = np.linspace(0.5, 3.0, 12)

# What the values are made of.
KINDS = {
    "int": lambda k: k + 2,
    "float": lambda k: k * 0.5 - 1.0,
    "complex": lambda k: complex(k, 1 - k),
    "bool": lambda k: k % 3 == 0,
    "float64": lambda k: np.float64(k * 0.25),
    "float32": lambda k: np.float32(k * 0.25),
    "int32": lambda k: np.int32(k + 1),
    "complex64": lambda k: np.complex64(k + 2j),
    "bool_": lambda k: np.bool_(k % 2 == 0),
}


PLACES = """
number = None
configuration = {}
rows = [[None]]
module = types.ModuleType("module")

def of_global(x):
    return x * number + number

def of_dict(x):
    return x * configuration["k"] + 1

def of_list(x):
    return x * rows[0][0]

def of_module(x):
    return x * module.k + 1

def of_class(x):
    return x * Settings.scale

def of_inner(x):
    return of_global(x) + configuration["k"]

def closure():
    k = None
    def change(value):
        nonlocal k
        k = value
    def of_closure(x):
        return x * k - k
    return of_closure, change
of_closure, change_closure = closure()

def set_all(value):
    global number
    number = value
    configuration["k"] = value
    rows[0][0] = value
    module.k = value
    Settings.scale = value
    change_closure(value)
"""


def places():
    namespace = {"types": types, "Settings": type("Settings", (), {"scale": 1.0})}
    exec(PLACES, namespace)
    return namespace


NAMES = [name for name in places() if name.startswith("of_")]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", ["float", "int"])
def test_thirty_values_are_two_compiles(name, kind):
    names = places()
    call = accel.compile(names[name])
    for k in range(30):
        names["set_all"](KINDS[kind](k))
        assert_same(names[name], call, X, times=1)
    assert compile_count(call) <= 2
    assert facts(call)["interpreted"] == 0


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("float", "int")])
def test_every_kind_of_number(kind):
    names = places()
    calls = [accel.compile(names[name]) for name in ("of_global", "of_closure", "of_dict")]
    for k in range(30):
        names["set_all"](KINDS[kind](k))
        for call in calls:
            assert_same(call.__wrapped__, call, X, times=1)
    assert [compile_count(call) <= 2 for call in calls] == [True] * 3
    assert all(facts(call)["interpreted"] == 0 for call in calls)


SIZE, AXIS, STEPS, WINDOW, RATE, FLAG = 3, 0, 2, (1, 4), 0.5, True


def sized(x):
    return np.zeros(SIZE) + x[:SIZE].sum()


def repeated(x):
    for _ in range(STEPS):
        x = x * 0.5 + STEPS
    return x


def windowed(x):
    low, high = WINDOW
    return x[low:high] * low


def several(x):
    y = x * RATE if FLAG else x + RATE
    return y + STEPS


@pytest.mark.parametrize(
    ("call", "values"),
    [
        (sized, {"SIZE": range(1, 12)}),
        (repeated, {"STEPS": range(12)}),
        (windowed, {"WINDOW": [(k, k + 3) for k in range(9)]}),
        (several, {"RATE": np.arange(12.0).tolist(), "STEPS": range(12), "FLAG": [True, False] * 6}),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_what_numbers_decide(monkeypatch, call, values):
    """Extents, numbers of rounds, tuples of numbers, several numbers that change together."""
    compiled = accel.compile(call)
    for row in zip(*values.values(), strict=True):
        for name, value in zip(values, row, strict=True):
            monkeypatch.setitem(globals(), name, value)
        assert_same(call, compiled, X, times=1)
    assert compile_count(compiled) <= (4 if "FLAG" in values else 3)
    assert facts(compiled)["interpreted"] <= (call is repeated)  # nothing is to be done in no round


def test_numbers_that_must_be_known_have_versions(monkeypatch):
    """An axis is a constant of each version, whatever has changed."""
    compiled = accel.compile(lambda x: np.ones((2, 3, 4)).sum(axis=AXIS) * x[0])
    for axis in [0, 1, 2, 1, 0, -1, 2]:
        monkeypatch.setitem(globals(), "AXIS", axis)
        assert_same(compiled.__wrapped__, compiled, X, times=1)
    assert compile_count(compiled) <= 5


def test_objects_that_are_replaced(monkeypatch):
    """An object of the caller's class in a global is data once another one was there."""

    class Parameters:
        def __init__(self, k):
            self.k = k

    names = {"parameters": None}
    exec("def scaled(x):\n    return x * parameters.k", names)
    compiled = accel.compile(names["scaled"])
    for k in range(20):
        names["parameters"] = Parameters(k * 0.5)
        assert_same(names["scaled"], compiled, X, times=1)
    assert compile_count(compiled) <= 2


def test_flags_are_inputs_when_there_are_many():
    """Truth values have a version each as long as versions are few; four of them do not need sixteen."""
    names = {"np": np}
    exec("def chosen(x):\n" + "".join(f"    if FLAG_{k}: x = x + {k}\n" for k in range(5)) + "    return x * 2", names)
    compiled = accel.compile(names["chosen"])
    for flags in itertools.product([True, False], repeat=5):
        names.update({f"FLAG_{k}": flag for k, flag in enumerate(flags)})
        assert_same(names["chosen"], compiled, X, times=1)
    assert facts(compiled)["interpreted"] == 0
    assert compile_count(compiled) <= 8


def test_closures_of_one_function_share_what_has_changed(tmp_path):
    """Functions that one function makes have the same code: the third one finds the second one's kernel."""

    def make(k):
        return accel.compile(lambda x: x * k + 17.25 * k)

    calls = [make(k * 0.75) for k in range(1, 12)]
    with accel.config(cache_dir=str(tmp_path)):
        for call in calls:
            assert_same(call.__wrapped__, call, X, times=1)
            assert compile_count(call) == 1
    assert [facts(call)["cache_hits"] for call in calls] == [0, 0] + [1] * 9


def test_a_call_that_changes_a_number():
    """Code that runs in between changes a number that is an input: the rest of the function reads the new one."""
    names = {"k": 1.0, "seen": []}
    exec(
        "def note(value):\n    global k\n    seen.append(value)\n    k = value\n"
        "def stepped(x, n):\n    y = x * k\n    note(n)\n    return y + k",
        names,
    )
    compiled = accel.compile(names["stepped"])
    for step in range(8):
        results = []
        for call in (names["stepped"], compiled):
            names["k"] = float(step)
            results.append(call(X, float(step + step % 2)))
        np.testing.assert_array_equal(*results)
    assert facts(compiled)["interpreted"] == 0


def test_reset_forgets_what_has_changed():
    names = {"k": 1.0}
    exec("def scaled(x):\n    return x * k", names)
    compiled = accel.compile(names["scaled"])
    for k in (1.0, 2.0, 3.0):
        names["k"] = k
        compiled(X)
    assert compile_count(compiled) == 2
    accel.reset(compiled)
    compiled(X)
    assert compile_count(compiled) == 1
