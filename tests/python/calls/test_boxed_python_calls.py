"""Calls of Python objects that compiled code makes at their place: order of effects, arguments, results, and what a callee
may do.
"""

import logging
import sys
import time
import warnings

import numpy as np
import pytest
from support.compiled import facts
from support.python_calls import Callback, check_calls, run

import accel

# --- print --------------------------------------------------------------------------------------------------------------------


def test_print_in_straight_line_code():
    def function(x):
        y = x * 2 + 1
        print("sum", 3, y.sum(), x.shape, None, sep="|")
        return y.sum()

    check_calls(function, lambda: (np.arange(10.0),), fullgraph=True)


def test_print_in_a_loop_in_order_with_stores():
    def function(x, n):
        s = 0.0
        for k in range(n):
            x[k] = x[k] * 2
            s = s + x[k]
            print("step", k, s, x)
        return s

    check_calls(function, lambda: (np.arange(5.0), 5), fullgraph=True)


def test_print_of_fresh_arrays_in_branches():
    def function(x, n):
        y = x + 1
        for k in range(n):
            y = y * 1.5
            if k % 2 == 0:
                print(k, y.sum(), y, y[1:], y.reshape(2, 2).T)
            else:
                print("odd", -k)
        return y

    check_calls(function, lambda: (np.arange(4.0), 6), fullgraph=True)


def test_numpy_scalars_keep_their_types():
    def function(x, k):
        print([x[0], x.sum(), k + 1, float(x[1]), x[0] > 1, k > 0, (k, x.sum()), {"a": x[0]}, slice(0, k + 2)])
        return k

    check_calls(function, lambda: (np.arange(3, dtype="f4"), 4))
    check_calls(function, lambda: (np.arange(3, dtype="i2"), 4))
    check_calls(function, lambda: (np.arange(3) * 1j, 4), whole=False)


def test_float_events_come_before_the_call():
    def function(x):
        y = 1.0 / x
        print("after the division")
        return y

    check_calls(function, lambda: (np.array([1.0, 2.0]),), fullgraph=True)
    check_calls(function, lambda: (np.array([1.0, 0.0]),), whole=False)


def test_float_events_after_the_call():
    def function(x, n):
        total = 0.0
        for k in range(n):
            print("before", k)
            x[k] = 1.0 / x[k]
            total += x[k]
        print("end")
        return total

    check_calls(function, lambda: (np.array([1.0, 2.0, 0.0, 4.0]), 4), whole=False)
    check_calls(function, lambda: (np.array([1.0, 2.0, 3.0, 4.0]), 4), fullgraph=True)


def test_errors_after_the_call():
    def function(x, n):
        y = x * 2
        for k in range(n):
            print("round", k)
            x[k] += 1
            y[k] += x[k]
        return y

    check_calls(function, lambda: (np.zeros(3), 3), fullgraph=True)
    check_calls(function, lambda: (np.zeros(3), 5), whole=False)


def test_print_of_formatted_numbers():
    def function(x, n, scale):
        for k in range(n):
            x = x * scale
            print(f"step {k:3d}: {x.sum():.3e} {x[0]!r:>16} {float(x[1])} {scale:{'>10'}} {k!s:>{4}} {x[2] > 1} {k}{k + 1}")
        return f"{x.sum():.2f}", f"{n}", x

    check_calls(function, lambda: (np.arange(3.0), 3, 0.5), fullgraph=True)
    check_calls(function, lambda: (np.arange(3, dtype="f4"), 3, np.float32(0.5)), fullgraph=True)


def test_texts_are_texts():
    def function(x, n):
        text = f"{x.sum():.1f}"
        if n > 2:
            text = f"{text} and {n}"
        print(text, isinstance(text, str), type(text) is str)
        return text

    def wrong(x):
        return f"{x.sum():d}"

    def letter(x, k):
        return f"{k:c}"

    check_calls(function, lambda: (np.arange(3.0), 3))
    check_calls(function, lambda: (np.arange(3.0), 1))
    check_calls(wrong, lambda: (np.arange(3.0),), whole=False)
    check_calls(letter, lambda: (np.arange(3.0), 65), whole=False)
    check_calls(letter, lambda: (np.arange(3.0), -1), whole=False)


def test_print_from_a_function_that_is_inlined():
    def show(what, value):
        doubled = value * 2
        print(what, doubled)
        return doubled + 1

    def function(x, n):
        s = 0.0
        for k in range(n):
            s += show("value", x[k])
        return s

    check_calls(function, lambda: (np.arange(4.0), 4), fullgraph=True)


def test_a_print_that_raises():
    class Broken:
        def write(self, text):
            if "2" in text:
                raise OSError("full")

        def flush(self):
            pass

    def function(x, n, file):
        done = 0
        try:
            for k in range(n):
                x[k] = 7.0
                print(k, file=file)
                done = done + 1
        except OSError as error:
            return done, str(error)
        finally:
            x[-1] = -1.0
        return done

    def bare(x, n, file):
        for k in range(n):
            x[k] += 1
            print(k, file=file)
        return x

    check_calls(function, lambda: (np.zeros(6), 5, Broken()), whole=False)
    check_calls(bare, lambda: (np.zeros(6), 5, Broken()), whole=False)


# --- functions that are not inlined -------------------------------------------------------------------------------------------


def test_functions_of_numpy_without_a_compiled_form():
    def function(x, n):
        s = 0.0
        for k in range(n):
            values = np.unique(np.floor(x * k))
            s = s + values.sum() + np.histogram(x, bins=3)[0].sum()
        return s

    check_calls(function, lambda: (np.arange(9.0) % 4, 3), whole=False)


def test_a_function_that_changes_its_callers_dict():
    def helper(x, log):
        s = x.sum()
        log[len(log)] = s
        return s * 2

    def function(x, n, log):
        t = 0.0
        for k in range(n):
            x = x + 1
            t += helper(x, log)
        return t, x

    def outcome(target):
        log = {}
        return target(np.arange(3.0), 4, log)[0], log

    call = accel.compile(function, fullgraph=True)
    for _ in range(4):
        assert outcome(call) == outcome(function)
    assert facts(call)["interpreted"] == 0 and facts(call)["side_exits"] == 1


def test_lists_that_grow_beside_calls():
    def act(y):
        y[0] = 100.0

    def of_arrays(x, n, callback):
        out = []
        for k in range(n):
            y = x * k
            out.append(y)
            callback(y)
        return out

    def of_numbers(x, n, callback):
        out = []
        for k in range(n):
            y = x * k
            out.append(y.sum())
            callback(y)
            y[1] += 1
        return out, y

    def given(x, n, callback):
        out = []
        for k in range(n):
            out.append(x.sum() * k)
            callback(out)
        return out

    check_calls(of_arrays, lambda: (np.arange(3.0), 4, Callback(act)), whole=False)
    check_calls(of_numbers, lambda: (np.arange(3.0), 4, Callback(act)), whole=False)
    check_calls(given, lambda: (np.arange(3.0), 4, Callback(lambda out: out.append(1.0))), whole=False)


# --- frames -------------------------------------------------------------------------------------------------------------------


def test_callees_see_the_frames():
    seen = []

    def act():
        frame = sys._getframe(2)
        seen.append(
            (frame.f_code.co_name, frame.f_lineno, frame.f_back.f_code.co_name, frame.f_locals["k"], frame.f_locals["n"])
        )

    def inner(n, callback):
        total = 0
        for k in range(n):
            total += k
            callback()
        return total + k + n

    def function(x, n, callback):
        return x.sum() + inner(n, callback)

    def make():
        seen.append("call")
        return np.ones(3), 3, Callback(act)

    call = accel.compile(function)
    run(function, make)
    expected = list(seen)
    for _ in range(3):
        seen.clear()
        run(call, make)
        assert seen[1:3] == [(name, line, back if back != "run" else "run", k, n) for name, line, back, k, n in expected[1:3]]
    assert facts(call)["interpreted"] == 0 and facts(call)["side_exits"] == 0


def test_a_frame_that_is_kept_stays_alive():
    kept = []

    def function(x, n, callback):
        y = x * 2
        for k in range(n):
            y = y + k
            callback()
        return y.sum()

    call = accel.compile(function)
    for target in (function, call, call):
        kept.clear()
        assert target(np.ones(3), 3, Callback(lambda: kept.append(sys._getframe(2)))) == 15.0
        assert len(set(map(id, kept))) == 1 and kept[0].f_code is function.__code__


def test_warnings_of_callees_name_the_line():
    def act():
        warnings.warn("from the callee", UserWarning, stacklevel=3)

    def function(x, n, callback):
        y = x + 1
        for k in range(n):
            y += k
            callback()
        return y

    check_calls(function, lambda: (np.ones(3), 2, Callback(act)), fullgraph=True)


def test_logging_names_the_line(caplog):
    log = logging.getLogger("accel.test")

    def function(x, n):
        y = x + 1
        for k in range(n):
            y += k
            log.info("round %d", k)
        return y

    call = accel.compile(function)
    with caplog.at_level(logging.INFO):
        for target in (function, call, call):
            caplog.clear()
            target(np.ones(3), 2)
            told = [(r.getMessage(), r.funcName, r.lineno) for r in caplog.records]
            assert told == [(f"round {k}", "function", function.__code__.co_firstlineno + 4) for k in range(2)]


# --- results ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("result", [None, True, 3, 2.5, 1j, np.float32(1.5), np.int64(4)])
def test_results_of_one_type(result):
    def function(x, n, callback):
        s = 0.0
        for k in range(n):
            given = callback(k)
            if given is not None:
                s = s + given * x[k]
        return s, given

    check_calls(function, lambda: (np.arange(4.0), 4, Callback(lambda k: result)), fullgraph=True, learns=1)


def test_results_that_are_arrays():
    def function(x, n, callback):
        for k in range(n):
            x = callback(x) + x[: x.size]
        return x

    check_calls(function, lambda: (np.arange(4.0), 3, Callback(lambda x: x * 2 + 1)), fullgraph=True, learns=1)


def test_results_of_changing_types():
    def function(x, n, callback):
        s = 0.0
        for k in range(n):
            s = s + callback(k) * x[k]
        return s

    def act(k):
        return 2.5 if k < 2 else 3 if k == 2 else np.float32(1.1)

    check_calls(function, lambda: (np.arange(5.0), 5, Callback(act)), whole=False)


def test_results_that_are_kept_elsewhere():
    buffer = np.zeros(3)

    def act(k):
        buffer[:] += k + 1
        return buffer

    def function(x, n, callback):
        first = callback(0)
        for k in range(n):
            second = callback(k)
            x = x + first + second
        return x

    def make():
        buffer[:] = 0
        return np.ones(3), 3, Callback(act)

    check_calls(function, make, whole=False)


def test_objects_as_results():
    def function(x, callback):
        y = x * 2
        name = callback("a")
        print(name.upper(), y.sum())
        return y, name

    check_calls(function, lambda: (np.ones(3), Callback(lambda text: text + "b")), whole=False)


def test_clocks():
    def function(x, n):
        start = time.perf_counter()
        for _ in range(n):
            x = x * 1.5
        return x, time.perf_counter() - start >= 0

    call = accel.compile(function, fullgraph=True)
    for _ in range(4):
        y, later = call(np.ones(3), 4)
        assert later is True and y.tolist() == [1.5**4] * 3
    assert facts(call)["interpreted"] == 0


def test_numbers_that_a_loop_of_numpy_reads_before_a_call():
    def one_by_one(x, note):
        whole = np.array(3)
        half = np.array(x[0])
        note(np.dot(whole.reshape(1, 1), whole.reshape(1, 1)), whole)
        note(np.matmul(half.reshape(1, 1), half.reshape(1, 1)), half)
        return whole, half

    noted = []
    call = accel.compile(one_by_one)
    for _ in range(2):
        assert [part.tolist() for part in call(np.array([0.5]), lambda *seen: noted.extend(seen))] == [3, 0.5]
    assert [part.tolist() for part in noted] == 2 * [[[9]], 3, [[0.25]], 0.5]
    assert facts(call)["compiled"] == 2
