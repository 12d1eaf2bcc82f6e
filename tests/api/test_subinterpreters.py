"""accel lives in the main interpreter: others are refused at once, and leave it as it was."""

import subprocess
import sys

import pytest

RUN = """
import sys

if sys.version_info >= (3, 13):
    import _interpreters as interpreters
else:
    import _xxsubinterpreters as interpreters


def run(kind, code):
    "Run code in a new interpreter; kind: isolated (from 3.12 on with a GIL of its own) or legacy."
    made = interpreters.create(kind) if sys.version_info >= (3, 13) else interpreters.create(isolated=kind == "isolated")
    failure = interpreters.run_string(made, code)
    assert not failure, failure
    interpreters.destroy(made)


TRY = '''
try:
    import accel
    print("imported", flush=True)
except ImportError as error:
    print(error, flush=True)
'''
"""
USE = """
import numpy as np, accel
@accel.compile
def f(x):
    total = 0.0
    for row in x:
        total = total + np.sum(row * 2)
    return total, [type(total)], sorted(str(total))
def check(size):
    x = np.arange(size).reshape(-1, 3)
    assert f(x) == f.__wrapped__(x)
check(6.0)
"""


def run(code):
    done = subprocess.run([sys.executable, "-c", RUN + code], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, (done.returncode, done.stderr)
    said = [line for line in done.stderr.splitlines() if "remaining subinterpreters" not in line]  # 3.14 closes them itself
    assert not said
    return done.stdout.splitlines()


@pytest.mark.parametrize("kind", ["isolated", "legacy"])
@pytest.mark.parametrize("before", ["", USE], ids=["first", "after_main"])
def test_import_is_refused(kind, before):
    """Also again, and in a second subinterpreter; the main interpreter's accel works before and after."""
    said = run(f"{before}\nrun('{kind}', TRY + TRY)\nrun('{kind}', TRY)\n{USE}\ncheck(12)\nprint(accel.stats(f)['compiled'])")
    assert len(said) == 4 and set(said[:3]) <= {
        "accel does not support loading in subinterpreters: import it in the main interpreter",
        "module accel._accel does not support loading in subinterpreters",
    }
    assert said[3] == "2"


@pytest.mark.parametrize("kind", ["isolated", "legacy"])
def test_subinterpreters_beside_a_compiled_function(kind):
    """They run functions, end, and run while the main interpreter compiles and exits from kernels."""
    code = f"""
import threading
FUNCTIONS = '''
def g(n):
    return [k * k for k in range(n)] if n < 3 else g(n - 1) + [n]
assert len(g(50)) == 50
class C:
    def __del__(self):
        g(5)
kept = C()
'''
for _ in range(3):
    run("{kind}", FUNCTIONS)
threads = [threading.Thread(target=run, args=("{kind}", FUNCTIONS)) for _ in range(4)]
for thread in threads:
    thread.start()
for size in range(3, 300, 3):
    check(float(size))
for thread in threads:
    thread.join()
check(9)
print(accel.stats(f)["compiled"] > 90)
left = interpreters.create()  # ends with the process
interpreters.run_string(left, FUNCTIONS)
"""
    assert run(USE + code) == ["True"]


def test_module_is_complete_once():
    """A second import finds the first module."""
    code = USE + "first = sys.modules.pop('accel._accel')\nimport accel._accel as second\nassert first is second\ncheck(9)"
    assert run(code) == []
