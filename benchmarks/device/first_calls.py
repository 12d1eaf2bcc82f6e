"""What only a new process shows: first calls with an empty and with a filled cache, and calls on the CPU beside a device."""

import statistics
import tempfile

from benchmarks.processes import python

FUNCTIONS = {"kmeans": "kmeans", "black_scholes": "black_scholes", "softmax": "softmax_1e4x1e4_axis1"}
COLD, WARM = 0.5, 0.030  # bars in seconds, the context not counted
TIMES = 3

FIRST_CALL = """
import json, time
begin = time.perf_counter()
import numpy as np
import accel
accel.to_device(np.zeros(8)).numpy()
context = time.perf_counter() - begin
from benchmarks.device.rows import all_rows
row = all_rows()[{row!r}]
arguments = [accel.to_device(a) if isinstance(a, np.ndarray) else a for a in row.inputs(True)]
call = accel.compile(row.function)
seconds = []
for _ in range(2):
    begin = time.perf_counter()
    call(*arguments)
    accel.synchronize()
    seconds.append(time.perf_counter() - begin)
print(json.dumps([context, *seconds]))
"""

CPU_CALL = """
import json, time
import numpy as np
import accel
from benchmarks.device import timing
from benchmarks.device.rows import all_rows
row = all_rows()["eight"]
a, b = row.inputs(True)
call = accel.compile(row.function)
def sample(count):
    begin = time.perf_counter()
    for _ in range(count):
        call(a, b)
    return time.perf_counter() - begin
def measure():
    return timing.median(sample, {seconds})["median"]
before = measure()
accel.to_device(np.zeros(8)).numpy()
print(json.dumps([before, measure()]))
"""


def first_call(name, is_warm):
    found = []
    for _ in range(TIMES):
        with tempfile.TemporaryDirectory() as cache:
            code = FIRST_CALL.format(row=FUNCTIONS[name])
            if is_warm:
                python(code, cache=cache)
            found.append(python(code, cache=cache))
    context, first, second = map(statistics.median, zip(*found, strict=True))
    return {"median": first, "context_seconds": context, "second_call": second, "bar": WARM if is_warm else COLD}


def cpu_call(seconds):
    before, beside = python(CPU_CALL.format(seconds=seconds))
    return {"median": beside, "before_a_device": before}


def rows(seconds):
    """name -> callable that measures the row."""
    found = {f"first_cold_{name}": lambda name=name: first_call(name, False) for name in FUNCTIONS}
    found |= {f"first_warm_{name}": lambda name=name: first_call(name, True) for name in FUNCTIONS}
    return found | {"cpu_call": lambda: cpu_call(seconds)}


def attempt(measure):
    try:
        return measure()
    except Exception as error:
        return {"problem": f"{type(error).__name__}: {error}"}
