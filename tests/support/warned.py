"""Compares the warnings of plain and compiled code, each in a module of its own, under all kinds of filters and errstates."""

import contextlib
import gc
import io
import sys
import textwrap
import types
import warnings

import numpy as np
from support.compiled import facts
from support.outcome import copied, describe

import accel

FILENAME = "/code/that/warns.py"
MODULE = "code_that_warns"

# The number of the call before which the warning registries are cleared.
FORGOTTEN = 4

FILTERS = {
    "default": lambda: warnings.simplefilter("default"),
    "always": lambda: warnings.simplefilter("always"),
    "once": lambda: warnings.simplefilter("once"),
    "module": lambda: warnings.simplefilter("module"),
    "ignore": lambda: warnings.simplefilter("ignore"),
    "none": lambda: None,
    "per module": lambda: (
        warnings.simplefilter("ignore"),
        warnings.filterwarnings("always", module=MODULE),
        warnings.filterwarnings("default", module=r"numpy\..*"),
    ),
    "per line": lambda: (warnings.simplefilter("always"), warnings.filterwarnings("ignore", lineno=3)),
    "per message": lambda: (warnings.simplefilter("default"), warnings.filterwarnings("ignore", message="divide")),
}
ERRSTATES = {
    "none": {},
    "ignore": {"all": "ignore"},
    "all": {"all": "warn"},
    "mixed": {"divide": "ignore", "over": "warn"},
}


def module_of(source):
    """New globals of a module with this source."""
    namespace = {"__name__": MODULE, "np": np}
    exec(compile(textwrap.dedent(source), FILENAME, "exec"), namespace)
    return namespace


def registries():
    """Names and warning registries of NumPy's modules; warnings in a registry are not shown again."""
    for name, module in list(sys.modules.items()):
        if name.startswith("numpy") and getattr(module, "__warningregistry__", None):
            yield name, module.__warningregistry__


def forget():
    for _, registry in registries():
        registry.clear()


def seen(namespace):
    found = {name: dict(r) for name, r in [(MODULE, namespace.get("__warningregistry__", {})), *registries()]}
    found = {name: {k: v for k, v in r.items() if k != "version"} for name, r in found.items()}
    return {name: r for name, r in found.items() if r}


def printing_function():
    """The function of `warnings` that prints, which a test runner has replaced in the module."""
    name = "_showwarnmsg_impl"
    functions = (o for o in gc.get_objects() if isinstance(o, types.FunctionType) and o.__name__ == name)
    defining = sys.modules.get("_py_warnings", warnings)  # since 3.14
    return next(f for f in functions if f.__globals__ is vars(defining))


@contextlib.contextmanager
def printed():
    """Replaces sys.stderr by a stream of its kind; the list receives the printed text."""
    stream, before, out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True), sys.stderr, []
    sys.stderr = stream
    try:
        yield out
    finally:
        sys.stderr = before
        out.append(stream.buffer.getvalue())


def one_call(call, arguments, namespace, record):
    """The effects of a call: result, changed arguments, warnings, printed text, contents of the registries."""
    passed = [copied(a) for a in arguments]
    with printed() as text:
        if record:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                result = call(*passed)
            warned = [(w.category, str(w.message), w.filename, w.lineno) for w in caught]
        else:
            result, warned = call(*passed), None
    parts = {"result": describe(result, passed), "arguments": [describe(a) for a in passed], "warned": warned}
    return {**parts, "printed": text[0], "registry": seen(namespace)}


def run(source, cases, filters, errstate, compiled):
    """The effects of each call, in order, and the compiled function, if `compiled`."""
    namespace = module_of(source)
    call = accel.compile(namespace["f"]) if compiled else namespace["f"]
    forget()
    out = []
    with warnings.catch_warnings(), np.errstate(**ERRSTATES[errstate]):
        record = filters == "record"
        if not record:
            warnings._showwarnmsg_impl = printing_function()
            FILTERS[filters]()
        for number, arguments in enumerate(cases):
            if number == FORGOTTEN:
                with warnings.catch_warnings():
                    pass
            before = facts(call) if compiled else None
            out.append(one_call(call, arguments, namespace, record))
            if compiled:
                found = facts(call)
                out[-1]["whole"] = all(found[k] == before[k] for k in ("interpreted", "side_exits"))
    return out, call


def check_warned(source, *arguments, filters="record", errstate="none", times=6, stays=True):
    """Asserts that repeated calls of the source's `f` with the same arguments warn alike. `stays`: all calls run compiled but
    the first two, which find out that there are warnings, and one more after the registries are cleared."""
    cases = [arguments] * times
    expected, _ = run(source, cases, filters, errstate, False)
    found, call = run(source, cases, filters, errstate, True)
    for number, (want, got) in enumerate(zip(expected, found, strict=True)):
        for part in want:
            texts = f"  accel: {got[part]!r:.900}\n  NumPy: {want[part]!r:.900}"
            assert got[part] == want[part], f"call {number + 1}: {part}\n{texts}"
    if stays:
        whole = [got["whole"] for got in found]
        assert all(whole[2:FORGOTTEN] + whole[FORGOTTEN + 1 :]), (
            f"left to the interpreter: {whole}\n{accel.explain(call)(*arguments)}"
        )
    return expected
