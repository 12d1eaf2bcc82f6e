"""Random programs of views and stores: two arguments, perhaps parts of one memory, against NumPy."""

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.compiled import facts

import accel

INDICES = [
    "1:",
    ":-1",
    "::2",
    "::-1",
    "-3:",
    "1:3",
    "0",
    "-1",
    "...",
    ":, 1:",
    ":, ::-2",
    "0, :",
    ":, 0",
    "1, 2",
    "..., None",
    "None, 1",
]
VALUES = [
    "{s}",
    "{s} * 2",
    "{s}[::-1]",
    "{s} + {t}",
    "{s}.T.T",
    "1.5",
    "{s}.sum()",
    "-{s}",
    "{s}[:1]",
    "np.sqrt(abs({s}))",
    "{t}",
]
ASSIGNMENTS = ["{t}[...] = {v}", "{t} += {v}", "{t} *= {v}", "np.copyto({t}, {v})", "np.subtract({t}, {v}, out={t})",
               "np.copyto({t}, {v}, where={t} > 0)", "np.add({t}, {v}, out={t}, where={t} < 0)", "{t}.fill(3)"]  # fmt: skip

RELATIONS = ["apart", "apart", "apart", "same", "parts", "F"]  # of the arguments


@st.composite
def programs(draw):
    """Lines that name views of a and b and store into them. Shapes decide which of them NumPy refuses."""
    names, lines = ["a", "b"], []
    for k in range(draw(st.integers(1, 4))):
        base = draw(st.sampled_from(names))
        kind = draw(st.integers(0, 5))
        if kind == 0:
            lines.append(f"v{k} = {base}.T")
        elif kind == 1:
            lines.append(f"v{k} = {base}.reshape(-1)")
        elif kind == 2:
            lines.append(f"v{k} = {base}.copy()")
        else:
            lines.append(f"v{k} = {base}[{draw(st.sampled_from(INDICES))}]")
        names.append(f"v{k}")
    for k in range(draw(st.integers(1, 5))):
        target, source = draw(st.sampled_from(names)), draw(st.sampled_from(names))
        value = draw(st.sampled_from(VALUES)).format(s=source, t=target)
        lines.append(draw(st.sampled_from(ASSIGNMENTS)).format(t=target, v=value))
        if draw(st.booleans()):
            lines.append(f"r{k} = {source} * 2")
            names.append(f"r{k}")
    return valid(lines), draw(st.sampled_from(RELATIONS))


def valid(lines):
    """The lines that NumPy performs, in their order."""
    a, b = arguments("apart")
    scope, kept = {"np": np, "a": a, "b": b}, []
    for line in lines:
        try:
            with np.errstate(all="ignore"):
                exec(line, scope)
        except (ValueError, TypeError, IndexError, NameError, AttributeError):
            continue
        kept.append(line)
    return kept


def arguments(relation):
    memory = np.random.default_rng(0).uniform(-2, 2, (6, 10))
    if relation == "same":
        return (memory,) * 2
    if relation == "parts":
        return memory[:, :5], memory[:, 5:]
    if relation == "F":
        return np.asfortranarray(memory[:, :5]), memory[::-1, 5:].copy()
    return memory[:, :5].copy(), memory[:, 5:].copy()


def check_program(program, backend):
    lines, relation = ["r = a + 0.5", *program[0]], program[1]
    names = ["a", "b", *(line.split(" = ")[0] for line in lines if line[0] in "vr" and line.split(" = ")[0].isidentifier())]
    scope = {"np": np}
    exec("def function(a, b):\n    " + "\n    ".join([*lines, f"return {', '.join(names)}"]), scope)
    function, call = scope["function"], accel.compile(scope["function"], backend=backend)
    for _ in range(2):
        left, right = arguments(relation), arguments(relation)
        with np.errstate(all="ignore"):
            try:
                expected = function(*left)
            except ValueError:  # shapes of this relation
                return
            found = call(*right)
        for name, x, y in zip(names, expected, found, strict=True):
            assert np.shape(x) == np.shape(y) and np.asarray(x).tobytes() == np.asarray(y).tobytes(), (name, lines)
        for x, y in zip(left, right, strict=True):
            assert x.tobytes() == y.tobytes(), lines
    assert facts(call)["interpreted"] == 0, lines


@settings(max_examples=150, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(programs())
def test_captured_stores(program):
    check_program(program, "numpy")


@settings(max_examples=8, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(programs())
def test_compiled_stores(program):
    check_program(program, "native")


# --- in loops and branches ------------------------------------------------------------------------------------------------

PARTS = ["i", "i, 1:", "1:, i", "i, i", "i:", ":i", "i, :i", "0", "-1, i", "..."]
VIEWS = [".T", "[1:]", "[::-1]", ".copy()", "[:, ::2]", ""]
RANGES = ["3", "m", "1, m", "m - 1, -1, -1", "len(b) - 2"]
CONDITIONS = ["i % 2", "i > 1", "a[0, 0] > b[i, i]", "m > 2"]
UPDATES = ["{t} = {v}", "{t} += {v}", "b, a = a, b", "w = {v} * 1; x = x + np.sum(w)"]


@st.composite
def loops(draw):
    """The text of a function that stores into parts of a, b and views of them in a loop."""
    names, lines = ["a", "b"], []
    for k in range(draw(st.integers(0, 2))):
        lines.append(f"v{k} = {draw(st.sampled_from(names))}{draw(st.sampled_from(VIEWS))}")
        names.append(f"v{k}")
    lines += [f"for i in range({draw(st.sampled_from(RANGES))}):", "    pass"]
    indent = "    "
    for _ in range(draw(st.integers(1, 4))):
        if len(indent) < 12 and draw(st.integers(0, 3)) == 0:
            lines.append(f"{indent}if {draw(st.sampled_from(CONDITIONS))}:")
            indent += "    "
        t, s = (f"{draw(st.sampled_from(names))}[{draw(st.sampled_from(PARTS))}]" for _ in range(2))
        v = draw(st.sampled_from(["{s}", "{s} * 0.5", "1.5", "i", "{s} + {t}", "-{s}", "{t} * i"])).format(s=s, t=t)
        lines.append(indent + draw(st.sampled_from(UPDATES)).format(t=t, v=v))
        if len(indent) > 4 and draw(st.booleans()):
            indent = indent[4:]
    lines = ["x, p = a.sum() * 0, a", *lines, "return a + 0, b + 0, x, a is p"]
    return "def function(a, b, m):\n    " + "\n    ".join(lines), draw(st.sampled_from(RELATIONS))


def check_loop(program, backend):
    text, relation = program
    scope = {"np": np}
    exec(text, scope)
    function, call = scope["function"], accel.compile(scope["function"], backend=backend)
    for m in (4, 4, 1, 5, 2):
        left, right = arguments(relation), arguments(relation)
        try:
            expected = function(*left, m)
        except (ValueError, IndexError, TypeError):  # shapes
            return
        found = call(*right, m)
        for x, y in zip([*expected, *left], [*found, *right], strict=True):
            assert np.asarray(x).tobytes() == np.asarray(y).tobytes(), (relation, m, text)


@settings(max_examples=120, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(loops())
def test_captured_loops(program):
    check_loop(program, "numpy")


@settings(max_examples=7, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(loops())
def test_compiled_loops(program):
    check_loop(program, "native")
