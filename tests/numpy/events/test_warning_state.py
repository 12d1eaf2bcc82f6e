"""What becomes of warnings changes between calls in every way that Python has: each call finds the state of its own time."""

import io
import sys
import threading
import warnings

import numpy as np
import pytest
from support.compiled import facts
from support.warned import MODULE, module_of, printing_function

import accel

SOURCE = """
def quotient(x, y):
    return x / y

def in_place(x, y):
    x /= y
    x += 1.0

def in_place_alone(x, y):
    x /= y

def several(x, y):
    return np.sqrt(x / y) - np.log(y)
"""
NAMES = ["quotient", "in_place", "in_place_alone", "several"]
QUIET = np.linspace(1, 2, 6)
ZEROS = np.array([1.0, 0, 2, 0, 3, 1])


class Watched:
    """What a run of all steps has seen: of each call, and what others saw of the array that it works on."""

    def __init__(self):
        self.log, self.array = [], None

    def look(self, what):
        self.log.append((what, self.array.tolist()))


class Stream:
    """A stream that is Python code, which looks at the array."""

    def __init__(self, watched, closed=None):
        self.watched = watched
        if closed is not None:
            self.closed = closed

    def write(self, text):
        if text.strip():
            self.watched.look(text.split(":", 2)[-1][:40])

    def flush(self):
        pass


class Sink(io.RawIOBase):
    """The same after a stream that is C code."""

    def __init__(self, watched):
        self.watched = watched

    def writable(self):
        return True

    def write(self, data):
        self.watched.look(bytes(data).split(b":", 2)[-1][:20])
        return len(data)


def filtered(*actions):
    def change(watched, namespace):
        warnings.resetwarnings()
        for action in actions:
            warnings.simplefilter(action, append=True)

    return change


def by_message(watched, namespace):
    warnings.filterwarnings("error", message="divide by zero")


def by_module(watched, namespace):
    warnings.filterwarnings("ignore", module=MODULE)


def emptied_list(watched, namespace):
    warnings.filters[:] = []


def other_list(watched, namespace):
    warnings.filters = [("always", None, RuntimeWarning, None, 0)]


def item_of_list(watched, namespace):
    warnings.filters[0] = ("error", None, RuntimeWarning, None, 0)


def grown_list(watched, namespace):
    warnings.filters.insert(0, ("default", None, RuntimeWarning, None, 0))


def default_action(watched, namespace):
    warnings.filters[:] = []
    warnings.defaultaction = "always"


def shown_by_function(watched, namespace):
    warnings.simplefilter("always")
    warnings.showwarning = lambda message, *rest, **more: watched.look(str(message))


def shown_as_before(watched, namespace):
    warnings.showwarning = warnings._showwarning_orig


def formatted_by_function(watched, namespace):
    warnings.formatwarning = lambda message, *rest, **more: watched.look("formatted") or f"{message}\n"


def formatted_as_before(watched, namespace):
    warnings.formatwarning = warnings._formatwarning_orig


def standard_error(make):
    def change(watched, namespace):
        sys.stderr = make(watched)

    return change


def part_closed(*path):
    def change(watched, namespace):
        part = sys.stderr
        for name in path:
            part = getattr(part, name)
        part.close()

    return change


def detached(watched, namespace):
    sys.stderr.detach()


def no_standard_error(watched, namespace):
    del sys.stderr


def of_text(watched):
    return io.TextIOWrapper(io.BytesIO(), write_through=True)


def registry_cleared(watched, namespace):
    namespace.get("__warningregistry__", {}).clear()


def registry_gone(watched, namespace):
    namespace.pop("__warningregistry__", None)


def in_thread(change):
    def changed(watched, namespace):
        thread = threading.Thread(target=change, args=(watched, namespace))
        thread.start()
        thread.join()

    return changed


def steps_of(path):
    def of_file(watched):
        return open(path, "w")  # noqa: SIM115

    return [
        filtered("always"),
        filtered("ignore"),
        filtered("default"),
        registry_cleared,
        registry_gone,
        by_message,
        filtered("once"),
        by_module,
        emptied_list,
        other_list,
        item_of_list,
        grown_list,
        default_action,
        in_thread(filtered("ignore")),
        in_thread(filtered("always")),
        shown_by_function,
        shown_as_before,
        formatted_by_function,
        formatted_as_before,
        standard_error(Stream),
        standard_error(lambda watched: Stream(watched, True)),
        standard_error(lambda watched: io.StringIO()),
        part_closed(),
        standard_error(of_text),
        part_closed("buffer"),
        standard_error(of_text),
        detached,
        standard_error(lambda watched: io.TextIOWrapper(io.BufferedWriter(Sink(watched)), write_through=True)),
        standard_error(lambda watched: io.TextIOWrapper(Sink(watched), write_through=True)),
        standard_error(of_file),
        part_closed("buffer", "raw"),
        in_thread(standard_error(of_file)),
        no_standard_error,
        standard_error(lambda watched: None),
        standard_error(lambda watched: Stream(watched, False)),
        standard_error(lambda watched: 5),
        standard_error(of_text),
        lambda watched, namespace: np.seterr(divide="ignore"),
        lambda watched, namespace: np.seterr(divide="raise", invalid="warn"),
        lambda watched, namespace: np.seterr(divide="warn"),
        filtered("error"),
        filtered("default"),
    ]


def one_call(call, values, watched):
    x = watched.array = QUIET.copy()
    try:
        result, error = call(x, values), None
    except Exception as raised:
        result, error = None, (type(raised), str(raised))
    return repr(result), x.tolist(), error


def text_of(stream):
    try:
        return stream.getvalue() if isinstance(stream, io.StringIO) else stream.buffer.getvalue()
    except (AttributeError, ValueError):
        return None


def run(steps, compiled):
    namespace, watched = module_of(SOURCE), Watched()
    calls = {name: accel.compile(namespace[name]) if compiled else namespace[name] for name in NAMES}
    left = []

    def all_calls(what):
        for name, call in calls.items():
            before = facts(call)["interpreted"] if compiled else 0
            quiet = one_call(call, QUIET, watched)
            if compiled and facts(call)["interpreted"] != before:
                left.append((what, name))
            watched.log.append((what, name, quiet, one_call(call, ZEROS, watched), one_call(call, ZEROS, watched)))
        registry = namespace.get("__warningregistry__", {})
        watched.log.append((what, [key for key in registry if key != "version"], text_of(getattr(sys, "stderr", None))))

    stream, errors, action = sys.stderr, np.geterr(), warnings.defaultaction
    try:
        with warnings.catch_warnings():
            warnings._showwarnmsg_impl = printing_function()
            sys.stderr = of_text(watched)
            for number, step in enumerate(steps):
                step(watched, namespace)
                all_calls(number)
                with warnings.catch_warnings():
                    warnings.simplefilter("error")
                    all_calls((number, "error"))
                if number % 4 == 0:
                    with warnings.catch_warnings(record=True) as caught:
                        warnings.simplefilter("always")
                        all_calls((number, "record"))
                    watched.log.append([(str(w.message), w.filename, w.lineno) for w in caught])
                all_calls((number, "again"))
    finally:
        sys.stderr, warnings.defaultaction = stream, action
        np.seterr(**errors)
    return watched.log, left, calls


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_the_state_changes_between_calls(tmp_path):
    expected, _, _ = run(steps_of(tmp_path / "plain"), False)
    found, left, calls = run(steps_of(tmp_path / "compiled"), True)
    for want, got in zip(expected, found, strict=True):
        assert got == want
    assert {name for _, name in left} <= set(NAMES) and len(left) < len(expected) // 8, left
    for name, call in calls.items():
        assert facts(call)["compiled"] > 200, (name, facts(call))
