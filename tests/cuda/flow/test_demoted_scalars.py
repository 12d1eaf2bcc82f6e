"""Numbers that only kernels and exits use stay on a device, also where loops carry them; the host waits for the others."""

import numpy as np
import pytest
from support.device_arrays import on_host

import accel


def totals(x, bound, rounds):
    total = x[0]
    for k in range(rounds):
        total = total + x.sum()
        x = x * 0.5 + total
    return x, total, k


def lagging(x, bound, rounds):
    """The number of the round before decides, so that the host needs both."""
    before = now = x[0]
    for k in range(rounds):
        if before > bound:
            break
        before = now
        now = x.sum()
        x = x * 1.5
    return x, now, before, k


def delayed(x, bound, rounds):
    """The same without the decision."""
    before = now = x[0]
    for k in range(rounds):
        x = x * 0.5 + before
        before = now
        now = x.max()
    return x, now, before, k


def exchanged(x, bound, rounds):
    a, b = x.min(), x.max()
    for k in range(rounds):
        x = x * 0.5 + a
        a, b = b, a
    return x, a, b, k


def in_turn(x, bound, rounds):
    """A branch assigns the number on one of its paths."""
    greatest = x.max()
    for k in range(rounds):
        if k % 3 == 1:
            greatest = x.max()
        x = x / greatest + k
    return x, greatest, k


def until(x, bound, rounds):
    k, total = 0, x.sum()
    while total < bound and k < rounds:
        greatest = x.max()
        x = x + greatest
        total = x.sum()
        k += 1
    return x, total, k


def indexed(x, bound, rounds):
    """A check of indices may end each round: its exit hands the numbers over."""
    total = greatest = x[0]
    for k in range(rounds):
        i = (x > greatest * 0.5).astype(int) * int(bound)
        total = total + x[i].sum()
        greatest = x.max()
        x = x * 0.9 + total / 1000
    return x, total, greatest, k


def caught(x, bound, rounds):
    total = x.sum()
    try:
        for k in range(rounds):
            y = x[np.array([k * int(bound)])]
            total = total + y.sum()
            x = x * 0.5
    except IndexError:
        return x, total, -1
    return x, total, k


PROGRAMS = [totals, lagging, delayed, exchanged, in_turn, until, indexed, caught]


def called(call, arguments):
    try:
        return [np.asarray(on_host(part)) if hasattr(part, "shape") else part for part in call(*arguments)]
    except IndexError as error:
        return [type(error)]


def check_same(function, compiled, bound, rounds):
    x = np.linspace(1, 2, 30)
    wanted, found = called(function, (x, bound, rounds)), called(compiled, (accel.to_device(x), bound, rounds))
    assert [type(part) for part in found] == [type(part) for part in wanted]
    for got, want in zip(found, wanted, strict=True):
        if want is IndexError:
            assert got is IndexError
        else:
            np.testing.assert_allclose(got, want, rtol=1e-12)


@pytest.mark.parametrize("rounds", [1, 2, 3, 12])
@pytest.mark.parametrize("bound", [0.5, 1.0, 29.0, 60.0, 1e4])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_programs(program, bound, rounds):
    compiled = accel.compile(program)
    for _ in range(2):
        check_same(program, compiled, bound, rounds)
    assert accel.stats(compiled)["interpreted"] == 0
    why = accel.explain(compiled)(accel.to_device(np.linspace(1, 2, 30)), 0.5, rounds)
    assert why.device["name"] == "cuda:0", str(why)


@pytest.mark.parametrize("exits", range(1, 20, 2))
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_exits_that_are_forced(program, exits):
    for bound in (1.0, 60.0):
        with accel.config(stress_exits=exits):
            compiled = accel.compile(program)
            check_same(program, compiled, bound, 6)
        assert exits > 3 or accel.stats(compiled)["side_exits"] > 0


def test_waits():
    """Those that the numbers after the loop need, and no others."""
    x = accel.to_device(np.linspace(1, 2, 30))
    for program in (totals, indexed):
        why = accel.explain(accel.compile(program))(x, 1.0, 100)
        assert why.compiled and why.device["waits"] < 5, str(why)
    why = accel.explain(accel.compile(lagging))(x, 1e30, 100)
    assert why.compiled and why.device["waits"] > 50, str(why)
