"""Random loops over lists that grow and shrink, of numbers and of tuples, against Python.

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
NUMBERS = {"p": ["i", "len(p)", "t", "c", "i * c", "int(x[i % len(x)])"], "f": ["0.5", "i * 0.5", "s", "float(x[i % len(x)])"]}
PAIRS = ["(i, s)", "(t, 0.5)", "(len(q), float(x[i % len(x)]))", "(c, s * 0.5)"]


def indented(lines):
    return ["    " + line for line in lines]


@st.composite
def changes(draw):
    """Something done with one of the lists: p and f of numbers, q of pairs."""
    name = draw(st.sampled_from(["p", "f", "q", "q"]))
    item = draw(st.sampled_from(PAIRS if name == "q" else NUMBERS[name]))
    index = draw(st.sampled_from(["0", "-1", "-2", "i", "-i", "len({}) // 2", "t"])).format(name)
    uses = {"p": "t = {} % 7", "f": "s = {} % 3.0", "q": "t, s = {}"}
    read = uses[name]
    return draw(
        st.sampled_from(
            [
                [f"{name}.append({item})"],
                [f"{name}.append({item})", f"{name}.append({item})"],
                [f"{name} += [{item}]"],
                [f"if {name}:", "    " + read.format(f"{name}.pop()")],
                [f"if len({name}) > 1:", "    " + read.format(f"{name}.pop(0)")],
                [f"if -len({name}) <= {index} < len({name}):", "    " + read.format(f"{name}[{index}]")],
                [f"if -len({name}) <= {index} < len({name}):", f"    {name}[{index}] = {item}"],
                [read.format(f"{name}[{index}]")],
                [f"c += len({name})"],
                [f"{name}.reverse()"],
                [f"{name}.insert({index}, {item})"],
                [f"if len({name}) > 5:", f"    {name}.clear()"],
                [f"r = {name}[{draw(st.sampled_from(['1:', ':-1', '::-1', 'i:', ':i', '-2:']))}]", "c += len(r)"],
            ]
        )
    )


@st.composite
def bodies(draw):
    lines = []
    for _ in range(draw(st.integers(1, 4))):
        change = draw(changes())
        if draw(st.integers(0, 3)) == 0:
            condition = draw(st.sampled_from(["i % 3 == 1", "t > 2", "x[i % len(x)] > 0", "c % 2 == 0"]))
            change = [f"if {condition}:", *indented(change)]
        lines += change
    return lines


@st.composite
def programs(draw):
    lines = ["for i in range(n):", *indented(draw(bodies()))]
    if draw(st.booleans()):
        name = draw(st.sampled_from(["p", "q"]))
        ends = [
            "k = 0",
            f"while {name} and k < m:",
            "    k += 1",
            f"    t = {name}.pop()" + ("[0] % 5" if name == "q" else " % 5"),
        ]
        lines += ends + ["    i = k", *indented(draw(bodies()))]
    loop = draw(st.sampled_from(["for a, b in q:\n        c += a", "for a in f:\n        s += a", "c += len(p)"]))
    start = "i = 0\nt, s, c = 0, 0.0, 1\np, f, q = [0], [], [(0, 0.5)]\n"
    body = start + "\n".join(lines) + f"\n{loop.replace(chr(10) + '    ', chr(10))}\nreturn t, s, c, p, f, q"
    return "def program(x, n, m):\n" + "\n".join(indented(body.split("\n")))


def compare(source, exits):
    """Whether the program's calls ran compiled to their ends."""
    function = define(source)
    call = accel.compile(function)
    x = np.array([1.0, -2.0, 3.0, 0.25, -5.0])
    for n, m in ((6, 3), (0, 2), (11, 20), (3, 0)):
        assert_same(function, call, x, n, m, times=1)
    with accel.config(stress_exits=exits):
        assert_same(function, accel.compile(function), x, 6, 3, times=1)
    return facts(call)["interpreted"] == 0


def test_random_lists():
    whole = []

    @settings(
        deadline=None,
        database=None,
        max_examples=EXAMPLES or 22,
        derandomize=not EXAMPLES,
        suppress_health_check=list(HealthCheck),
    )
    @given(programs(), st.sampled_from([1, 2, 5, 9]))
    def draw(source, exits):
        note(source)
        whole.append(compare(source, exits))

    draw()
    assert sum(whole) > len(whole) // 3, f"{sum(whole)} of {len(whole)} are whole"
