"""bind_arguments gives the locals that CPython gives, and no locals where CPython raises."""

import itertools

import accel_frames_test as frames
import pytest

NULL = frames.NULL


def plain(a, b):
    c = a
    return locals()


def with_defaults(a, b=2, c=3):
    return locals()


def positional_only(a, b=2, /, c=3):
    return locals()


def keyword_only(a, *, b, c=3):
    return locals()


def everything(a, b=2, /, c=3, *args, d, e=5, **kw):
    return locals()


def captured(a, *args, b=1, **kw):
    def inner():
        return a, args, b

    return locals() | {"inner": None}


def no_parameters():
    return locals()


FUNCTIONS = [plain, with_defaults, positional_only, keyword_only, everything, captured, no_parameters]
KEYWORDS = [{}, {"b": 20}, {"c": 30}, {"d": 40}, {"b": 20, "d": 40}, {"a": 10}, {"x": 9, "d": 1}, {"a": 1, "b": 2, "c": 3}]


def reference(function, args, kwargs):
    try:
        found = function(*args, **kwargs)
    except TypeError:
        return None
    names = function.__code__.co_varnames[: frames.describe_locals(function.__code__)[1]]
    return {name: found[name] for name in names}


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_binding(function):
    slots, arguments, *_ = frames.describe_locals(function.__code__)
    fitted = 0
    for count, kwargs in itertools.product(range(6), KEYWORDS):
        args = tuple(range(100, 100 + count))
        expected, got = reference(function, args, kwargs), frames.bind(function, *args, **kwargs)
        if expected is None:
            assert got is None, (args, kwargs)
            continue
        assert dict(zip([name for name, _ in slots[:arguments]], got, strict=False)) == expected
        assert all(value is NULL for value in got[arguments:]) and len(got) == len(slots)
        fitted += 1
    assert fitted


def test_keywords_of_other_string_types():
    class Name(str):
        pass

    assert frames.bind(plain, **{"".join(["a"]): 1, "b": 2})[:2] == [1, 2]
    assert frames.bind(plain, **{Name("a"): 1, "b": 2}) is None


def test_defaults_that_were_replaced():
    def f(a, b=1, *, c=2):
        pass

    f.__defaults__, f.__kwdefaults__ = (7, 8), {"c": 9}
    assert frames.bind(f) == [7, 8, 9]
    f.__kwdefaults__ = None
    assert frames.bind(f) is None


def test_call_original():
    assert frames.call_original(everything, 1, d=4, z=0) == everything(1, d=4, z=0)
    with pytest.raises(TypeError, match="missing 1 required"):
        frames.call_original(plain, 1)


def test_locals_are_described():
    def outer(p):
        q = p

        def free(r):
            s = 1
            return lambda: (p, q, r, s)

        return free

    free = outer(1)
    slots, arguments, free_count, stack, is_generator = frames.describe_locals(free.__code__)
    assert slots == [("r", 1), ("s", 1), ("p", 2), ("q", 2)]
    assert (arguments, free_count, is_generator) == (1, 2, 0) and stack == free.__code__.co_stacksize
    assert frames.describe_locals((x for x in []).gi_code)[-1]
