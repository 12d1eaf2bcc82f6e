"""A few of the generated operations and programs; `python -m tests.generated` runs as many as one likes."""

import random

import pytest
from support import generated


@pytest.mark.parametrize(("backend", "groups"), [("native", range(2)), ("numpy", range(2, 16))])
def test_operations(backend, groups):
    counts = generated.Counter()
    for number in groups:
        found = generated.run_operations(random.Random(f"0 {number}"), backend)
        assert not found.different, found.different[0]
        counts += found.counts
    assert counts["calls whole"] + counts["calls boxed"] > counts["cases"] / 4, counts


def test_programs_left_at_each_exit():
    counts = generated.Counter()
    for number in range(2):
        found = generated.run_program(random.Random(f"0 {number}"), "numpy")
        assert not found.different, found.different[0]
        counts += found.counts
    assert counts["exits"] > 5 and counts["calls partly"] > counts["exits"], counts
