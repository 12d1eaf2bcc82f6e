"""Random programs over all dtypes, layouts and sizes: accel does what NumPy does.

Straight-line ones (tests/support/programs.py), and ones with loops, branches, element access, views, masks and mutation
(tests/support/flow_programs.py). One compiled function gets the call it was captured for, the same again, and calls with other
sizes, empty and large ones among them. Compared are bits, types, strides, flags, aliasing, warnings, exceptions, and what is in
the arguments afterwards.

ACCEL_EXAMPLES=5000 draws that many programs with control flow, other ones each time.
"""

import os

import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st
from support.compiled import facts
from support.flow_programs import write_flow_program
from support.programs import define, difference, write_program

import accel

once = settings(deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
EXAMPLES = int(os.environ.get("ACCEL_EXAMPLES", "0"))
flow_settings = settings(once, max_examples=EXAMPLES or 13, derandomize=not EXAMPLES, print_blob=True)


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
    assert compiled >= 0.65 * len(counts) and whole >= 0.3 * len(counts), f"{compiled}, {whole} of {len(counts)} programs"


def test_programs():
    counts = []

    @settings(once, max_examples=28)
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

    @settings(once, max_examples=17)
    @given(st.randoms(use_true_random=False))
    def same_as_numpy(random):
        run(random, counts)

    same_as_numpy()
    check_counts(counts)


# --- control flow -----------------------------------------------------------------------------------------------------

WHOLE = 0.0  # least part of the programs that is captured whole


def check_flow(random, **options):
    """Runs a program for all its sizes and again for the first; whether its first call was captured whole."""
    program = write_flow_program(random)
    note(program.source)
    note(repr(program.arguments))
    function = define(program.source)
    call = accel.compile(function, **options)
    whole = False
    first, second, third = program.sizes
    for sizes in (first, first, second, third, first):
        found = difference(program, call, function, sizes)
        assert found is None, found
        if sizes is first and not whole:
            whole = facts(call)["compiled"] > 0 and facts(call)["interpreted"] == facts(call)["side_exits"] == 0
    return whole


def test_control_flow(request):
    whole = []

    @flow_settings
    @given(st.randoms(use_true_random=False))
    def same_as_numpy(random):
        whole.append(check_flow(random))

    same_as_numpy()
    print(f"\n{sum(whole)} of {len(whole)} programs were captured whole")
    assert sum(whole) >= WHOLE * len(whole)


def test_control_flow_operation_by_operation():
    """The graph evaluated in NumPy: a difference here is a fault of capture, one above only is a fault of the kernel."""

    @flow_settings
    @given(st.randoms(use_true_random=False))
    def same_as_numpy(random):
        check_flow(random, backend="numpy")

    same_as_numpy()


def test_control_flow_left_at_an_exit():
    """The interpreter goes on from any exit as if it had run everything."""

    @settings(flow_settings, max_examples=EXAMPLES or 12)
    @given(st.randoms(use_true_random=False), st.integers(1, 60))
    def same_as_numpy(random, exit):
        with accel.config(stress_exits=exit):
            check_flow(random, backend="numpy")

    same_as_numpy()
