"""Stores that need what they overwrite: row by row, with bits, events and aliasing as NumPy has them."""

import numpy as np
import pytest
from support.covering import pairs
from support.differential import check, check_at_exits, check_cases, check_made, sample

import accel


@pytest.fixture(autouse=True, params=["serial", "threads"])
def workers(request):
    threads, threshold = (1, 100_000) if request.param == "serial" else (2, 0)
    with accel.config(threads=threads, parallel_threshold=threshold):
        yield request.param


def by_rows(function, *arguments):
    call = check(function, *arguments)
    assert "stored row by row" in str(accel.explain(call, verbose=True)(*arguments))
    return call


def is_fine(function, case):
    return True


SHAPES = [(3, 3), (17, 5), (18, 4), (19, 6), (33, 7), (34, 40), (100, 9), (20, 1), (67, 130)]


def both_ways(a):
    a[1:-1, 1:-1] = 0.25 * (a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:])


def from_above(a):
    a[1:] = a[:-1] * 0.5 + a[1:]


def from_below(a):
    a[:-1] = a[1:] - a[:-1] * 3


def moved_down(a):
    a[1:] = a[:-1]


def moved_up(a):
    a[:-1] = a[1:]


def far_above(a):
    a[3:] += a[:-3] * a[2:-1]


def test_rows_are_copied_with_the_instructions_of_this_machine(tmp_path):
    """glibc has two functions memcpy, and a kernel does not say which; of memmove there is one."""
    with accel.config(dump_dir=str(tmp_path), cache_size_limit=0):
        by_rows(both_ways, sample((40, 50)))
    (kernel,) = tmp_path.glob("*.so")
    assert b"\0memcpy\0" not in kernel.read_bytes()


def uneven(a):
    a[1:-2] = a[:-3] + a[3:] * 2


def moved_diagonally(a):
    a[1:, 1:] = a[:-1, :-1]


def within_rows(a):
    a[:, 1:] = a[:, :-1] + a[:, 1:]


def mirrored_rows(a):
    a[:] = a[:, ::-1] - a


def backwards(a):
    a[::-1][1:] = a[::-1][:-1] * 2 + a[::-1][1:]


def every_other(a):
    a[1:-1:2] = a[:-2:2] + a[2::2]


def every_other_with_its_own(a):
    a[2::2] = a[:-2:2] + a[2::2]


def last_row_to_all(a):
    a -= a[-1]


def first_column(a):
    a[:, 0] = a[:, -1] * 2


def own_column(a):
    a -= a[:, 1:2] if a.shape[1] > 1 else a[:, :1]


def row_and_column(a):
    k = a.shape[0] // 2
    a[:] = np.minimum(a, np.add.outer(a[:, 0], a[k, :]))


def corner(a):
    a += a[0, 0]


def rank_one(a):
    for k in range(min(a.shape) - 1):
        a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k] * 1e-4, a[k, k + 1 :])


def transposed(a):
    b = a.T
    b[1:] = b[:-1] + b[1:]


def under_a_mask(a):
    m = a[:-1] > a[1:]
    a[1:][m] = -1.0


def to_a_condition(a):
    a[1:-1] = np.where(a[:-2] > 0, a[2:], a[1:-1])


FUNCTIONS = [
    both_ways,
    from_above,
    from_below,
    moved_down,
    moved_up,
    far_above,
    uneven,
    moved_diagonally,
    within_rows,
    mirrored_rows,
    backwards,
    every_other,
    every_other_with_its_own,
    last_row_to_all,
    first_column,
    own_column,
    row_and_column,
    corner,
    rank_one,
    transposed,
    under_a_mask,
    to_a_condition,
]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_shapes(function, workers):
    for shape in [(19, 6), (20, 1)] if workers == "serial" else [(34, 40)]:  # all by one kernel and by both: below
        check(function, sample(shape))


def in_turns(functions):
    """One thread and two."""
    return [(function, ("serial", "threads")[k % 2]) for k, function in enumerate(functions)]


@pytest.mark.parametrize(("function", "workers"), in_turns(FUNCTIONS), indirect=["workers"])
def test_one_kernel_for_all_sizes(function, workers):
    check_cases(function, [(sample((r + 4, c + 4)),) for r, c in [(96, 30), *SHAPES]], is_fine)


IN_LAYOUTS = [both_ways, from_above, moved_up, uneven, row_and_column, mirrored_rows]


# Every function in each order of memory, and each other dtype in half of the functions. Complex numbers have no minimum.
@pytest.mark.parametrize(
    ("function", "layout", "workers"),
    [
        *pairs(IN_LAYOUTS, ["fortran", "strided", "reversed"], ["serial", "threads"]),
        *pairs([both_ways, moved_up, uneven], ["complex"], ["serial", "threads"]),
        *pairs([from_above, row_and_column, mirrored_rows], ["integers", "bytes"], ["serial", "threads"]),
    ],
    indirect=["workers"],
)
def test_layouts(function, layout, workers):
    def make():
        a = sample((70, 44))
        if layout == "fortran":
            return (np.asfortranarray(a),)
        if layout == "strided":
            return (a[:, ::2],)
        if layout == "reversed":
            return (a[::-1],)
        kinds = {"integers": np.int64, "complex": np.complex64, "bytes": np.uint8}
        with np.errstate(all="ignore"):
            return ((a * 10).astype(np.int64).astype(kinds[layout]),)

    check_made(function, make, whole=False)


@pytest.mark.parametrize("function", [both_ways, from_above, from_below, uneven, row_and_column])
def test_wait_for_later_rows(function):
    assert by_rows(function, sample((100, 40)))


def test_volumes():
    def spread(a, steps):
        for _ in range(steps):
            a[1:-1, 1:-1, 1:-1] = (
                a[:-2, 1:-1, 1:-1] + a[2:, 1:-1, 1:-1] + a[1:-1, :-2, 1:-1] + a[1:-1, 2:, 1:-1] + a[1:-1, 1:-1, 2:]
            ) / 6

    by_rows(spread, sample((40, 6, 5)), 3)
    check(spread, sample((3, 6, 5)), 3)


def test_two_grids_at_once():
    def react(big_u, big_v, steps):
        u, v = big_u[1:-1, 1:-1], big_v[1:-1, 1:-1]
        for _ in range(steps):
            lu = big_u[:-2, 1:-1] + big_u[2:, 1:-1] - 2 * u
            lv = big_v[1:-1, :-2] + big_v[2:, 1:-1] - 2 * v
            uvv = u * v * v
            u += 0.1 * lu - uvv
            v += 0.1 * lv + uvv
        return u

    for shape in [(50, 30), (19, 18), (4, 3)]:
        u, v = np.abs(sample(shape)) / 100, np.abs(sample(shape, seed=1)) / 100
        check(react, u, v, 4)
    assert "stored row by row, behind" in str(
        accel.explain(react, verbose=True)(sample((50, 30)) / 99, sample((50, 30), seed=1) / 99, 4)
    )


def test_each_needs_what_the_other_overwrites():
    def turn(a, b):
        c = a[1:] + b[:-1]
        d = a[:-1] - b[1:]
        a[1:] = c
        b[1:] = d * 2

    check(turn, sample((60, 20)), sample((60, 20), seed=3))

    def exchange(a, b):
        a[:], b[:] = b * 2, a + 1

    check(exchange, sample((60, 20)), sample((60, 20), seed=3))


def test_the_second_needs_the_first():
    def follow(a, b):
        a[1:] = a[:-1] + b[1:]
        b[1:] = b[:-1] + a[1:]

    check(follow, sample((60, 20)), sample((60, 20), seed=3))


def test_values_that_are_used_again():
    def both(a, b):
        c = a[:-1] + b[1:]
        a[1:] = c
        b[:-1] = c * 2
        return c, a.sum()

    check(both, sample((60, 20)), sample((60, 20), seed=3))


def test_own_memory():
    def fresh(n):
        a = np.zeros((n, 8))
        b = np.ones((n, 8))
        a[0] = 1.0
        for k in range(5):
            a[1:] = a[:-1] + b[1:] * k
            b[:-1] = a[1:] - b[1:]
        return a, b

    check(fresh, 40)


def test_three_stores():
    def rotate(a, b, c):
        x, y, z = a[1:] + b[:-1], b[1:] + c[:-1], c[1:] + a[:-1]
        a[1:] = x
        b[1:] = y
        c[1:] = z

    check(rotate, *(sample((50, 6), seed=k) for k in range(3)))


def test_overlapping_arguments():
    def shifted(a, b):
        a[1:] = a[:-1] + b[1:]
        b[:-1] = b[1:] * 2

    check_made(shifted, lambda: (lambda x: (x[2:], x[:-2]))(sample((62, 10))), whole=False)
    check_made(shifted, lambda: (lambda x: (x, x))(sample((62, 10))), whole=False)


def test_events():
    def overflowing(a):
        for _ in range(3):
            a[1:-1] = a[:-2] * a[2:]
        return a.max()

    for errors in ("ignore", "warn", "raise"):
        with np.errstate(all=errors):
            check_made(overflowing, lambda: (np.full((50, 20), 1e200),), whole=False)

    def divided(a):
        a[1:] = a[:-1] / a[1:]

    for errors in ("ignore", "warn", "raise"):
        with np.errstate(all=errors):
            check_made(divided, lambda: (np.zeros((50, 20)),), lambda: (sample((50, 20)),), whole=False)


def test_library_loops():
    def smooth(a):
        a[1:] = np.exp(-np.abs(a[:-1])) + a[1:]

    check(smooth, sample((60, 20)))


def test_sums_of_what_is_stored_to():
    def centred(a):
        a[1:] -= a[:-1].mean(axis=0)
        a -= a.mean()
        a -= a.sum(axis=1)[:, None]

    check(centred, sample((60, 20)))


def test_no_elements():
    for shape in [(0, 4), (1, 4), (2, 4), (5, 0), (0, 0)]:
        for function in (from_above, moved_up, within_rows, mirrored_rows):
            if shape[1] > 0 or function not in (within_rows,):
                check_made(function, lambda shape=shape: (np.ones(shape),), whole=False)


def test_stores_to_all_of_what_is_computed():
    """Such a store is a choice: old contents that are used elsewhere, events under masks and results stay what they are."""

    def choose(a, b):
        x = a * 2
        old = x + 1
        x[x > 0] = b[x > 0] / 3
        y = np.zeros(a.shape)
        y[:] = x
        y[b > 0] = -1.0
        z = y
        z[...] = z + old
        return x, y, z is y, old

    check(choose, sample((40, 6)), sample((40, 6), seed=2))

    def inverse(a):
        d = a * a
        d[d > 0] = d[d > 0] ** -1.5
        e = np.sqrt(np.abs(a))
        e[e > 0] = 1.0 / e[e > 0]
        return d, e

    with np.errstate(all="raise"):
        check(inverse, np.where(sample((40, 6)) > 2, 0.0, sample((40, 6))))

    def in_rounds(a, steps):
        z = np.zeros(a.shape)
        total = np.zeros(a.shape)
        for k in range(steps):
            z = z * z + a
            z[np.abs(z) > 2] = 2.0
            w = z + k
            w[:, ::2] = 0
            w[w < 0] = 1
            total += w
        return z, total

    check(in_rounds, sample((40, 6)) / 10, 5)

    def columns(a):
        f = np.asfortranarray(a * 2) + a.T.copy().T
        f[f > 0] = 0
        return f

    check(columns, sample((40, 6)))


def test_results_that_are_read_in_another_order():
    def function(a, b):
        x = a[1:-3, 4:] * 0.5
        y = x * np.where(b[:-4, 3:-1] > x, b[:-4, 3:-1], 0.5)
        b[1:-3, 1:-3] += y * x
        return x, y

    check(function, *(np.asfortranarray(sample((40, 12), seed=k)) for k in range(2)))


def in_planes(ex, ey, hz):
    ey[1:] -= 0.5 * (hz[1:] - hz[:-1])
    ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])


def in_the_middle(a, b, c):
    a[2:-3, 1:] += c[2:-3, 1:] * 2
    b[1:-1, 3:] = c[1:-1, 3:] - b[1:-1, 3:]


def in_parts(a, b, c):
    a[:18] *= c[:18]
    b[20:, ::2] -= c[20:, ::2]


def in_reverse(a, b, c):
    a[1:] += c[::-1][1:]
    b[:, 1:] += c[::-1][:, 1:]


def in_backward_rows(a, b, c):
    a[::-1][1:] += c[1:]
    b[:, 1:] += c[:, 1:]


def with_the_other(a, b, c):
    a[1:] += c[1:] * b[1:]
    b[:, 1:] += c[:, 1:]


def with_what_the_other_stores(a, b, c):
    a[1:] += c[1:]
    b[:, 1:] += c[:, 1:] * a[:, 1:]


def with_a_corner(a, b, c):
    a[1:] += c[1:] * b[0, 0]
    b[:, 1:] += c[:, 1:] * a[0, 0]


def of_three(a, b, c):
    a[1:] += c[1:]
    b[:, 1:] += c[:, 1:] * 3
    c2 = c * 2
    a[0] = c[0]
    return c2


SEVERAL = [
    in_planes,
    in_the_middle,
    in_parts,
    in_reverse,
    in_backward_rows,
    with_the_other,
    with_what_the_other_stores,
    with_a_corner,
    of_three,
]


@pytest.mark.parametrize(("function", "workers"), in_turns(SEVERAL), indirect=["workers"])
def test_rows_of_several_shapes(function, workers):
    shapes = [(40, 300), (40, 150), (17, 130), (9, 7), (7, 8), (200, 129)]
    check_cases(function, [tuple(sample(shape, seed=k) for k in range(3)) for shape in shapes], is_fine)


def test_rows_of_several_shapes_share_a_nest():
    planes = [sample((40, 300), seed=k) for k in range(3)]
    for function in (in_planes, in_the_middle, in_parts, in_reverse):
        by_rows(function, *planes)
    for function in (in_backward_rows, with_the_other, with_what_the_other_stores):
        call = check(function, *planes)
        assert "stored row by row" not in str(accel.explain(call, verbose=True)(*planes))
    narrow = [sample((40, 8), seed=k) for k in range(3)]
    assert "stored row by row" not in str(accel.explain(check(in_planes, *narrow), verbose=True)(*narrow))


OF_SEVERAL_SHAPES = ["fortran", "strided", "reversed", "integers", "single"]


@pytest.mark.parametrize("layout", OF_SEVERAL_SHAPES)
def test_rows_of_several_shapes_in_layouts(layout, workers):
    """Each layout meets two of the three functions: one with one thread, the other with two."""

    def made(seed):
        a = sample((40, 600), seed=seed)
        kinds = {"fortran": np.asfortranarray, "strided": lambda a: a[:, ::2], "reversed": lambda a: a[::-1]}
        kinds |= {"integers": lambda a: (a * 10).astype("i8"), "single": lambda a: a.astype("f4")}
        return kinds[layout](a)

    turn = OF_SEVERAL_SHAPES.index(layout) + (workers == "serial")
    function = (in_the_middle, in_parts, in_reverse)[turn % 3]
    check_made(function, lambda: tuple(made(k) for k in range(3)), whole=False)


def test_rows_of_several_shapes_of_volumes():
    def fields(a, b, c, steps):
        for _ in range(steps):
            a[1:, :, 1:] -= 0.5 * (c[1:, :, 1:] - c[:-1, :, :-1])
            b[:, 1:] -= 0.5 * (c[:, 1:] - c[:, :-1])
            c[:-1, 1:, 1:] += a[1:, 1:, 1:] - b[:-1, :-1, 1:]

    by_rows(fields, *(sample((20, 11, 40), seed=k) / 10 for k in range(3)), 4)
    check(fields, *(sample((2, 3, 4), seed=k) for k in range(3)), 4)


def test_rows_of_several_shapes_of_shared_memory():
    for views in (lambda x: (x[2:], x[:-2], x[1:-1]), lambda x: (x, x, x), lambda x: (x[:40], x[40:80], x[:40])):
        for function in (in_planes, in_the_middle, in_parts):
            check_made(function, lambda views=views: views(sample((90, 150))), whole=False)


def test_events_of_rows_of_several_shapes():
    def grow(a, b, c):
        for _ in range(3):
            a[1:] *= c[1:]
            b[:, 1:] *= c[:, :-1]

    def planes(value):
        return lambda: tuple(np.full((40, 150), value) for _ in range(3))

    for errors in ("ignore", "warn", "raise"):
        with np.errstate(all=errors):
            check_made(grow, planes(1e150), planes(1.5), whole=False)


def test_rows_of_several_shapes_at_exits():
    def steps(ex, ey, hz, source):
        for k in range(len(source)):
            ey[0] = source[k]
            in_planes(ex, ey, hz)
            hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])

    check_at_exits(steps, *(sample((20, 140), seed=k) / 10 for k in range(3)), np.arange(4.0))
