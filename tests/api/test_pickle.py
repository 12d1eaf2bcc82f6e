"""Pickling compiled functions: source travels, never machine code."""

import pickle
import subprocess
import sys

import numpy as np
import pytest
from support import pickled_functions

import accel

cloudpickle = pytest.importorskip("cloudpickle")
X = np.arange(4.0)


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("module", [pickle, cloudpickle])
def test_decorated_functions_go_by_reference(module, protocol):
    data = module.dumps(pickled_functions.decorated, protocol=protocol)
    assert pickle.loads(data) is pickled_functions.decorated
    assert len(data) < 200
    data = module.dumps(pickled_functions.Holder.method, protocol=max(protocol, 4))
    assert pickle.loads(data) is pickled_functions.Holder.method


def test_a_function_under_another_name_is_made_again():
    loaded = pickle.loads(pickle.dumps(pickled_functions.assigned))
    assert loaded.__wrapped__ is pickled_functions.plain
    assert np.array_equal(loaded(X), X * 3) and accel.stats(loaded)["compiled"] == 1


def test_local_functions():
    factor = 3.0
    call = accel.compile(lambda x: x * factor, fullgraph=True, dynamic=False)
    call.note = "kept"
    with pytest.raises((AttributeError, pickle.PicklingError)):
        pickle.dumps(call)
    loaded = pickle.loads(cloudpickle.dumps(call))
    assert np.array_equal(loaded(X), X * 3) and loaded.note == "kept"
    options = accel._accel.options(loaded)
    assert options["fullgraph"] and options["dynamic"] is False


def test_backend_travels():
    call = accel.compile(lambda x: x + 1, backend="numpy")
    assert accel._accel.options(pickle.loads(cloudpickle.dumps(call)))["backend_name"] == "numpy"


MAIN = """
import pickle, sys
import cloudpickle
import numpy as np
import accel

SCALE = 2.0

@accel.compile
def f(x, depth=1):
    return f(x * SCALE, depth - 1) if depth else x + 1

assert pickle.loads(pickle.dumps(f)) is f
sys.stdout.buffer.write(cloudpickle.dumps(f))
"""


def test_functions_of_main_go_by_value_with_cloudpickle():
    data = subprocess.run([sys.executable, "-c", MAIN], capture_output=True, check=True).stdout
    loaded = pickle.loads(data)
    assert loaded is not getattr(sys.modules["__main__"], "f", None)
    assert np.array_equal(loaded(X), X * 2 + 1)
    assert np.array_equal(loaded(X, depth=0), X + 1)


def test_registered_modules_go_by_value():
    cloudpickle.register_pickle_by_value(pickled_functions)
    try:
        loaded = pickle.loads(cloudpickle.dumps(pickled_functions.decorated))
    finally:
        cloudpickle.unregister_pickle_by_value(pickled_functions)
    assert loaded is not pickled_functions.decorated and np.array_equal(loaded(X), X * 2 + 1)
