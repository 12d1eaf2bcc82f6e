"""Random straight-line programs over all dtypes, layouts and sizes (tests/support/programs.py): accel does what NumPy does.

One compiled function gets the call it was captured for, the same again, and calls with other sizes, empty and large ones among
them. Compared are bits, types, strides, flags, aliasing, warnings, exceptions, and that the arguments are as they were.
"""

import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st
from support.compiled import facts
from support.programs import define, difference, write_program

import accel

once = settings(deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))


def run(random, counts):
    program = write_program(random)
    note(program.source)
    note(repr(program.arguments))
    function = define(program.source)
    call = accel.compile(function)
    first, second, third = program.sizes
    for sizes in (first, first, second, third, second, first):
        found = difference(program, call, function, sizes)
        assert found is None, found
    found = facts(call)
    counts.append((found["compiled"] > 0, found["compiled"] > 0 and found["interpreted"] == found["side_exits"] == 0))


def check_counts(counts):
    """Most programs were compiled, many of them as a whole, or the comparison says nothing."""
    compiled, whole = (sum(column) for column in zip(*counts, strict=True))
    assert compiled >= 0.75 * len(counts) and whole >= 0.3 * len(counts), f"{compiled}, {whole} of {len(counts)} programs"


def test_programs():
    counts = []

    @settings(once, max_examples=60)
    @given(st.randoms(use_true_random=False))
    def same_as_numpy(random):
        run(random, counts)

    same_as_numpy()
    check_counts(counts)


@pytest.fixture
def two_threads():
    before = accel.config.threads, accel.config.parallel_threshold
    accel.config.threads, accel.config.parallel_threshold = 2, 0
    yield
    accel.config.threads, accel.config.parallel_threshold = before


def test_programs_on_two_threads(two_threads):
    counts = []

    @settings(once, max_examples=25)
    @given(st.randoms(use_true_random=False))
    def same_as_numpy(random):
        run(random, counts)

    same_as_numpy()
    check_counts(counts)
