"""Random arithmetic of the numbers of loops, as conditions and as indices, against NumPy: what is decided once for all
rounds has to hold in each, and an index that is out of bounds in one of them is NumPy's error.
ACCEL_EXAMPLES=5000 draws that many, other ones each time.
"""

import os

import numpy as np
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st
from support.compiled import facts
from support.outcome import assert_same
from support.programs import define

import accel

EXAMPLES = int(os.environ.get("ACCEL_EXAMPLES", "0"))
SMALL = st.integers(-3, 9).map(str)


def numbers(names):
    """Expressions over these names."""

    def larger(inner):
        return st.one_of(
            st.tuples(inner, st.sampled_from("+-"), inner).map("({0[0]} {0[1]} {0[2]})".format),
            st.tuples(st.integers(-3, 4), inner).map("({0[0]} * {0[1]})".format),
            st.tuples(inner, st.sampled_from(["%", "//", "%"]), st.sampled_from([2, 3, 5, 7, -2])).map(
                "({0[0]} {0[1]} {0[2]})".format
            ),
            st.tuples(st.sampled_from(["min", "max"]), inner, inner).map("{0[0]}({0[1]}, {0[2]})".format),
            inner.map("abs({})".format),
        )

    return st.recursive(st.one_of(st.sampled_from(names), st.sampled_from(names), SMALL), larger, max_leaves=4)


def conditions(names):
    compared = st.tuples(numbers(names), st.sampled_from(["<", "<=", "==", "!=", ">", ">="]), numbers(names))
    in_step = st.tuples(st.sampled_from(names), st.integers(-2, 3), st.integers(2, 12)).flatmap(
        lambda p: st.integers(0, p[2] - 1).map(lambda rest: f"({p[0]} + {p[1]}) % {p[2]} == {rest}")
    )
    in_parts = st.tuples(st.sampled_from(names), st.integers(2, 12), st.integers(0, 3)).map("{0[0]} // {0[1]} == {0[2]}".format)
    return st.one_of(compared.map(" ".join), numbers(names).map("0 <= {} < len(x)".format), in_step, in_step, in_parts)


@st.composite
def bodies(draw, names):
    lines = []
    for _ in range(draw(st.integers(2, 5))):
        form, number = draw(st.integers(0, 9)), draw(numbers(names))
        if form <= 2:
            lines += [f"if {draw(conditions(names))}:", f"    c += {draw(st.integers(1, 5))}"]
        elif form <= 5:
            lines += [f"k = {number}", "if 0 <= k < len(x):", f"    x[k] += {draw(SMALL)}"]
        elif form <= 7:
            lines += [f"if {draw(conditions(names))}:", f"    x[{number}] -= c"]
        elif form == 8:
            lines += [f"n = {number}" if "n" in names else f"c += {number}"]
        else:
            lines += [f"s += x[{number} : {draw(numbers(names))}].sum()"]
    return lines


@st.composite
def programs(draw):
    form = draw(st.integers(0, 3))
    if form == 0:
        lines = [f"for i in range({draw(SMALL)}, n):", *indented(draw(bodies(["i", "n"])))]
    elif form == 1:
        step = draw(st.sampled_from([2, 3, -1, -2]))
        ends = ("0", "n") if step > 0 else ("n", draw(SMALL))
        lines = [f"for i in range({ends[0]}, {ends[1]}, {step}):", *indented(draw(bodies(["i", "m"])))]
    elif form == 2:
        inner = [f"for j in range({draw(st.sampled_from(['i', 'm', '3', 'n - i']))}):", *indented(draw(bodies(["i", "j"])))]
        lines = ["for i in range(m):", *indented(inner)]
    else:
        steps = [f"i += {draw(st.integers(1, 3))}", *draw(bodies(["i", "m"]))]
        lines = ["i = 0", f"while i < {draw(st.sampled_from(['n', 'len(x)', 'n - m', '2 * m']))}:", *indented(steps)]
    lines = ["c = 0", "s = 0.0", *lines, "return c, s"]
    return "\n".join(["def program(x, n, m):", *indented(lines)])


def indented(lines):
    return [f"    {line}" for line in lines]


CASES = [(8, 9, 3), (8, 25, 2), (3, 40, 5), (1, 4, 1), (20, 13, 7), (5, 0, 0), (12, 61, 9)]


@settings(
    deadline=None,
    database=None,
    max_examples=EXAMPLES or 6,
    derandomize=not EXAMPLES,
    suppress_health_check=list(HealthCheck),
)
@given(programs())
def test_numbers_of_loops(source):
    note(source)
    program = define(source)
    call = accel.compile(program)
    ends = [assert_same(program, call, np.arange(1.0, length + 1), n, m, times=1) for length, n, m in CASES]
    assert facts(call)["compiled"] > 0 or any(end.error for end in ends), source
