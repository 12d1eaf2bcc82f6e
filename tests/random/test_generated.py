"""A few of the generated operations and programs; `python -m tests.generated` runs as many as one likes."""

import random

import numpy as np
import pytest
from support import generated
from support.on_device import generated as generated_on_device
from support.programs import define


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
    assert counts["exits"] > 5 and counts["calls with an exit partly"] > counts["exits"], counts


def test_noise_is_what_a_device_may_change():
    """Numbers that may have other last bits are changed by noise, others are not, and more than noise is a difference."""
    x = np.random.default_rng(0).normal(size=(4, 5))
    for body, is_noisy in (
        ("x * 3 + 1, x.sum(), x**2", False),
        ("np.sin(x), x.mean(), x @ x.T", True),
    ):
        source = f"def program(x):\n    return {body}\n"
        expected = generated_on_device.Expected(source, lambda: [x.copy()])
        assert expected.is_stable and expected.used == is_noisy, body
        for units, differs in ((0, False), (1, not is_noisy), (64, True)):
            found = generated_on_device.outcome(define(source), [x.copy()])
            found.values[0] = found.values[0] + units * np.spacing(np.abs(found.values[0]))
            assert (expected.difference(found) is not None) == differs, (body, units)
