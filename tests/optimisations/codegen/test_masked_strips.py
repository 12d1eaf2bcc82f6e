"""Stores under masks: strips of elements of which a mask selects none are passed over, with NumPy's results and events."""

import warnings

import numpy as np
import pytest
from support.compiled import facts
from support.differential import check
from support.outcome import assert_same

import accel


def step(x, y, k):
    inside = np.abs(x) < 2
    y[inside] = k
    x[inside] = x[inside] * 1.5 + y[inside]


def step_with_where(x, y, k):
    inside = np.abs(x) < 2
    x[:] = np.where(inside, x * k, x)


def two_masks(x, y, k):
    low, high = x < -1, x > 1
    x[low] = x[low] + y[low] * k
    x[high] = x[high] - y[high] * k


def two_arrays(x, y, k):
    large = x > y
    x[large] = y[large] * k
    y[~large] = y[~large] + 0.5


def store_for_all(x, y, k):
    y += k
    x[y > 3] *= 0.5


def divides(x, y, k):
    there = y != 0
    x[there] = x[there] / y[there]


def square_in_place(x, y, k):
    m = x > 100 * k
    x[m] **= 2


def adds_into_other(x, y, k):
    y[x > k] += x[x > k] * 2


STEPS = [step, two_masks, two_arrays, store_for_all, divides, square_in_place, adds_into_other]
SPLIT = [step, two_masks, divides, square_in_place, adds_into_other]


def arrays(size, dtype=np.float64, seed=1):
    random = np.random.default_rng(seed)
    x, y = random.normal(0, 2, size), random.normal(0, 2, size)
    x[size // 3 : size // 3 * 2] = 50  # whole strips that few masks select
    return x.astype(dtype), y.astype(dtype)


def is_split(call, *arguments):
    return "= holds" in accel.explain(call)(*arguments).source


@pytest.mark.parametrize("body", SPLIT)
def test_is_in_halves(body):
    call = check(body, *arrays(1000), 2)
    assert is_split(call, *arrays(1000), 2)


@pytest.mark.parametrize("size", [0, 1, 2, 127, 128, 129, 255, 1000])
@pytest.mark.parametrize("body", [*STEPS, step_with_where])
def test_sizes(body, size):
    check(body, *arrays(size), 2)


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int64, np.int16, np.complex64, np.complex128])
@pytest.mark.parametrize("body", [step, square_in_place, adds_into_other])
def test_dtypes(body, dtype):
    if np.dtype(dtype).kind in "iu" and body is step:
        pytest.skip("a store of floats into integers is another matter")
    check(body, *arrays(600, dtype), 1)


@pytest.mark.parametrize("value", [-1000.0, 1000.0, 0.0, np.nan])
@pytest.mark.parametrize("body", STEPS)
def test_no_element_or_all(body, value):
    with np.errstate(all="ignore"):
        check(body, np.full(700, value), arrays(700)[1], 2)


@pytest.mark.parametrize("mode", ["raise", "warn", "ignore"])
@pytest.mark.parametrize("place", [0, 5, 127, 128, 400, 699])
def test_events_of_selected_elements(place, mode):
    """Of these alone: elements beside them would overflow too."""

    def grows(x, y, k):
        m = y > 0
        x[m] = x[m] * 1e200

    x, y = np.full(700, 1e200), np.full(700, -1.0)
    call = accel.compile(grows)
    with np.errstate(all=mode), warnings.catch_warnings():
        warnings.simplefilter("always")
        check(grows, x, y, 1)
        assert_same(grows, call, x, y, 1, times=1)
        y[place] = 1.0
        assert_same(grows, call, x, y, 1, times=2)
        x[place] = 1.0
        check(grows, x, y, 1)


def test_events_of_masks():
    """A comparison of NaN is silent for arrays; a division for the mask is not, wherever it is."""

    def masked(x, y, k):
        m = 1 / x > k
        y[m] = y[m] * 2 + x[m]

    x, y = arrays(700)
    x[130:300] = np.nan
    call = accel.compile(masked)
    for _ in range(2):
        assert_same(masked, call, x, y, 0.5)
    assert facts(call)["compiled"] >= 5  # a version that is silent comes after the first one
    x[500] = 0
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        assert_same(masked, call, x, y, 0.5, times=2)


def test_arguments_that_are_one_array_or_overlap():
    step = accel.compile(adds_into_other)
    for first, second in ((slice(0, 700), slice(0, 700)), (slice(0, 699), slice(1, 700)), (slice(1, 700), slice(0, 699))):
        memories = [arrays(700)[0] for _ in range(2)]
        for body, memory in zip((adds_into_other, step), memories, strict=True):
            for _ in range(3):
                body(memory[first], memory[second], 1)
        np.testing.assert_array_equal(*memories)
    assert facts(step)["compiled"] == 9


def test_reads_after_the_store():
    def follows(x, y, k):
        m = x > k
        x[m] = x[m] * 0.5
        return x + y, np.where(x > k, x, y)

    check(follows, *arrays(700), 1)


def test_rows_and_columns():
    def rows(x, y, k):
        for i in range(x.shape[0]):
            m = x[i] > k
            y[i, m] = x[i, m] * 2
            x[:, i][y[:, i] > k] += 1.5

    x, y = arrays(90000)
    check(rows, x.reshape(300, 300), y.reshape(300, 300), 1)


def test_threads():
    with accel.config(parallel_threshold=1):
        for body in SPLIT:
            check(body, *arrays(100_000), 2)


def escapes(z, c, bound):
    inside = np.abs(z) < bound
    z[inside] = z[inside] ** 2 + c[inside]


def comparisons(z, c, bound):
    a, b, d, e = np.abs(z) <= bound, np.abs(z) > bound, bound <= np.abs(z), bound > np.abs(z)
    c[a] = c[a] * 2
    c[b] = c[b] + 1j
    c[d] = c[d] - 3
    c[e] = c[e] * 1j
    return a, b, d, e


def far_and_near(bound, dtype, size=600):
    """Numbers whose moduli are the bound, a step beside it, or far from it; in some strips only the latter."""
    part = np.dtype(dtype).type(0).real.dtype.type
    random = np.random.default_rng(3)
    near = part(bound) * np.exp(1j * random.uniform(0, 7, size)).astype(dtype)
    exact = part(bound) / 5 * np.array([3 + 4j, -4 + 3j, 5, 5j], dtype)
    steps = [np.nextafter(part(bound), part(end)) for end in (0, np.inf)]
    info = np.finfo(dtype)
    special = np.array([0, info.tiny, 1j * info.tiny / 8, 0.6 * info.max, np.inf, -1j * np.inf, np.nan, 1j * np.nan], dtype)
    special = np.concatenate([special, [complex(np.inf, np.nan), complex(np.nan, -np.inf)], steps]).astype(dtype)
    z = (near * 10 ** random.uniform(-6, 6, size)).astype(dtype)
    z[130:160] = near[130:160]
    z[300:304] = exact
    z[400 : 400 + len(special)] = special
    return z


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
@pytest.mark.parametrize("bound", [5.0, 2.0, 2.0**40, 1e-3, 1e-30, 1e37, 0.0, -1.0, np.inf, np.nan])
@pytest.mark.parametrize("body", [escapes, comparisons])
def test_moduli_that_are_compared(body, bound, dtype):
    call = accel.compile(body)
    with np.errstate(all="ignore"):
        z = far_and_near(bound if 0 < bound < np.inf else 1.0, dtype)
        c = np.nan_to_num(far_and_near(1.0, dtype)[::-1], posinf=1, neginf=2)  # signs of NaN are another matter
        for bound in (bound, np.dtype(dtype).type(0).real.dtype.type(bound)):
            assert_same(body, call, z, c, bound, times=2)
    assert facts(call)["compiled"] == 4


def test_squares_decide():
    z, c = far_and_near(2.0, np.complex64), far_and_near(1.0, np.complex64)
    with np.errstate(all="ignore"):
        call = check(escapes, z, c, 2.0)
        assert "moderate_square(t" in accel.explain(call)(z.copy(), c, 2.0).source


@pytest.mark.parametrize("mode", ["warn", "raise"])
def test_events_of_squares(mode):
    """Of those that the function asks for, not of those that decide a comparison."""
    z, c = np.full(600, 1e-38 + 1e30j, np.complex64), np.zeros(600, np.complex64)
    call = accel.compile(escapes)
    with np.errstate(all=mode), warnings.catch_warnings():
        warnings.simplefilter("always")
        check(escapes, z, c, 2.0)
        assert_same(escapes, call, z, c, 2.0, times=2)
        z[300] = 1e-30
        assert_same(escapes, call, z, c, 2.0, times=2)
        assert_same(escapes, call, z, c, 1e35, times=2)
