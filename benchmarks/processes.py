"""What can only be measured in a new process: first calls, imports, peak memory, compile counts."""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

FIRST_CALL = """
import json, time, numpy as np
from benchmarks.case import all_cases
from benchmarks.peers import PEERS
case = all_cases()[{case!r}]
inputs = case.small_inputs(np.random.default_rng(0))
case.function(*inputs)
import {peer}
call = PEERS[{peer!r}](case, inputs)
begin = time.perf_counter(); call(*inputs); first = time.perf_counter() - begin
begin = time.perf_counter(); call(*inputs); second = time.perf_counter() - begin
print(json.dumps([first, second]))
"""

IMPORT = """
import time, numpy
begin = time.perf_counter()
import {peer}
print(time.perf_counter() - begin)
"""

PEAK = """
import json, numpy as np
from benchmarks.case import all_cases, as_tuple
from benchmarks.peers import PEERS
def kilobytes(field):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith(field))
case = all_cases()["kmeans_step"]
call = PEERS[{peer!r}](case, ())
call(*case.small_inputs(np.random.default_rng(0)))
inputs = case.make_inputs(np.random.default_rng(0))
with open("/proc/self/clear_refs", "w") as file:
    file.write("5")
before = kilobytes("VmRSS")
result = call(*inputs)
print(json.dumps([(kilobytes("VmHWM") - before) * 1024, sum(np.asarray(r).nbytes for r in as_tuple(result))]))
"""

COUNTS = """
import json, numpy as np, accel
from benchmarks.case import all_cases
found = {{}}
for name in {cases!r}:
    case = all_cases()[name]
    call = accel.compile(case.function)
    inputs = case.small_inputs(np.random.default_rng(0))
    rows = next(a.shape[0] for a in inputs if isinstance(a, np.ndarray))
    for size in [0, 1, 2, 3, 5, 8, 9, *range(10, 100, 4), rows]:
        call(*(a[:size] if isinstance(a, np.ndarray) and a.shape[0] == rows else a for a in inputs))
    found[name] = accel.stats(call)
print(json.dumps(found, default=str))
"""


def python(code, cache=None, path=None):
    """Standard output of a new interpreter."""
    environment = dict(os.environ)
    if cache is not None:
        environment["ACCEL_CACHE_DIR"] = str(cache)
    if path is not None:
        environment["PATH"] = path
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip().splitlines()[-1] if done.stderr.strip() else f"status {done.returncode}")
    return json.loads(done.stdout.strip().splitlines()[-1])


def attempt(code, **options):
    try:
        return python(code, **options)
    except (RuntimeError, ValueError) as error:
        return f"failed: {error}"


def first_calls(case, peers):
    """peer -> [first call, second call] in seconds; accel also warm: same cache, no compiler on the PATH."""
    found = {}
    for peer in peers:
        with tempfile.TemporaryDirectory() as cache:
            code = FIRST_CALL.format(case=case, peer=peer)
            found[f"{peer}, cold"] = attempt(code, cache=cache)
            if peer == "accel":
                found["accel, warm"] = attempt(code, cache=cache, path="")
    return found


def imports(peers, times=5):
    found = {}
    for peer in peers:
        samples = [attempt(IMPORT.format(peer=peer)) for _ in range(times)]
        numbers = [s for s in samples if not isinstance(s, str)]
        found[peer] = min(numbers) if numbers else samples[0]
    return found


def peak_memory(peers):
    """peer -> bytes of k-means' peak beyond the inputs and the result."""
    found = {}
    for peer in peers:
        got = attempt(PEAK.format(peer=peer))
        found[peer] = got if isinstance(got, str) else max(0, got[0] - got[1])
    return found


def compile_counts(cases):
    return attempt(COUNTS.format(cases=list(cases)))


def stamp():
    """What the figures belong to."""
    import numpy

    model = next(
        (line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in line),
        "?",
    )
    return {
        "time": time.strftime("%Y-%m-%d %H:%M:%S"),
        "cpu": model,
        "cpus": len(os.sched_getaffinity(0)),
        "python": sys.version.split()[0],
        "numpy": numpy.__version__,
        "load": os.getloadavg()[0],
    }
