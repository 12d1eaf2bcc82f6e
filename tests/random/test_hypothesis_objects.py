"""Random programs that set attributes of objects and items of dicts and lists, in loops and branches, beside calls that see
them.
ACCEL_EXAMPLES=500 draws that many programs, other ones each time.
"""

import copy
import os

import numpy as np
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st
from support.compiled import facts
from support.outcome import describe
from support.programs import define
from support.python_calls import Opaque

import accel

EXAMPLES = int(os.environ.get("ACCEL_EXAMPLES", "0"))
SEEN = []


class Thing:
    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        self.a, self.b = rng.random((3, 2)), rng.random((3, 2))
        self.t, self.n = float(rng.random()), seed

    def advance(self, dt):
        self.t += dt
        self.a = self.a + dt * self.b


class Watch:
    """A callee that capture cannot look into."""

    @Opaque
    def __call__(self, *objects):
        SEEN.append([describe(each) for each in objects])


watch = Watch()


class Writer:
    def __init__(self, random):
        self.random, self.lines = random, ["def program(s, r, d, l, x, n):"]

    def one_of(self, *choices):
        return self.random.choice(choices)

    def owner(self):
        return self.one_of("s", "s", "r", "d['s']", "l[0]")

    def array(self):
        o = self.owner()
        return self.one_of("x", f"{o}.a", f"{o}.b", "d['w']", "l[1]", f"({o}.a * 0.5 + x)", "(d['w'] - l[1])")

    def number(self):
        o = self.owner()
        return self.one_of(f"{o}.t", "d['k']", "l[2]", f"{self.array()}.sum()", "0.5", f"{o}.t * 0.5")

    def array_place(self):
        return self.one_of(f"{self.owner()}.a", f"{self.owner()}.b", "d['w']", "l[1]", f"{self.owner()}.new", "d['new']")

    def number_place(self):
        return self.one_of(f"{self.owner()}.t", "d['k']", "l[2]", f"{self.owner()}.v")

    def statement(self, depth):
        kind = self.random.randrange(12)
        if kind < 4:
            return [f"{self.array_place()} = {self.array()} * {self.one_of('0.5', '0.25', 'x')} + {self.array()}"]
        if kind < 6:
            return [f"{self.number_place()} = {self.number()} * 0.5 + {self.number()}"]
        if kind == 6:
            return [
                f"{self.array_place().replace('.new', '.a').replace(chr(39) + 'new', chr(39) + 'w')} {self.one_of('+=', '-=')} x"
            ]
        if kind == 7:
            o, p = self.owner(), self.owner()
            return [
                self.one_of(
                    f"{o}.a, {o}.b = {o}.b, {o}.a", f"{o}.a = {p}.b", f"{o}.advance(0.25)", f"{o}.n += 1", f"{o}.a[0] = 1.0"
                )
            ]
        if kind == 8:
            return [f"watch({self.one_of('s', 'r', 'd', 'l', 's, r', 's, d, l')})"]
        if depth > 1:
            return [f"{self.owner()}.n += 2"]
        body = self.block(depth + 1)
        if kind == 9:
            return [f"if {self.number()} > {self.number()}:", *body]
        if kind == 10:
            return [f"for k{depth} in range(n):", *body]
        return [f"if {self.number()} > 0.5:", *body, "else:", *self.block(depth + 1)]

    def block(self, depth):
        lines = []
        for _ in range(self.random.randrange(1, 5)):
            lines += self.statement(depth)
        return ["    " + line for line in lines]

    def source(self):
        return "\n".join(
            [
                *self.lines,
                *self.block(0),
                *self.block(0),
                f"    return {self.one_of('s.t', 'd', 'x.sum()', 's.a', 'r', 'l[1]')}",
            ]
        )


def arguments(seed, shared):
    s, r = Thing(seed), Thing(seed + 1)
    d, l = {"w": r.a * 2, "k": 0.75, "s": Thing(seed + 2)}, [Thing(seed + 3), r.b + 1, 0.5]
    if shared == 1:
        r = s
    if shared == 2:
        d["s"] = l[0] = r
    return [s, r, d, l, np.full((3, 2), 0.25), 3]


def outcome(call, given):
    """Three calls with the same objects."""
    SEEN.clear()
    given, results = copy.deepcopy(given), []
    for n in (3, 0, 2):
        try:
            results.append(describe(call(*given[:-1], n)))
        except Exception as raised:
            results.append((type(raised), str(raised)))
        results.append(describe(given))
    return results, list(SEEN)


COUNTS = []


@settings(max_examples=EXAMPLES or 6, derandomize=not EXAMPLES, deadline=None, database=None,
          suppress_health_check=list(HealthCheck))  # fmt: skip
@given(random=st.randoms(use_true_random=False))
def check_objects(random):
    source = Writer(random).source()
    note(source)
    function = define(source, watch=watch)
    # Kernels take most of the time: a sixth of the programs has them.
    call = accel.compile(function, backend=random.choice(["native"] + ["numpy"] * 5))
    for shared in (0, 1, 2, 0):
        given = arguments(random.randrange(100), shared)
        expected, found = outcome(function, given), outcome(call, given)
        assert found == expected
    kinds = facts(call)
    COUNTS.append((kinds["compiled"] > 0, kinds["interpreted"] == 0))


def test_objects():
    COUNTS.clear()
    check_objects()
    compiled, whole = (sum(column) for column in zip(*COUNTS, strict=True))
    assert compiled >= 0.9 * len(COUNTS) and whole >= 0.6 * len(COUNTS), f"{compiled}, {whole} of {len(COUNTS)} programs"
