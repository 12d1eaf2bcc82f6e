"""Elements that a branch stores or reads: on both ways, where nobody can tell the difference."""

import numpy as np
import pytest
from support.compiled import facts
from support.covering import pairs
from support.differential import check, check_at_exits, layouts, sample
from support.outcome import assert_same
from support.whole_programs import load

import accel

bubble_sort = load("short_iteration").bubble_sort


def turn_positive(a):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            if a[i, j] < 0:
                a[i, j] = -a[i, j]


def clip(a, low, high):
    for i in range(len(a)):
        if a[i] < low:
            a[i] = low
        elif a[i] > high:
            a[i] = high


def no_less(a, b):
    """Of two arrays that may lie in the same memory."""
    for i in range(len(a)):
        if a[i] < b[i]:
            a[i] = b[i]
            b[i] = 0


def common(a, b):
    count = 0
    for i in range(len(a)):
        for j in range(len(b)):
            if a[i, j] and b[j, i]:
                count += 1
    return count


def smallest_first(a):
    for i in range(len(a)):
        m = i
        for j in range(i + 1, len(a)):
            if a[j] < a[m]:
                m = j
        a[i], a[m] = a[m], a[i]


def last_place(a, x):
    low, high = 0, len(a)
    while low < high:
        middle = (low + high) // 2
        if a[middle] <= x:
            low = middle + 1
        else:
            high = middle
    return low


def only_in_range(a, n):
    """Elements that are not there are not read, nor stored."""
    hits = 0
    for i in range(n):
        if i < len(a) and a[i]:
            hits += 1
            if i + 3 < len(a):
                a[i + 3] = not a[i + 3]
    return hits


def swept(a):
    """Where one way stores twice, and in an order that matters."""
    for i in range(len(a) - 1):
        x, y = a[i], a[i + 1]
        if x != y:
            a[i + 1] = x
            a[i] = y
            a[i + 1] = a[i]


def kept(a):
    """The array as it was before is seen after the branch."""
    changes = []
    for i in range(len(a)):
        old = a.copy()
        if a[i] > 0:
            a[i] = -1
        changes.append((old != a).sum())
    return changes


DTYPES = ["float64", "float32", "int64", "int8", "uint8", "bool", "complex128", "float16"]


@pytest.mark.parametrize(
    ("dtype", "function", "layout"), pairs(DTYPES, [bubble_sort, smallest_first, swept], ["strided", "C", "reversed", "C"])
)
def test_orders(dtype, function, layout):
    if dtype == "complex128" and function is not swept:
        pytest.skip("NumPy orders no complex scalars")
    call = check(function, sample(33, dtype))
    for size in (0, 1, 2, 7):
        assert_same(function, call, sample(size, dtype))
    for name, a in layouts(sample(20, dtype)):
        if name == layout:
            check(function, a)


@pytest.mark.parametrize("function", [bubble_sort, smallest_first, swept])
def test_what_equals_nothing_or_has_a_sign(function):
    odd = np.array([np.nan, -0.0, 0.0, np.inf, -np.inf, 0.0, -np.nan, 1.0, -0.0, np.copysign(np.nan, -1), 5e-324])
    for dtype in ("float64", "float32"):
        call = accel.compile(function)
        for turn in range(len(odd)):
            assert_same(function, call, np.roll(odd, turn).astype(dtype), times=1)
        assert facts(call)["interpreted"] == facts(call)["side_exits"] == 0


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "int16"])
def test_signs_and_bounds(dtype):
    turn = ["float64", "float32", "int64", "int16"].index(dtype) % 2
    for _, a in list(layouts(sample((7, 9), dtype)))[turn::2]:
        check(turn_positive, a)
    a = sample((1, 7), dtype)
    check(turn_positive, a)
    for low, high in ((-1, 1), (0, 0), (2, -2)):
        check(clip, sample(50, dtype), np.dtype(dtype).type(low), np.dtype(dtype).type(high))
        check(clip, sample(50, dtype), low, high)


def test_not_a_number_is_turned_no_further():
    a = np.array([[np.nan, -np.nan, -0.0, 0.0, -np.inf, np.copysign(np.nan, -1)]])
    check(turn_positive, a)
    check(turn_positive, a.astype(np.float32))


def test_memory_that_is_shared():
    for make in (lambda a: (a, a), lambda a: (a[1:], a[:-1]), lambda a: (a[:-1], a[1:]), lambda a: (a, a[::-1])):
        call = accel.compile(no_less)
        for _ in range(2):
            a, b = sample(20), sample(20)
            call(*make(a))
            no_less(*make(b))
            assert a.tobytes() == b.tobytes()
        assert facts(call)["compiled"] == 2


def test_what_is_read_on_one_way():
    m = sample((20, 20), "bool")
    check(common, m, m.T.copy())

    call = accel.compile(common)
    for a, b in ((m, m[:3]), (m[:4], m), (m[:0], m), (m[:, :1], m[:1])):
        assert_same(common, call, a, b)
    for n in (0, 5, 20, 25):
        check(only_in_range, sample(20, "bool"), n)
    assert_same(common, call, m, m[:, :4])  # b[j, i] is not there


def test_places_by_halves():
    a = np.sort(sample(100))
    for x in (-10.0, a[3], a[50], 10.0, np.nan):
        check(last_place, a, float(x))


def test_older_versions():
    check(kept, sample(9))


@pytest.mark.parametrize("function, a", [(bubble_sort, np.arange(9.0)), (turn_positive, np.ones((3, 3))), (swept, np.ones(9))])
def test_memory_that_is_only_read(function, a):
    """Nothing is stored, so nobody minds; where something is, NumPy does."""
    a.flags.writeable = False
    call = accel.compile(function)
    for _ in range(3):
        assert_same(function, call, a, times=1)
    a = -np.arange(9.0).reshape(a.shape)
    a.flags.writeable = False
    assert_same(function, call, a)


def overflowing(a, most):
    for i in range(len(a)):
        if a[i] > most:
            a[i] = a[i] * a[i]


def test_events_of_the_way_that_is_taken():
    for most in (1.0, np.inf):
        call = accel.compile(overflowing)
        assert_same(overflowing, call, np.array([1e100, 2.0, 1e120]), most)
        assert facts(call)["compiled"] == 3
        assert_same(overflowing, call, np.array([1e200, 2.0, 1e300]), most)


def test_at_exits():
    check_at_exits(bubble_sort, sample(5), most=40)
    check_at_exits(smallest_first, sample(5), most=40)


def test_bytes_that_are_no_bools_stay():
    def clear(b, m):
        for i in range(len(b)):
            if b[i] and m[i] > 0:
                b[i] = False

    for function, others in ((clear, (np.array([0, 0, 0, 1.0, 0]),)), (bubble_sort, ()), (swept, ())):
        call = accel.compile(function)
        for _ in range(3):
            bytes_ = [np.array([0, 0, 2, 3, 255], np.uint8) for _ in range(2)]
            function(bytes_[0].view(bool), *others), call(bytes_[1].view(bool), *others)
            assert bytes_[0].tolist() == bytes_[1].tolist()
        assert facts(call)["compiled"] == 3


def test_no_branch_is_left():
    assert accel.explain(accel.compile(swept))(sample(9)).graph.count("where(") >= 3
    assert "guessed" in accel.explain(accel.compile(smallest_first))(sample(9)).graph
