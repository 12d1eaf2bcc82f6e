"""The plugin that runs a test suite compiled: what it compiles, what it compares, what it counts."""

import json
import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from accel._describe import describe
from accel.testing._observations import Observation, differences

SUITE = """
import numpy as np
import pytest
from numpy.testing import assert_equal, assert_raises

import accel
from accel._accel import CompiledFunction

SEEN = []
RUNS = {"differing": 0}


def helper(x):
    return x * 2 + 1


def is_compiled(function):
    return isinstance(function, CompiledFunction)


@pytest.mark.parametrize("n", [3, 5])
def test_values(n):
    x = np.arange(n) * 1.0
    assert_equal(helper(x), x + x + 1)


class TestMethods:
    def setup_method(self):
        self.x = np.ones(3)

    @property
    def total(self):
        return self.x.sum()

    def test_method(self):
        assert_equal(self.total, 3.0)
        self.x += 1

    def test_raises(self):
        with assert_raises(ValueError):
            np.ones(3) + np.ones(4)


@np.errstate(all="ignore")
def test_decorated():
    assert np.isnan(np.log(-np.ones(3))).all()


def test_fills_a_global():
    SEEN.append(len(SEEN))


def test_after_it():
    assert helper(1) == 3


def test_fails_anyway():
    assert helper(np.ones(3)).sum() == 4


def test_skipped():
    pytest.skip("not today")


def test_outcome_differs():
    assert not is_compiled(helper)


def test_assertion_differs():
    assert_equal(int(is_compiled(helper)) * 0 + 1, 1)
    assert_equal(is_compiled(helper), is_compiled(helper))


def test_state_differs():
    RUNS["differing"] = int(is_compiled(helper))


def test_output_differs():
    print("compiled" if is_compiled(helper) else "plain")


def test_listed():
    assert not is_compiled(helper)


class TestFixtureOfTheClass:
    @pytest.fixture(autouse=True, scope="class")
    def ignored(self):
        before = np.seterr(all="ignore")
        yield
        np.seterr(**before)

    @pytest.fixture(autouse=True)
    def numbers(self):
        self.numbers = -np.ones(3)

    def test_first(self):
        assert_equal(np.geterr()["invalid"], "ignore")

    def test_last(self):
        assert_equal(np.geterr()["invalid"], "ignore")
        assert_equal(self.numbers.sum(), -3.0)
        self.numbers += np.log(self.numbers)
"""

LIST = """
[[cannot_hold]]
test = "*::test_listed"
reason = "it looks at the code itself"
"""


def run(folder, *options):
    """Output and outcomes by test of a run of SUITE."""
    (folder / "test_suite.py").write_text(textwrap.dedent(SUITE))
    (folder / "list.toml").write_text(LIST)
    (folder / "pytest.ini").write_text("[pytest]\n")
    command = [sys.executable, "-m", "pytest", "-p", "accel.testing.numpy_suite", "-p", "no:cacheprovider", "-rA", "--color=no"]
    environment = os.environ | {"PYTHONPATH": os.environ.get("PYTHONPATH", "")}
    done = subprocess.run(
        [*command, "--accel-cannot-hold", "list.toml", "--accel-backend", "numpy", *options, "test_suite.py"],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    lines = [line.split() for line in done.stdout.splitlines()]
    names = {"PASSED", "FAILED", "SKIPPED"}
    outcomes = {line[1].partition("::")[2]: line[0] for line in lines if len(line) > 1 and line[0] in names}
    return done.stdout + done.stderr, outcomes


@pytest.fixture(scope="module")
def suite(tmp_path_factory):
    return run(tmp_path_factory.mktemp("suite"))


def test_what_is_the_same_passes(suite):
    text, outcomes = suite
    same = ["test_values[3]", "test_values[5]", "TestMethods::test_method", "TestMethods::test_raises", "test_decorated"]
    same += ["test_fills_a_global", "test_after_it", "test_listed"]
    assert {name: outcomes.get(name) for name in same} == dict.fromkeys(same, "PASSED"), text


def test_what_differs_fails(suite):
    text, outcomes = suite
    different = {name for name, outcome in outcomes.items() if outcome == "FAILED"}
    expected = {"test_outcome_differs", "test_assertion_differs", "test_state_differs", "test_output_differs"}
    assert different == {*expected, "test_fails_anyway"}, text
    assert "4 differ, 1 more are listed as unable to hold" in text
    assert "outcomes call: plain passed, compiled failed" in text
    assert "asserted 1: plain ('assert_equal', ('builtins.bool', 'False')" in text
    assert "state global RUNS" in text
    assert "printed 0" in text


def test_calls_are_counted(suite):
    text, _ = suite
    counts = dict(part.split() for part in line_after(text, "calls:").split(", "))
    assert int(counts["whole"]) + int(counts["boxed"]) > 10, text
    assert set(counts) == {"whole", "boxed", "partly", "interpreted"}
    assert "reasons:" in text and "boxed_call" in text


def line_after(text, start):
    return next(line.removeprefix(start).strip() for line in text.splitlines() if line.startswith(start))


def test_fixtures_of_a_class_last_for_all_runs(tmp_path):
    text, outcomes = run(tmp_path, "-k", "TestFixtureOfTheClass")
    assert outcomes == dict.fromkeys(("TestFixtureOfTheClass::test_first", "TestFixtureOfTheClass::test_last"), "PASSED"), text


def test_processes_add_up(tmp_path):
    pytest.importorskip("xdist")
    text, outcomes = run(tmp_path, "-n", "2", "-k", "values or method or listed")
    assert "tests:     5, each run 2 times plain and 3 times compiled; 0 differ, 1 more" in text, text


def test_what_differs_in_plain_runs_is_not_compared():
    def made(*asserted):
        return Observation(outcomes={"call": "passed"}, asserted=list(asserted))

    assert differences(made(1, 2), made(1, 3), made(1, 4)) == []
    assert differences(made(1, 2), made(1, 3), made(2, 2)) == ["asserted 0: plain 1, compiled 2"]
    assert differences(made(1), made(1), made(1, 2)) == ["asserted 1: plain nothing, compiled 2"]
    assert differences(made(1), made(1, 2), made(4)) == []


class Point:
    __slots__ = ("__dict__", "x")

    def __init__(self, x, y):
        self.x, self.y = x, y


NAN, NEGATIVE_NAN = np.array([1.0, np.nan]), np.array([1.0, -np.nan])
ALIKE = [
    (np.arange(3), np.arange(3)),
    (NAN, NEGATIVE_NAN),
    (NAN * 1j, NEGATIVE_NAN * 1j),
    (Point(1, [2]), Point(1, [2])),
    (np.array([1, "a"], object), np.array([1, "a"], object)),
    (np.longdouble(1) / 3, np.longdouble(1) / 3),
    ({"a": {1, 2}}, {"a": {2, 1}}),
]
DIFFERENT = [
    (np.arange(3), np.arange(3, dtype=np.int32)),
    (np.arange(3), np.arange(3)[None]),
    (np.arange(100), np.arange(100) // 2),
    (np.zeros(2), -np.zeros(2)),
    (0.0, -0.0),
    (1, True),
    (1, np.int64(1)),
    (np.float64(1), 1.0),
    ([1], (1,)),
    (np.ones((2, 3)), np.ones((3, 2)).T),
    (Point(1, 2), Point(1, 3)),
    (Point(1, 2), Point(3, 2)),
    (np.ma.array([1, 2], mask=[0, 1]), np.ma.array([1, 2], mask=[1, 0])),
    ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
]


@pytest.mark.parametrize("one, other", ALIKE)
def test_alike(one, other):
    assert describe(one) == describe(other)


@pytest.mark.parametrize("one, other", DIFFERENT)
def test_different(one, other):
    assert describe(one) != describe(other)


def test_descriptions_end():
    cycle = []
    cycle.append(cycle)
    deep = []
    for _ in range(100):
        deep = [deep]
    assert describe(cycle) == describe(cycle)
    json.dumps(describe(deep))
