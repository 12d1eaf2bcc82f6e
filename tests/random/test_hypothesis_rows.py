"""Random statements over rows of the same arrays, which may run block of rows by block of rows, against NumPy.

ACCEL_EXAMPLES=5000 draws that many, other ones each time.
"""

import os

import numpy as np
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st
from support.compiled import facts
from support.programs import define

import accel

EXAMPLES = int(os.environ.get("ACCEL_EXAMPLES", "0"))
NAMES = "abcd"
ROWS, COLUMNS = st.sampled_from([0, 0, 0, -1, 1, -1, 1, 2, -2]), st.integers(-2, 2)


def part(draw, name, rows=ROWS, columns=COLUMNS):
    """All but two rows and columns at each edge, moved by up to two."""

    def along(away):
        return f"{2 + away}:{away - 2 or ''}"

    return f"{name}[{along(draw(rows))}, {along(draw(columns))}]"


@st.composite
def statements(draw):
    name, form = draw(st.sampled_from(NAMES)), draw(st.integers(0, 9))
    others = draw(st.sampled_from([NAMES, *[NAMES.replace(name, "")] * 4]))
    own = part(draw, name, rows=st.just(0))
    other = [part(draw, draw(st.sampled_from(others))) for _ in range(3)]
    if form == 0:
        return f"{name}[{draw(st.integers(0, 3))}, :] = {draw(st.sampled_from(NAMES))}[-1, :]"
    if form == 1:
        return f"{name}[1:] -= 0.5 * ({draw(st.sampled_from(NAMES))}[:-1] - 1)"
    if form == 2:
        return f"{name}[:, 0] = 1.5"
    if form <= 4:
        return f"{own} += 0.5 * ({other[0]} - {other[1]})"
    return f"{own} = {other[0]} - 0.25 * ({other[1]} + {other[2]})"


@st.composite
def programs(draw):
    lines = draw(st.lists(statements(), min_size=2, max_size=6))
    if draw(st.booleans()):
        lines = [f"for _ in range({draw(st.integers(1, 3))}):", *(f"    {line}" for line in lines)]
    return "\n".join([f"def program({', '.join(NAMES)}):", *(f"    {line}" for line in lines)])


def arrays(rows, columns):
    rng = np.random.default_rng(0)
    return [rng.standard_normal((rows, columns)) for _ in NAMES]


SIZES = [(330, 70), (64, 70), (257, 66), (20, 5), (1030, 64)]


@settings(
    deadline=None,
    database=None,
    max_examples=EXAMPLES or 7,
    derandomize=not EXAMPLES,
    suppress_health_check=list(HealthCheck),
)
@given(programs(), st.sampled_from([1, 2]))
def test_rows(source, threads):
    note(source)
    program = define(source)
    with accel.config(threads=threads, parallel_threshold=0):
        call = accel.compile(program)
        for size in SIZES:
            expected, found = arrays(*size), arrays(*size)
            program(*expected)
            call(*found)
            for mine, numpys in zip(found, expected):
                np.testing.assert_array_equal(mine, numpys)
    assert facts(call)["interpreted"] == facts(call)["side_exits"] == 0
