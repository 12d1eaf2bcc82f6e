"""The assignment step of k-means: every size, layout and dtype gives NumPy's bits, from one compiled version."""

import numpy as np
import pytest
from support.compiled import assert_all_compiled, compile_count
from support.covering import pairs
from support.outcome import assert_same

import accel


def points_first(points, centres):
    return np.argmin(np.linalg.norm(points[:, None, :] - centres[None, :, :], axis=-1), axis=1)


def centres_first(points, centres):
    return np.argmin(np.linalg.norm(points[None, :, :] - centres[:, None, :], axis=-1), axis=0)


def by_squares(points, centres):
    return np.argmin(np.sqrt(((points - centres[:, np.newaxis]) ** 2).sum(axis=2)), axis=0)


FORMS = [points_first, centres_first, by_squares]


def data(count, dims, centres, dtype=np.float64, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((count, dims)).astype(dtype), rng.standard_normal((centres, dims)).astype(dtype)


@pytest.fixture(params=FORMS, ids=lambda f: f.__name__)
def form(request):
    return request.param


@pytest.mark.parametrize(("dims", "centres", "form"), pairs([2, 3, 7, 8, 9, 16], [2, 3, 50], FORMS), indirect=["form"])
def test_sizes(form, centres, dims):
    call = accel.compile(form)
    assert_same(form, call, *data(1000, dims, centres))
    assert_all_compiled(call)


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.complex128, np.int64, np.int8])
def test_dtypes(form, dtype):
    rng = np.random.default_rng(1)
    points, centres = (rng.integers(-9, 9, (n, 3)).astype(dtype) for n in (500, 4))
    call = accel.compile(form)
    assert_same(form, call, points, centres)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_large_enough_for_threads(form, dtype):
    call = accel.compile(form)
    assert_same(form, call, *data(300_007, 2, 2, dtype), times=2)
    assert_all_compiled(call)


LAYOUTS = {
    "fortran": np.asfortranarray,
    "every other row": lambda a: np.repeat(a, 2, axis=0)[::2],
    "every other column": lambda a: np.repeat(a, 2, axis=1)[:, ::2],
    "reversed": lambda a: a[::-1],
    "columns reversed": lambda a: a[:, ::-1],
    "transposed": lambda a: np.ascontiguousarray(a.T).T,
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(form, layout):
    points, centres = data(1000, 3, 4)
    call = accel.compile(form)
    assert_same(form, call, LAYOUTS[layout](points), centres)
    assert_same(form, call, LAYOUTS[layout](points), LAYOUTS[layout](centres))


def test_no_points(form):
    call = accel.compile(form)
    assert_same(form, call, *data(0, 2, 2))
    assert_same(form, call, *data(5, 2, 2))


def test_no_centres(form):
    """numpy.argmin raises, with its own message and line."""
    expected = assert_same(form, accel.compile(form), *data(10, 2, 0))
    assert expected.error[0] is ValueError


def test_no_dimensions(form):
    assert_same(form, accel.compile(form), *data(10, 0, 3))


def test_ties_and_near_ties(form):
    """Different squares may have one rounded root; then the first centre wins."""
    centres = np.array([[1.0, 0.0], [-1.0, 0.0], [np.nextafter(1.0, 2), 0.0], [0.0, np.nextafter(1.0, 0)]])
    steps = np.arange(-4, 5) * 2.0**-53
    points = np.array([[x, y] for x in steps for y in steps])
    call = accel.compile(form)
    assert_same(form, call, points, centres)
    assert_same(form, call, points, centres[::-1].copy())


@pytest.mark.parametrize("special", [np.nan, np.inf, -np.inf, 1e200, 1e-200, 5e-324])
def test_special_values(form, special):
    points, centres = data(100, 2, 3)
    points[::7, 0] = special
    call = accel.compile(form)
    assert_same(form, call, points, centres)
    centres[1, 1] = special
    assert_same(form, call, points, centres)


def test_one_compile_for_all_counts(form):
    call = accel.compile(form)
    for count in [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, *range(11, 200, 10), 1000, 5000]:
        assert_same(form, call, *data(count, 2, 2), times=1)
    assert compile_count(call) == 1
    assert_all_compiled(call)


def test_small_batches(form):
    call = accel.compile(form)
    for count in range(1, 10):
        assert_same(form, call, *data(count, 2, 3), times=1)
    assert compile_count(call) <= 2


def test_one_compile_for_all_numbers_of_centres(form):
    call = accel.compile(form)
    for centres in [2, 3, 5, 8, 13, 50]:
        assert_same(form, call, *data(100, 2, centres), times=1)
    assert compile_count(call) <= 2
    assert_all_compiled(call)


def test_arguments_that_overlap(form):
    points, _ = data(100, 2, 2)
    assert_same(form, accel.compile(form), points, points[10:13], share=True)


def test_lloyd_iterations():
    """The whole algorithm, written as a user writes it."""

    def kmeans(points, centres, assign):
        for _ in range(5):
            labels = assign(points, centres)
            centres = np.array([points[labels == k].mean(axis=0) for k in range(len(centres))])
        return labels, centres

    points, centres = data(2000, 2, 3)
    call = accel.compile(points_first)
    labels, found = kmeans(points, centres, call)
    expected_labels, expected = kmeans(points, centres, points_first)
    assert labels.tobytes() == expected_labels.tobytes() and found.tobytes() == expected.tobytes()
    assert compile_count(call) == 1
