"""An object that a call of unknown code has seen is that object until the end, and nothing but the code's own names counts."""

import copy
import gc
import operator
import sys
import types
import weakref

import numpy as np
import pytest
from support.compiled import facts
from support.outcome import describe

import accel

A = np.arange(6.0)


def result_of(function, arguments):
    try:
        result = function(*arguments)
    except Exception as error:
        result = (type(error), str(error))
    return describe(result), [describe(a) for a in arguments if not isinstance(a, types.SimpleNamespace)]


def check(function, make=lambda: (A,), times=4, backend="native"):
    """The same results in the first call and later ones, and none of these is the interpreter's from its start."""
    expected = result_of(function, make())
    call = accel.compile(function, backend=backend)
    for _ in range(times):
        assert result_of(call, make()) == expected
    found = facts(call)
    assert found["compiled"] == times and found["interpreted"] == 0, found
    return call


def seen_twice(a):
    y, s, f, t = a * 2, a[0] * 2, float(a[0]) * 2, (a[0] * 3, 3.0)
    v = y[1:]
    same = [id(y) == id(y), id(s) == id(s), id(f) == id(f), id(t) == id(t), id(v) == id(v), id(v.base) == id(y)]
    i = id(y)
    y += 1
    return same, id(y) == i, y, v


def memo_tables(a):
    y = a + 1
    memo = {}
    memo[id(y)] = 1
    hits = 0
    for i in range(3):
        z = a + i
        hits += id(z) in memo
        memo[id(z)] = i
        hits += 10 * (id(z) in memo)
    return id(y) in memo, hits


def carried_on(a):
    y, s = a * 2, a[1] * 2
    first, number = id(y), id(s)
    kept = 0
    for k in range(5):
        kept += (id(y) == first) + 10 * (id(s) == number)
        y += 1
        if k == 2:
            s = s + 1
            number = id(s)
    return kept, y, s


def replaced_in_a_loop(a):
    y = a * 2
    found = 0
    for _ in range(4):
        before = id(y)
        y = y + 1
        found += id(y) == before
        after = id(y)
        found += 10 * (id(y) == after)
    return found, y


def on_one_path(a, is_seen):
    y = a * 2
    i = id(y) if is_seen else 0
    return (i == id(y)) == is_seen, y


def copies_of_numbers(a):
    s = a[0] * 2
    return copy.copy(s) is s, s.__deepcopy__(None) is s, s


def copies_of_arrays(a):
    y = a * 2
    memo = {}
    one, two = copy.deepcopy(y, memo), copy.deepcopy(y, memo)
    return one is two, one is y, copy.deepcopy(y) is y


def names_in_containers(a, o):
    y = a * 2
    pair = [y, y]
    o.y = y
    return pair[0] is pair[1], id(pair[0]) == id(pair[1]), id(y) == id(pair[0]), id(o.y) == id(y), o.y is y


def handed_out_again(d):
    one, two = d.get("x"), d.get("x")
    return one, id(one) == id(two), id(one) == id(d["x"])


def in_a_function(x):
    return id(x)


def through_functions(a):
    y = a * 2
    return in_a_function(y) == in_a_function(y), in_a_function(y) == id(y), np.shares_memory(y[1:], y)


CASES = [
    (seen_twice, lambda: (A,)),
    (memo_tables, lambda: (A,)),
    (carried_on, lambda: (A,)),
    (replaced_in_a_loop, lambda: (A,)),
    (on_one_path, lambda: (A, True)),
    (on_one_path, lambda: (A, False)),
    (copies_of_numbers, lambda: (A,)),
    (copies_of_arrays, lambda: (A,)),
    (names_in_containers, lambda: (A, types.SimpleNamespace())),
    (handed_out_again, lambda: ({"x": np.float64(2.5)},)),
    (through_functions, lambda: (A,)),
]


@pytest.mark.parametrize(("function", "make"), CASES, ids=lambda c: getattr(c, "__name__", ""))
def test_one_object_until_the_end(function, make):
    check(function, make)


def test_one_object_with_the_numpy_backend():
    for function in (seen_twice, carried_on):
        check(function, backend="numpy")


def returned(a):
    y = a * 2
    v = y[1:]
    t = (y, v, a[0] * 3)
    ids = [id(y), id(v), id(t), id(t[2])]
    y[0] = 7
    return y, v, t, ids


def test_returned_objects_are_those_that_were_seen():
    call = accel.compile(returned)
    for _ in range(4):
        y, v, t, ids = call(A)
        assert [id(y), id(v), id(t), id(t[2])] == ids
        assert v.base is y and t[0] is y and t[1] is v and y[0] == 7
    assert facts(call)["interpreted"] == 0


def weakly(a):
    y = a * 2
    r = weakref.ref(y)
    alive = r() is y
    del y
    return alive, r() is None


def with_callbacks(a, log):
    y, z = a * 2, a * 3
    r = weakref.ref(y, lambda _: log.append("y"))
    weakref.finalize(z, log.append, "z")
    other = z
    log.append("before")
    del y
    log.append("between")
    del z
    log.append("one name left")
    del other
    log.append("after")
    return r() is None


@pytest.mark.parametrize(("function", "make"), [(weakly, lambda: (A,)), (with_callbacks, lambda: (A, []))])
def test_objects_die_when_their_last_name_does(function, make):
    check(function, make)


def resized_alone(a):
    x = a * 2
    y = x + 1
    y.resize(9, refcheck=True)
    x.resize(int(y[1]))
    return x, y


def shrink(x):
    x.resize(3)
    return x


def resized_in_a_function(a):
    x = a * 2
    return shrink(x) + 1, x


def count(x, *, other):
    return sys.getrefcount(x), sys.getrefcount(other), other


def counted_in_a_function(a):
    y, z = a * 2, a * 3
    return count(y, other=z), count(z, other=y), sys.getrefcount(y)


def counted_containers(a):
    y, z = a * 2, a * 3
    return sys.getrefcount((y, z, y)), sys.getrefcount(y), sys.getrefcount([z]), y, z


def resized_by_a_call(a):
    x = a * 2
    operator.call(x.resize, (5, 1))
    return x


def resized_with_two_names(a):
    x = a * 2
    y = x
    operator.call(x.resize, (5, 1))
    return x, y


def resized_beside_an_unread_name(a):
    x = a * 2
    y = x  # noqa: F841
    x.resize((5, 1))
    return x


def resized_in_a_loop_beside_an_unread_name(a):
    x = a * 2
    for k in range(3):
        if k == 1:
            y = x  # noqa: F841
        x = x + 1 if k == 0 else x
    x.resize((5, 1))
    return x


def resized_after_a_call(a):
    x = a * 2
    i = id(x)
    operator.call(x.resize, (5, 1))
    return id(x) == i, x


GLOBAL = np.arange(4.0)


def resized_global(a):
    total = GLOBAL.sum() + a.sum()
    operator.call(GLOBAL.resize, (6,))
    operator.call(GLOBAL.resize, (4,))
    return total


def counted(a):
    y = a * 2
    z = y
    pair = [y]
    holders = sys.getrefcount(y), len([r for r in gc.get_referrers(y) if isinstance(r, list)])
    return holders, operator.call(sys.getrefcount, z), pair


@pytest.mark.parametrize(
    "function",
    [
        resized_alone,
        resized_in_a_function,
        counted_in_a_function,
        counted_containers,
        resized_by_a_call,
        resized_with_two_names,
        resized_beside_an_unread_name,
        resized_in_a_loop_beside_an_unread_name,
        resized_after_a_call,
        resized_global,
        counted,
    ],
)
def test_references_are_those_of_the_code(function):
    check(function)


def test_a_call_that_goes_back_keeps_what_was_seen():
    def failing(a, k):
        y = a * 2
        i = id(y)
        y[k] = 1
        return id(y) == i, y

    expected = [result_of(failing, (A, k)) for k in (1, 9)]
    call = accel.compile(failing)
    for _ in range(3):
        assert [result_of(call, (A, k)) for k in (1, 9)] == expected


def seen_in_each_iteration(a, log, n):
    total = 0.0
    for k in range(n):
        y = a * k
        log.append(id(y))
        total += y[0]
    return total


def test_what_no_name_has_any_more_is_freed():
    import tracemalloc

    big = np.ones(200_000)
    call = accel.compile(seen_in_each_iteration)
    for _ in range(3):
        call(big, [], 3)
    tracemalloc.start()
    call(big, [], 30)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 8 * big.nbytes
    assert facts(call)["interpreted"] == 0


def parts_of_dtypes(a):
    made = np.iinfo(np.int32), np.finfo(np.float32), np.dtype("S5"), np.dtype(">f8"), np.dtype("M8[s]"), np.dtype("f8")
    again = np.iinfo(np.int32), np.finfo(np.float32), np.dtype("S5"), np.dtype(">f8"), np.dtype("M8[s]"), np.dtype("f8")
    made[0].note = 3
    return [x is y for x, y in zip(made, again, strict=True)], hasattr(again[0], "note"), a * 2


def parts_handed_out(a):
    return np.iinfo(np.int32), np.finfo(np.float32), np.dtype("S5"), np.dtype(">f8"), np.dtype("M8[s]"), a * 2


def test_objects_that_numpy_makes_for_each_call():
    call = accel.compile(parts_of_dtypes)
    for _ in range(3):
        assert describe(call(A)) == describe(parts_of_dtypes(A))
    call = accel.compile(parts_handed_out)
    made = [call(A) for _ in range(3)]
    plain = [parts_handed_out(A) for _ in range(2)]
    for one, two in [made[:2], made[1:]]:
        assert [x is y for x, y in zip(one, two, strict=True)] == [x is y for x, y in zip(*plain, strict=True)]


class Machine:
    def itself(self, *_):
        return self


def test_calls_at_one_place_that_give_back_different_arguments():
    def given(a, callback, arguments):
        y = a + 1
        z = callback(y, *arguments)
        return y, z is y, type(z).__name__

    call = accel.compile(given)
    for _ in range(2):
        for callback, arguments in (
            (Machine().itself, ()),
            (lambda y: y, ()),
            (lambda *all: all[2], ([1.0], [2.0])),
            (lambda *all: all[1], ([1.0],)),
            (lambda y: 3, ()),
        ):
            for _ in range(2):
                assert describe(call(A, callback, arguments)) == describe(given(A, callback, arguments))
    assert facts(call)["interpreted"] == 0


def test_results_that_only_the_next_call_names():
    def chained(a, first, second):
        total = 0.0
        for i in range(20):
            total += second(first(a + i))
        return total

    made = []

    def first(a):
        return float(a.sum()) * 1.1

    def second(number):
        made.append([float(k) * 1.3 for k in range(50)])
        return number + 0.5

    call = accel.compile(chained)
    for _ in range(4):
        assert call(A, first, second) == chained(A, first, second)
    assert facts(call)["interpreted"] == 0


GIVEN = {"ufunc": np.sin, "array": np.arange(4.0), "number": np.float64(2.5), "list": [1, 2], "none": None, "true": True}
given = GIVEN.get


def test_identity_of_what_calls_give():
    """A call may give an object that exists: the type alone does not tell it from others."""
    ARRAY, NUMBER, LIST = GIVEN["array"], GIVEN["number"], GIVEN["list"]

    def identities(x):
        found = [given("ufunc") is np.sin, given("ufunc") is np.cos, given("ufunc") is not np.sin, given("ufunc") is None]
        found += [given("array") is ARRAY, given("number") is NUMBER, given("list") is LIST, given("list") is given("list")]
        found += [given("none") is None, given("true") is True, given("array") is x, given("ufunc") is given("ufunc")]
        return found, x * 2

    def one(x):
        return given("ufunc") is np.sin, x * 2

    for function in (identities, one):
        call = accel.compile(function)
        x = np.ones(3)
        for _ in range(4):
            assert call(x)[0] == function(x)[0]
        assert accel.stats(call)["compiled"] > 0


def keep_caller(x, kept):
    kept.append(sys._getframe(1))
    return x


def kept_by_a_call(a, kept):
    keep_caller(a * 2, kept)
    return a.sum()


def raising(a, kept):
    y = a * 2
    return y[len(a) + len(kept)]


@pytest.mark.parametrize("function", [kept_by_a_call, raising])
def test_frames_that_outlive_a_call_own_its_arguments(function):
    call = accel.compile(function)
    for _ in range(4):
        a, kept = np.arange(1000.0), []
        alive = weakref.ref(a)
        try:
            call(a, kept)
        except IndexError as error:
            kept.append(error.__traceback__.tb_next.tb_frame)
        del a
        (frame,) = kept
        assert frame.f_code is function.__code__ and alive() is not None
        assert frame.f_locals["a"] is alive() and frame.f_locals["a"][3] == 3.0
        del frame, kept
        gc.collect()
        assert alive() is None
    assert facts(call)["compiled"] == 4 and facts(call)["interpreted"] == 0
