"""Lazy imports (PEP 810): the interpreter imports where it loads the name; compiled code waits for that."""

import itertools
import sys
import types

import numpy as np
import pytest
from support.compiled import facts
from support.outcome import assert_same

import accel

SOURCE = """
lazy import numpy as np
lazy from numpy import sqrt, add
lazy import module_that_does_not_exist
lazy import lazily_imported

def attribute(x):
    return np.sin(x) * 2 + sqrt(x)

def argument(x):
    y = x + 1
    return y, add(x, y)

def failing(x):
    y = x + 1
    try:
        return module_that_does_not_exist.y, y
    except ImportError as e:
        return type(e).__name__, y

def left_out(x):
    return x * 2 if len(x) < 100 else x * lazily_imported.factor

def called(x):
    def scaled():
        return np.cos(x) * 3
    return scaled() + 1
"""

MODULE_SOURCE = """
import lazy_names

def of_a_module(x):
    return lazy_names.np.cos(x) + lazy_names.sqrt(x)

def from_a_module(x):
    from lazy_names import add
    return add(x, 2.0)
"""


def module(name, source):
    made = types.ModuleType(name)
    exec(compile(source, f"{name}.py", "exec"), vars(made))
    return made


numbers = itertools.count()


def functions():
    """Of modules that nothing has used yet."""
    name = f"lazy_names_{next(numbers)}"
    lazy = sys.modules[name] = module(name, SOURCE)
    return {**vars(lazy), **vars(module(f"user_of_{name}", MODULE_SOURCE.replace("lazy_names", name)))}


@pytest.mark.skipif(sys.version_info < (3, 15), reason="a later syntax")
@pytest.mark.parametrize("name", ["attribute", "argument", "failing", "left_out", "called", "of_a_module", "from_a_module"])
def test_lazy_imports(name):
    x = np.arange(5.0)
    call = accel.compile(functions()[name])
    assert_same(functions()[name], call, x, times=4)
    assert "lazily_imported" not in sys.modules
    before = facts(call)
    call(x)
    assert facts(call)["interpreted"] == before["interpreted"]
    assert name == "failing" or facts(call)["side_exits"] == before["side_exits"], accel.explain(call)(x)
