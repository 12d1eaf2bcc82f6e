"""References, threads, recursion, fork and other tools' hooks."""

import gc
import os
import random
import sys
import threading

import accel_frames_test as frames
import pytest
from frame_functions import CASES, S, observe

NAMES = [n for n in CASES if n not in ("many", "free_variables")]


@pytest.mark.parametrize("visible", [False, True])
def test_no_leaks(visible):
    """Hand-overs and exceptions at many places leave no reference and no block behind."""
    cases = [(name, *CASES[name]) for name in NAMES if visible or name != "method"]
    functions = [make() for _, make, _ in cases]
    natives = [[frames.native(f, limit=limit, visible=visible) for limit in range(0, 40, 3)] for f in functions]

    def once(round_number):
        for (_, _, call), variants in zip(cases, natives, strict=True):
            for at in (-1, 3):
                observe(call, variants[round_number % len(variants)], at)
        S.reset()

    def counts():
        gc.collect()
        return [sys.getrefcount(f) for f in functions] + [sys.getrefcount(f.__code__) for f in functions]

    for i in range(30):
        once(i)
    before, blocks = counts(), sys.getallocatedblocks()
    for i in range(260):
        once(i)
    assert counts() == before
    assert sys.getallocatedblocks() - blocks < 1000  # a block left behind by each call would be some 9000


class Alive:
    count = 0

    def __init__(self):
        Alive.count += 1

    def __del__(self):
        Alive.count -= 1


def with_objects(a, b):
    c = (a, b)
    d = [c, a]
    e = {0: d}
    raise ValueError(len(e))


@pytest.mark.parametrize("visible", [False, True])
@pytest.mark.thorough
def test_locals_and_stack_die_with_the_frame(visible):
    for limit in range(20):
        with pytest.raises(ValueError):
            frames.native(with_objects, limit=limit, visible=visible)(Alive(), Alive())
        gc.collect()
        assert Alive.count == 0, limit


kept = []


def keep_caller():
    kept.append(sys._getframe(1))
    return 1


def kept_frame(a, b):
    c = a + b
    keep_caller()
    d = c + 1
    return d


@pytest.mark.parametrize("limit", [-1, *range(22)])
def test_frame_objects_outlive_their_function(limit):
    kept.clear()
    assert frames.native(kept_frame, limit=limit, visible=True)(1, 2) == 4
    f = kept.pop()
    assert f.f_locals == {"a": 1, "b": 2, "c": 3, "d": 4}
    assert f.f_lineno == kept_frame.__code__.co_firstlineno + 4
    assert f.f_back is not None


def work(a, b):
    s = 0
    for i in range(20):
        s += (a + i) * b
        try:
            if i == 13:
                raise KeyError(i)
        except KeyError:
            s += 1
    return s


def work_keywords(a, *rest, b, **more):
    return work(a, b) + len(rest) + len(more)


def in_threads(count, body):
    threads = [threading.Thread(target=body, args=(i,)) for i in range(count)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()


@pytest.mark.parametrize("visible", [False, True])
def test_threads(visible):
    expected, wrong = (work(3, 4), work_keywords(3, 1, 1, b=4, x=2)), []
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)

    def body(seed):
        rng = random.Random(seed)
        for _ in range(300):
            plain = frames.native(work, limit=rng.randrange(120), visible=visible)
            keyword = frames.native(work_keywords, limit=rng.randrange(12), visible=visible)
            got = plain(3, 4), keyword(3, 1, 1, b=4, x=2)
            if got != expected or work(3, 4) != expected[0]:
                wrong.append(got)

    try:
        in_threads(6, body)
    finally:
        sys.setswitchinterval(interval)
    assert not wrong


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # threads of a BLAS that numpy has loaded
def test_fork():
    expected, native = work(3, 4), frames.native(work, limit=33)
    pid = os.fork()
    if pid == 0:
        os._exit(0 if native(3, 4) == expected else 1)
    assert os.waitpid(pid, 0)[1] == 0


def depth_reached(call):
    """How deep a function that calls itself through `call` gets."""
    depth = [0]

    def down(a):
        depth[0] += 1
        return call[0](a + 1) + 1

    call.append(down)
    return depth, down


@pytest.mark.parametrize("limit", [0, 3, 8])
@pytest.mark.parametrize("recursion_limit", [600, 1000, 3000])
def test_recursion_is_as_deep_as_the_interpreters(limit, recursion_limit):
    def reach(wrap):
        call = [None]
        depth, down = depth_reached(call)
        call[0] = wrap(down)
        with pytest.raises(RecursionError):
            call[0](0)
        return depth[0]

    old = sys.getrecursionlimit()
    results = []

    def body(_):
        sys.setrecursionlimit(recursion_limit)
        results.append(reach(lambda f: f))
        results.append(reach(lambda f: frames.native(f, limit=limit)))

    size = threading.stack_size(64 << 20)
    try:
        in_threads(1, body)
    finally:
        threading.stack_size(size)
        sys.setrecursionlimit(old)
    assert abs(results[0] - results[1]) <= 2
    assert frames.has_recursion_room()


def test_a_small_c_stack_ends_in_an_error_not_in_a_crash():
    done = []

    def down(a):
        return call(a + 1) + 1

    call = frames.native(down, limit=0)

    def body(_):
        old = sys.getrecursionlimit()
        sys.setrecursionlimit(100000)
        try:
            call(0)
        except RecursionError:
            done.append(True)
        finally:
            sys.setrecursionlimit(old)

    size = threading.stack_size(1 << 20)
    try:
        in_threads(1, body)
    finally:
        threading.stack_size(size)
    assert done


def test_finalizers_that_run_while_arguments_are_bound():
    """A collection inside the hand-over must not meet the hook."""
    expected = work_keywords(3, 1, 1, b=4, x=2)

    class Cycle:
        def __del__(self):
            finalized.append(work(1, 1))

    finalized = []
    native = frames.native(work_keywords, limit=4)
    old = gc.get_threshold()
    gc.set_threshold(1)
    try:
        for _ in range(100):
            c = Cycle()
            c.me = c
            del c
            assert native(3, 1, 1, b=4, x=2) == expected
        gc.collect()
    finally:
        gc.set_threshold(*old)
    assert len(finalized) == 100 and gc.isenabled()


def count_hooks(a, b):
    hooks.append(frames.has_hook())
    c = work(a, b)
    hooks.append(frames.has_hook())
    return c


hooks = []


@pytest.mark.parametrize("visible", [False, True])
def test_no_hook_stays_installed(visible):
    for limit in range(20):
        hooks.clear()
        assert frames.native(count_hooks, limit=limit, visible=visible)(3, 4) == work(3, 4)
        assert hooks == [False, False] and not frames.has_hook()
    with pytest.raises(SystemError):
        frames.resume([(count_hooks, 0, -1, (), ())], None)
    assert not frames.has_hook()


@pytest.mark.parametrize("visible", [False, True])
def test_a_hook_of_another_tool_stays(visible):
    """It sees the frames that start at their beginning, before, inside and after a frame that was handed over."""

    def body(function):
        work(1, 1)
        result = function(3, 4)
        work(1, 1)
        return result

    for limit in range(0, 20, 2):
        native = frames.native(count_hooks, limit=limit, visible=visible)
        result, counted, installed = frames.with_hook(lambda native=native: body(native))
        assert (result, installed) == (work(3, 4), 1)
        assert counted == 5
