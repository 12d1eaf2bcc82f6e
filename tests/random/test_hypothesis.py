"""Random straight-line NumPy functions: what accel gives is what NumPy gives. A failure prints the function's source."""

import numpy as np
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st
from support.compiled import facts
from support.outcome import assert_same
from support.programs import define

import accel

BINARY = ["{} + {}", "{} - {}", "{} * {}", "{} / {}", "np.maximum({}, {})", "np.minimum({}, {})", "np.hypot({}, {})"]
BINARY += ["np.where({} > {}, 1, 2)", "({} < {}) * 1", "np.arctan2({}, {})", "np.copysign({}, {})", "np.subtract({}, {})"]
UNARY = ["-{}", "np.abs({})", "np.sqrt(np.abs({}))", "np.exp(-np.abs({}))", "{} * {}", "{}.astype(np.float32)", "np.sign({})"]
UNARY += ["np.floor({})", "np.sin({})", "np.log1p(np.abs({}))", "np.square({})", "{}.copy()", "np.isnan({})", "np.tanh({})"]
VIEWS = [
    "{}[..., ::-1]",
    "{}[None]",
    "{}.T",
    "np.ravel({})",
    "{}[..., :1]",
    "{}[..., None]",
    "{}.reshape(-1)",
    "np.swapaxes({}, 0, -1)",
]
REDUCTIONS = [
    "np.sum({})",
    "np.sum({}, axis=0)",
    "np.mean({}, axis=-1, keepdims=True)",
    "{}.sum(axis=-1)",
    "np.max({}, initial=0)",
]
REDUCTIONS += ["np.linalg.norm(np.atleast_1d({}), axis=-1)", "np.prod({}, axis=-1)", "np.any({})", "np.count_nonzero({}) * 1.0"]
TEMPLATES = BINARY * 3 + UNARY * 2 + VIEWS + REDUCTIONS


@st.composite
def sources(draw):
    """Source text of a function of three arguments."""
    names, lines = ["a", "b", "c"], []
    for number in range(draw(st.integers(2, 8))):
        template = draw(st.sampled_from(TEMPLATES))
        operands = [
            draw(st.sampled_from([*names, "2", "0.5"] if template in BINARY else names)) for _ in range(template.count("{}"))
        ]
        lines.append(f"    v{number} = {template.format(*operands)}")
        names.append(f"v{number}")
    results = draw(st.lists(st.sampled_from(names[3:]), min_size=1, max_size=3))
    return "def program(a, b, c):\n" + "\n".join(lines) + f"\n    return {', '.join(results)}\n"


SHAPES = [
    ((), (), ()),
    ((5,), (5,), ()),
    ((4, 5), (5,), (4, 1)),
    ((0, 3), (3,), (1, 3)),
    ((2, 3, 4), (3, 1), (4,)),
    ((300,), (300,), (1,)),
]
DTYPES = ["f8", "f8", "f8", "f4", "i8", "i4", "?", "c16", "u1"]


@st.composite
def arguments(draw):
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    found = []
    for shape in draw(st.sampled_from(SHAPES)):
        dtype = draw(st.sampled_from(DTYPES))
        values = np.asarray(rng.standard_normal(shape) * 3).astype(dtype)
        if values.ndim and draw(st.integers(0, 5)) == 0:
            values = np.repeat(values, 2, axis=-1)[..., ::2]
        if values.dtype.kind == "f" and values.size and draw(st.integers(0, 5)) == 0:
            values.flat[0] = draw(st.sampled_from([np.nan, np.inf, -0.0, 1e300, 5e-324]))
        found.append(values)
    return found


def test_random_functions():
    """60 functions; most of them must have been compiled, or the comparison says nothing."""
    compiled = []

    @settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(sources(), arguments(), arguments())
    def same_as_numpy(source, first, second):
        note(source)
        note(repr((first, second)))
        function = define(source)
        call = accel.compile(function)
        assert_same(function, call, *first, times=2)
        assert_same(function, call, *second, times=2)
        assert_same(function, call, *first, times=1)
        compiled.append(facts(call)["compiles"] > 0)

    same_as_numpy()
    assert sum(compiled) >= 0.7 * len(compiled), f"of {len(compiled)} random functions {sum(compiled)} were compiled"
