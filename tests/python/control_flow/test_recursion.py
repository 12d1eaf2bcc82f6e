"""Functions that call themselves: inlined where the depth is a constant, else called, so that nothing grows with the depth."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest
from support.compiled import facts
from support.differential import check
from support.outcome import assert_same

import accel


def quicksort(a):
    if a.size <= 1:
        return a
    pivot = a[a.size // 2]
    return np.concatenate([quicksort(a[a < pivot]), a[a == pivot], quicksort(a[a > pivot])])


def halves(x):
    if len(x) < 2:
        return x * 1.0
    return halves(x[::2]) + halves(x[1::2])


def fourier(x):
    n = len(x)
    if n <= 1:
        return x.astype(complex)
    even, odd = fourier(x[::2]), fourier(x[1::2])
    w = np.exp(-2j * np.pi * np.arange(n // 2) / n) * odd
    return np.concatenate([even + w, even - w])


def area(x, i=0, j=0):
    g = x.reshape(8, 8)
    if i < 0 or j < 0 or i >= 8 or j >= 8 or g[i, j] < 0:
        return 0
    g[i, j] = -1
    return 1 + area(x, i + 1, j) + area(x, i - 1, j) + area(x, i, j + 1) + area(x, i, j - 1)


FUNCTIONS = [quicksort, halves, fourier, area]


@pytest.mark.timeout(120)
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_depths_that_sizes_or_data_decide(function):
    call = accel.compile(function)
    for seed in range(12):
        assert_same(function, call, np.random.default_rng(seed).random(64))
    assert facts(call)["compiled"] > 0
    assert facts(call)["compiles"] <= 8


@pytest.mark.timeout(120)
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_marked_functions(function, monkeypatch):
    expected = [function(np.random.default_rng(seed).random(64)) for seed in range(12)]
    call = accel.compile(function)
    monkeypatch.setitem(globals(), function.__name__, call)
    for seed, result in enumerate(expected):
        assert np.array_equal(call(np.random.default_rng(seed).random(64)), result)
    assert facts(call)["compiles"] <= 8


def powers(x, n):
    return x if n == 1 else x * powers(x, n - 1)


def test_a_constant_depth_is_inlined():
    check(lambda x: powers(x, 5), np.arange(4.0))


DEPTHS = """
import sys, threading
import numpy as np
import accel

def tail(x, n):
    if n == 0:
        return x.sum()
    return tail(x, n - 1)

def sums(x, n):
    y = x * 0.5
    return y.sum() if n == 0 else sums(x, n - 1) + y.sum()

def there(x, n):
    return 1.0 if n <= 0 else back(x, n - 1) + x[0]

def back(x, n):
    return 1.0 if n <= 0 else there(x, n - 1) * x[0]

def in_a_loop(x, n):
    found = []
    for _ in range(n > 0):
        found.extend(in_a_loop(x, n - 1))
    return found or [x[0]]

def by_c_code(x, n):
    return 1.0 if n <= 0 else sorted([n], key=lambda v: by_c_code(x, v - 1))[0]

class Sink:
    def write(self, text):
        pass

def after_calls(x, n):
    print("", file=sink)
    return 1.0 if n <= 0 else after_calls(x, n - 1) + x[0]

class Model:
    def method(self, x, n):
        return 1.0 if n <= 0 else self.method(x, n - 1) + x[0]

sink, x = Sink(), np.ones(3)
names = ["tail", "sums", "there", "in_a_loop", "by_c_code", "after_calls"]
model = Model()

def deepest(call):
    low, high = 30, sys.getrecursionlimit() + 10
    while low < high:
        middle = (low + high + 1) // 2
        try:
            call(x, middle)
            low = middle
        except RecursionError:
            high = middle - 1
    return low

def compare(name, plain, mark):
    depth, expected = deepest(plain), plain(x, 40)
    call = mark()
    for _ in range(3):
        assert call(x, 40) == expected
    try:
        call(x, depth - 2)
        print(name, depth, "reached", flush=True)
        call(x, depth + 100)
        print(name, depth, "beyond the limit", flush=True)
    except RecursionError:
        print(name, depth, "ends", flush=True)

def mark_functions(name):
    globals().update({each: accel.compile(globals()[each]) for each in {name, "back"}})
    return globals()[name]

def mark_method():
    Model.method = accel.compile(Model.method)
    return model.method

def measure():
    for name in names:
        compare(name, globals()[name], lambda: mark_functions(name))
    compare("method", model.method, mark_method)

if THREAD:
    threading.stack_size(THREAD)
    worker = threading.Thread(target=measure)
    worker.start()
    worker.join()
else:
    measure()
"""


@pytest.mark.timeout(180)
@pytest.mark.parametrize(("limit", "stack"), [(1000, 0), (4000, 0), (1500, 256 * 1024)])
def test_as_deep_as_plain_functions(limit, stack):
    program = f"import sys; sys.setrecursionlimit({limit}); THREAD = {stack}\n" + textwrap.dedent(DEPTHS)
    if limit > 1000:  # where C code calls itself, the stack of plain functions may end first
        program = program.replace('"by_c_code", ', "")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = [line.split(maxsplit=2) for line in done.stdout.splitlines()]
    assert len(found) == 2 * (7 if limit == 1000 else 6)
    assert [each[2] for each in found] == ["reached", "ends"] * (len(found) // 2)
    assert all(int(each[1]) > limit / 4 for each in found)
