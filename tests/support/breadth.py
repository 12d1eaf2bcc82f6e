"""The page of what is compiled: each public function and method of NumPy is called in a compiled function, without a C++
compiler.
"""

import contextlib
import io
import re
import warnings

import numpy as np
from support import breadth_calls as calls
from support.outcome import describe

import accel

KINDS = {
    "compiled": "an operation of the graph, or a few",
    "traced": "NumPy implements it in Python: compiled code has what that does",
    "boxed": "compiled code calls NumPy at its place, or a part of it",
    "interpreted": "the call leaves compiled code",
}
ARGUMENTS = tuple(calls.arguments())


def parsed(text, default):
    """Name and expression of each line; names without an expression are called as `default` says."""
    found = {}
    for line in text.strip().splitlines():
        names, _, expression = line.partition(": ")
        *alone, last = names.split()
        found |= {name: default.format(name) for name in ([*alone, last] if not expression else alone)}
        if expression:
            found[last] = expression
    return found


def ufunc_call(name):
    function = getattr(np, name)
    if function.signature is not None:
        operands = {"matmul": "m, v", "matvec": "m, v", "vecmat": "v, m"}.get(name, "x, y")
    elif name == "isnat":
        operands = 'np.array(["2011-01"], "M8[D]")'
    elif name == "ldexp":
        operands = "x, n"
    elif "dd->" in " ".join(function.types) or "d->" in " ".join(function.types):
        operands = "x, y" if function.nin == 2 else "x + 1" if name in ("arccosh", "acosh") else "x"
    else:
        operands = "n, n" if function.nin == 2 else "n"
    return f"np.{name}({operands})"


def sections():
    """For each part of NumPy: its name, its public names and the calls."""
    draws = parsed(calls.DRAWS, "")
    functions = {name for name in np.__all__ if is_function(getattr(np, name, None))} - {"test"}
    ufuncs = {name for name in np.__all__ if isinstance(getattr(np, name, None), np.ufunc)}
    yield "numpy", functions, parsed(calls.NUMPY, "np.{}(x)")
    yield "numpy, ufuncs", ufuncs, {name: ufunc_call(name) for name in ufuncs}
    yield "ufunc", {n for n in dir(np.ufunc) if is_method(np.ufunc, n)}, parsed(calls.UFUNC_METHODS, "")
    yield "ndarray", {n for n in dir(np.ndarray) if not n.startswith("_")}, parsed(calls.METHODS, "x.{}()")
    yield "numpy.linalg", functions_of(np.linalg), parsed(calls.LINALG, "")
    yield "numpy.fft", functions_of(np.fft), parsed(calls.FFT, "np.fft.{}(x)")
    yield "numpy.emath", functions_of(np.emath), parsed(calls.EMATH, "np.emath.{}(x)")
    generator = {name: f"rng.{name}{given}" for name, given in draws.items()} | parsed(calls.GENERATOR, "")
    yield "numpy.random.Generator", {n for n in dir(np.random.Generator) if not n.startswith("_")}, generator
    random = {name: f"np.random.{name}{given}" for name, given in draws.items()} | parsed(calls.RANDOM, "")
    yield "numpy.random", functions_of(np.random), random


def is_function(value):
    return callable(value) and not isinstance(value, type | np.ufunc)


def is_method(kind, name):
    return not name.startswith("_") and callable(getattr(kind, name))


def functions_of(module):
    return {name for name in module.__all__ if is_function(getattr(module, name))}


def is_python(function):
    """Whether NumPy implements the function in Python, and not only the dispatch on its arguments."""
    inner = getattr(function, "__wrapped__", None) or getattr(function, "_implementation", None) or function
    code = getattr(inner, "__code__", None)
    return code is not None and not code.co_filename.endswith(("multiarray.py", "overrides.py"))


def called(expression):
    """The NumPy function that the expression calls; None for a method or an attribute."""
    name = re.match(r"np((?:\.\w+)+)\(", expression)
    found = np
    for part in name.group(1)[1:].split(".") if name else ():
        found = getattr(found, part)
    return found if name else None


def kind_of(expression):
    """How a call of the expression is answered in a function that also computes arrays."""
    namespace = {"np": np}
    exec(f"def call({', '.join(ARGUMENTS)}):\n    return {expression}, x + y", namespace)
    function = accel.compile(namespace["call"], backend="numpy")
    silent = contextlib.redirect_stdout(io.StringIO())
    with warnings.catch_warnings(), np.errstate(all="ignore"), silent:
        warnings.simplefilter("ignore")
        for _ in range(3):  # the first call observes the results of calls of unknown code
            run(function)
    record = accel._accel.record(function)
    version = record["versions"][-1] if record["versions"] else {"full": False}
    counters = record["counters"]
    if not version["full"] or counters["compiled"] == 0:
        return "interpreted"
    if any("callable" in operation for operation in version["operations"]):
        return "boxed"
    return "traced" if is_python(called(expression)) else "compiled"


def run(function):
    try:
        return describe(function(**calls.arguments())[0])
    except Exception as error:
        return type(error), str(error)


def kinds():
    """(section, name, kind) of every public name that this NumPy has and that has a call."""
    state = np.random.get_state(), np.get_printoptions()
    try:
        for section, names, table in sections():
            for name in sorted(names & set(table)):
                yield section, name, kind_of(table[name])
    finally:
        np.random.set_state(state[0])
        np.set_printoptions(**state[1])


def page():
    """The text of docs/breadth.md, without its first line."""
    found = {}
    for section, name, kind in kinds():
        found.setdefault(section, {}).setdefault(kind, []).append(name)
    text = ["# What is compiled", ""]
    text += [
        f"How one ordinary call of each public function and method of NumPy {minor()} is answered within a compiled function."
    ]
    text += ["Other arguments may be answered otherwise: [`accel.explain`](api.md) tells.", ""]
    text += ["| | |", "|---|---|", *(f"| {kind} | {what} |" for kind, what in KINDS.items()), ""]
    for section, by_kind in found.items():
        count = sum(map(len, by_kind.values()))
        text += [f"## {section}", "", f"{count} names: " + counts(by_kind) + ".", "", "| | |", "|---|---|"]
        text += [f"| {kind} | {', '.join(f'`{name}`' for name in by_kind[kind])} |" for kind in KINDS if kind in by_kind]
        text.append("")
    return "\n".join(text)


def minor():
    return ".".join(np.__version__.split(".")[:2])


def kinds_on(text):
    """{(section, name): kind} of a page."""
    found, section = {}, ""
    for line in text.splitlines():
        if line.startswith("## "):
            section = line[3:]
        cells = line.split(" | ")
        if section and len(cells) == 2:
            kind = cells[0].removeprefix("| ")
            found |= {(section, name): kind for name in re.findall(r"`(\w+)`", cells[1])}
    return found


def counts(by_kind):
    return ", ".join(f"{len(by_kind[kind])} {kind}" for kind in KINDS if kind in by_kind)
