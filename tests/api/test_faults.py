"""What goes wrong around accel must not reach the user: NumPy's result and one warning, in a new process each."""

import json
import os
import subprocess
import sys
import textwrap

import pytest
from host_compiler import shell_text

PROGRAM = """
import json, sys, warnings
import numpy as np
import accel

def work(a, b):
    return np.sqrt(a * a + b * b) - 0.5 * a

a, b = np.linspace(0, 1, 1000), np.linspace(1, 2, 1000)
expected = work(a, b)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    call = accel.compile(work)
    same = [call(a, b).tobytes() == expected.tobytes() for _ in range(3)]
    other = accel.compile(lambda x: np.exp(x) + 1)
    same.append(other(a).tobytes() == (np.exp(a) + 1).tobytes())
from support.compiled import facts
print(json.dumps({"same": same, "warnings": [str(w.message) for w in caught], "facts": facts(call)}))
"""


def python_path():
    return os.pathsep.join(filter(None, [os.path.dirname(os.path.dirname(__file__)), os.environ.get("PYTHONPATH")]))


def run(tmp_path, cache=None, program=PROGRAM, **environment):
    """The program's report from a new, isolated process."""
    settings = {k: v for k, v in os.environ.items() if not k.startswith("ACCEL_") and k != "CXX"}
    settings["ACCEL_CACHE_DIR"] = str(cache or tmp_path / "cache")
    settings["PYTHONPATH"] = python_path()
    settings.update({k: str(v) for k, v in environment.items()})
    done = subprocess.run(
        [sys.executable, "-c", program], env=settings, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout.splitlines()[-1])
    assert all(report["same"]), report
    return report


def compiler(tmp_path, script):
    path = tmp_path / "fake-compiler"
    path.write_text("#!/bin/sh\n" + textwrap.dedent(script).replace("REAL", shell_text()))
    path.chmod(0o755)
    return path


def is_root():
    return os.geteuid() == 0


def test_without_faults(tmp_path):
    report = run(tmp_path)
    assert report["facts"]["compiles"] == 1 and report["facts"]["interpreted"] == 0
    assert report["warnings"] == []


FAKES = {
    "fails": "echo 'error: no' >&2; exit 1",
    "is killed": "kill -9 $$",
    "writes nothing": "exit 0",
    "writes rubbish": 'while [ $# -gt 1 ]; do [ "$1" = -o ] && echo rubbish > "$2"; shift; done',
    "leaves half of the object": """
        REAL "$@" || exit 1
        while [ $# -gt 1 ]; do [ "$1" = -o ] && truncate -s -3000 "$2"; shift; done""",
    "leaves a few bytes": """
        REAL "$@" || exit 1
        while [ $# -gt 1 ]; do [ "$1" = -o ] && truncate -s 40 "$2"; shift; done""",
    "talks a lot": "yes error | head -c 5000000 >&2; exit 1",
}


@pytest.mark.parametrize("fake", FAKES)
def test_a_compiler_that(tmp_path, fake):
    report = run(tmp_path, CXX=compiler(tmp_path, FAKES[fake]))
    assert len(report["warnings"]) == 1, report
    assert report["facts"]["interpreted"] == 3


RAISED = """
import json, warnings
import numpy as np
import accel

@accel.compile
def call(a):
    return np.sqrt(a) + 1

warnings.simplefilter("error")
try:
    call(np.ones(3))
except accel.AccelWarning as warning:
    raised = str(warning)
print(json.dumps({"raised": raised, "same": [call(np.ones(3)).tolist() == [2.0, 2.0, 2.0]]}))
"""


@pytest.mark.parametrize("strict", ["0", "1"])
def test_a_warning_that_is_an_error(tmp_path, strict):
    report = run(tmp_path, program=RAISED, CXX=compiler(tmp_path, "exit 1"), ACCEL_STRICT=strict)
    assert "the C++ compiler failed" in report["raised"]


def test_a_compiler_that_hangs(tmp_path):
    program = PROGRAM.replace("import accel\n", "import accel\naccel.config.compile_timeout = 1\n", 1)
    report = run(tmp_path, program=program, CXX=compiler(tmp_path, "sleep 100"))
    assert len(report["warnings"]) == 1, report


TIMED = """
import json, time, warnings
import numpy as np
import accel
from support.compiled import facts

accel.config.compile_timeout = 1
call, x = accel.compile(lambda x: x * 2.0 + 1.0), np.ones(5)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    same, compiled, seconds = [], [], 0.0
    for pause in PAUSES:
        time.sleep(pause * seconds)
        start = time.monotonic()
        same.append(call(x).tobytes() == (x * 2.0 + 1.0).tobytes())
        seconds = seconds or time.monotonic() - start  # of the first call
        compiled.append(facts(call)["compiled"])
print(json.dumps({"same": same, "warnings": [str(w.message) for w in caught], "compiled": compiled}))
"""

# Takes longer than the limit, but little of a processor.
SLOW = """
k=0
while [ $k -lt 15 ]; do
    sleep 0.1; k=$((k + 1)); n=0
    while [ $n -lt 8000 ]; do n=$((n + 1)); done
done
exec REAL "$@"
"""

# Never ends when it is run for the first time.
HANGS_ONCE = """
[ -e "$0.ran" ] && exec REAL "$@"
touch "$0.ran"
while :; do :; done
"""


def test_time_of_a_busy_machine_does_not_count(tmp_path):
    report = run(tmp_path, program=TIMED.replace("PAUSES", "[0, 0]"), CXX=compiler(tmp_path, SLOW))
    assert report["warnings"] == [] and report["compiled"] == [1, 2]


@pytest.mark.parametrize("always", [False, True])
@pytest.mark.thorough
def test_a_compile_that_ran_out_of_time_is_made_once_more_later(tmp_path, always):
    fake = compiler(tmp_path, "echo >> $0.runs; " + (HANGS_ONCE if not always else "while :; do :; done"))
    report = run(tmp_path, program=TIMED.replace("PAUSES", "[0, 0, 1.5, 0, 1.5, 0]"), CXX=fake)
    assert report["compiled"] == ([0] * 6 if always else [0, 0, 1, 2, 3, 4])
    assert len(report["warnings"]) == 1 and "compiler_timeout" in report["warnings"][0]
    # Each attempt begins by asking the compiler for the flags that it understands, which is what hangs the first time.
    assert len((tmp_path / "fake-compiler.runs").read_text()) == (2 if always else 3)


def test_no_compiler(tmp_path):
    report = run(tmp_path, PATH="")
    assert len(report["warnings"]) == 1 and "g++" in report["warnings"][0], report


def test_warm_start_without_a_compiler(tmp_path):
    run(tmp_path)
    report = run(tmp_path, PATH="")
    assert report["warnings"] == [] and report["facts"]["compiles"] == 1 and report["facts"]["interpreted"] == 0


def cached_objects(tmp_path):
    found = [p for p in (tmp_path / "cache").rglob("*") if p.is_file() and p.stat().st_size > 1000]
    assert found
    return found


DAMAGES = {
    "empty": lambda data: b"",
    "cut short": lambda data: data[: len(data) // 2],
    "one bit flipped": lambda data: data[: len(data) // 2] + bytes([data[len(data) // 2] ^ 1]) + data[len(data) // 2 + 1 :],
    "rubbish": lambda data: b"\xff" * len(data),
    "a byte more": lambda data: data + b"\0",
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_cache_is_rebuilt(tmp_path, damage):
    run(tmp_path)
    for path in cached_objects(tmp_path):
        path.write_bytes(DAMAGES[damage](path.read_bytes()))
    assert run(tmp_path)["facts"]["interpreted"] == 0
    assert run(tmp_path, PATH="")["facts"]["interpreted"] == 0


def test_a_damaged_cache_without_a_compiler(tmp_path):
    run(tmp_path)
    for path in cached_objects(tmp_path):
        path.write_bytes(b"rubbish")
    report = run(tmp_path, PATH="")
    assert len(report["warnings"]) == 2, report  # one for each of the two faults


@pytest.mark.skipif(is_root(), reason="root may write everywhere")
def test_a_cache_that_cannot_be_written(tmp_path):
    cache = tmp_path / "cache"
    cache.mkdir(mode=0o500)
    report = run(tmp_path, cache)
    assert len(report["warnings"]) <= 1 and report["facts"]["interpreted"] == 0


def test_a_cache_below_a_file(tmp_path):
    (tmp_path / "file").write_text("")
    report = run(tmp_path, tmp_path / "file" / "cache")
    assert len(report["warnings"]) <= 1 and report["facts"]["interpreted"] == 0


def test_a_cache_that_is_a_file(tmp_path):
    (tmp_path / "file").write_text("")
    report = run(tmp_path, tmp_path / "file")
    assert len(report["warnings"]) <= 1 and report["facts"]["interpreted"] == 0


def test_a_full_disk(tmp_path):
    """/dev/full is a device that is always full: a compiler that writes there fails like one on a full disk."""
    script = 'for a; do case "$a" in *.so*) echo x > /dev/full || exit 1;; esac; done; exec REAL "$@"'
    report = run(tmp_path, CXX=compiler(tmp_path, script))
    assert len(report["warnings"]) <= 1


def test_no_home(tmp_path):
    report = run(tmp_path, HOME="/nonexistent", XDG_CACHE_HOME="/nonexistent/cache", ACCEL_CACHE_DIR="")
    assert len(report["warnings"]) <= 1 and report["facts"]["interpreted"] == 0


def test_switched_off(tmp_path):
    report = run(tmp_path, ACCEL_DISABLE="1")
    assert report["warnings"] == [] and report["facts"]["compiles"] == 0


def test_many_processes_share_a_cache(tmp_path):
    settings = {k: v for k, v in os.environ.items() if not k.startswith("ACCEL_")}
    settings |= {"ACCEL_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": python_path()}
    started = [
        subprocess.Popen([sys.executable, "-c", PROGRAM], env=settings, stdout=subprocess.PIPE, text=True) for _ in range(4)
    ]
    for process in started:
        output, _ = process.communicate(timeout=120)
        report = json.loads(output.splitlines()[-1])
        assert process.returncode == 0 and all(report["same"]) and report["facts"]["interpreted"] == 0


def test_the_doctor_looks_at_this_machine(tmp_path):
    environment = {**os.environ, "ACCEL_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-m", "accel", "doctor"], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "compiler" in done.stdout.lower()


def test_the_doctor_misses_the_compiler(tmp_path):
    environment = {**os.environ, "ACCEL_CACHE_DIR": str(tmp_path), "PATH": ""}
    environment.pop("CXX", None)
    done = subprocess.run(
        [sys.executable, "-m", "accel", "doctor"], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    assert "g++" in done.stdout + done.stderr
