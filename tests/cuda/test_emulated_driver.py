"""The emulated CUDA driver: right kernels give NumPy's results in every order, wrong ones are found."""

import ctypes as C
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from support.emulated_device import EmulatedDevice, Failed

HERE = Path(__file__).parent
SIZES = [1, 7, 255, 257, 2049]
ORDERS = [
    {"order": 0, "hide": 0},
    {"order": 1},
    {"order": 2, "seed": 1},
    {"order": 2, "seed": 2, "workers": 2},
]
POISON = int(np.array(0xCDCDCDCD, np.uint32).view(np.int32))  # what shared memory holds before it is written


@pytest.fixture(scope="module")
def device():
    return EmulatedDevice()


@pytest.fixture(scope="module")
def kernels(device):
    return device.load((HERE / "kernels.cu").read_text())


@pytest.fixture(scope="module")
def wrong(device):
    return device.load((HERE / "wrong_kernels.cu").read_text())


@pytest.fixture(autouse=True)
def fresh(device):
    yield
    device.reset()


def blocks(n, threads=256):
    return -(-n // threads)


def softmax(device, kernels, n, rng):
    x = rng.normal(size=(blocks(n, 1000), 1000))
    given, out = device.array(x), device.array(x)
    kernels.run("softmax", len(x), 128, given, out, 1000, shared=8000)
    e = np.exp(x - x.max(1, keepdims=True))
    np.testing.assert_allclose(out.get(), e / e.sum(1, keepdims=True), rtol=1e-13)


def pairwise(device, kernels, n, rng):
    a = rng.normal(size=n) * 10.0 ** rng.integers(-8, 8, n)
    depth, left = 0, n
    while left > 128:
        left, depth = left // 2 - left // 2 % 8, depth + 1
    given, out = device.array(a), device.array(np.zeros(1))
    parts, spare = (device.array(np.zeros(1 << depth)) for _ in range(2))
    kernels.run("pairwise_leaves", blocks(8 << depth), 256, given, parts, C.c_long(n), depth)
    kernels.run("pairwise_tree", 1, 1024, parts, spare, out, 1 << depth)
    assert out.get()[0].tobytes() == np.sum(a).tobytes()


def select(device, kernels, n, rng):
    x = rng.normal(size=n)
    given, counts, out = device.array(x), device.array(np.zeros(blocks(n) + 1, np.int32)), device.array(x)
    kernels.run("select_count", blocks(n), 256, given, n, counts)
    kernels.run("select_scan", 1, 1024, counts, blocks(n))
    kernels.run("select_write", blocks(n), 256, given, n, counts, out)
    assert counts.get()[-1] == (x > 0).sum()
    np.testing.assert_array_equal(out.get()[: counts.get()[-1]], x[x > 0])


def mandelbrot(device, kernels, n, rng):
    w = h = max(int(n**0.5), 1)
    out = device.array(np.zeros((h, w), np.int32))
    kernels.run("mandelbrot", (blocks(w, 32), blocks(h, 8)), (32, 8), out, w, h, 50)
    cr, ci = -2.0 + np.arange(w) * (3.0 / w), (-1.0 + np.arange(h) * (2.0 / h))[:, None]
    zr, zi, k = np.zeros((h, w)), np.zeros((h, w)), np.zeros((h, w), np.int32)
    for _ in range(50):
        inside = zr * zr + zi * zi <= 4
        k += inside
        zr, zi = np.where(inside, zr * zr - zi * zi + cr, zr), np.where(inside, 2 * zr * zi + ci, zi)
    np.testing.assert_array_equal(out.get(), k)


def gather(device, kernels, n, rng):
    for bad in False, True:
        x, i = rng.normal(size=n), rng.integers(-n, n, n)
        i[n // 2] = n + 5 if bad else 0
        given, index, out, word = map(device.array, (x, i, np.full(n, 7.0), np.zeros(1, np.uint32)))
        kernels.run("gather_check", blocks(n), 256, index, n, C.c_long(n), word, 3)
        kernels.run("gather", blocks(n), 256, given, index, out, n, C.c_long(n), word)
        assert word.get()[0] == 3 * bad
        np.testing.assert_array_equal(out.get(), 7.0 if bad else 2 * x[i])


def scatter(device, kernels, n, rng):
    i, v, a = rng.integers(0, max(n // 3, 1), n), rng.normal(size=n), np.zeros(n)
    index, winner, values, out = map(device.array, (i, np.full(n, -1), v, a))
    kernels.run("scatter_claim", blocks(n), 256, index, winner, n)
    kernels.run("scatter_store", blocks(n), 256, index, winner, values, out, n)
    a[i] = v
    np.testing.assert_array_equal(out.get(), a)


def misc(device, kernels, n, rng):
    x = np.resize([0.3, -1.5, np.nan, np.inf, -np.inf, 3e9, -3e9, 2147483647.5, -2147483648.5, 65520.0, 1e-7], n)
    given, out = device.array(x), device.array(x)
    half, whole, flags = (device.array(np.zeros(k, t)) for k, t in ((n, np.uint16), (n, np.int32), (3, np.uint32)))
    kernels.run("misc", blocks(n), 256, given, half, whole, out, flags, n)
    with np.errstate(all="ignore"):
        expected = (x.astype(np.float32).astype(np.float16).astype(np.float32) * 2).astype(np.float16)
    np.testing.assert_array_equal(half.get().view(np.float16), expected)
    np.testing.assert_array_equal(whole.get(), np.clip(np.nan_to_num(x, nan=0), -(2**31), 2**31 - 1).astype(np.int32))
    np.testing.assert_array_equal(out.get(), x * x + 0.5)
    assert flags.get().tolist() == [n, n - 1, 0]


@pytest.mark.parametrize("order", range(len(ORDERS)))
@pytest.mark.parametrize("check_case", [softmax, pairwise, select, mandelbrot, gather, scatter, misc])
def test_right_kernels(device, kernels, check_case, order):
    device.options(**ORDERS[order])
    for n in SIZES:
        check_case(device, kernels, n, np.random.default_rng(n))


def expect(device, text, code, run):
    """Fails with the text and the code, and so does every later call until the reset."""
    with pytest.raises(Failed, match=text) as failed:
        run()
        device.call("cuCtxSynchronize")
    assert failed.value.code == code
    if code >= 700:
        assert device.driver.cuCtxSynchronize() == code
    device.reset()
    device.call("cuCtxSynchronize")


def test_addresses_outside_are_named(device, wrong):
    a = device.array(np.zeros(33))
    expect(device, r"bug_out: block \(0,0,0\) thread \(0,0,0\): offset 4096 of an allocation of 264 bytes", 700,
           lambda: wrong.run("bug_out", 1, 64, a, 512))  # fmt: skip
    expect(device, "bug_slack: wrote at offset 264", 700, lambda: wrong.run("bug_slack", 1, 1, a, 264))
    device.call("cuMemFreeAsync", a.address, None)
    expect(device, "offset 24 of a freed allocation of 264", 700, lambda: wrong.run("bug_out", 1, 1, a, 3))
    expect(device, "free of what is not", 1, lambda: device.call("cuMemFree_v2", a.address))
    a.address = None


def test_copies_outside_are_refused(device):
    a, host = device.array(np.zeros(33)), np.zeros(100)
    for size in 265, 800:
        with pytest.raises(Failed, match="copy from what is not device memory"):
            device.call("cuMemcpyDtoHAsync_v2", host.ctypes, a.address, C.c_size_t(size), None)


def test_threads_that_wait_for_ever(device, wrong):
    a = device.array(np.zeros(64, np.int32))
    expect(device, "bug_hang.*wait for others", 702, lambda: wrong.run("bug_hang", 1, 32, a))


def test_shared_memory_is_not_zero(device, wrong):
    a = device.array(np.zeros(64, np.int32))
    wrong.run("bug_barrier", 1, 64, a)
    assert POISON in a.get()  # the barrier is missing
    wrong.run("bug_stale", 1, 32, a)
    assert (a.get()[:32] == POISON).all()


def test_order_dependence(device, wrong):
    seen = set()
    for order in ORDERS[:3]:
        device.options(**order)
        a = device.array(np.zeros(7, np.int32))
        wrong.run("bug_race", 4, 256, a, 1000)
        seen.add(a.get().tobytes())
    assert len(seen) > 1


@pytest.mark.parametrize("kernel", ["select", "softmax", "pairwise"])
def test_missing_barriers_are_found(device, kernel):
    """Without any of its barriers a kernel gives a wrong result in some order."""
    text = (HERE / "kernels.cu").read_text()
    parts = text.split("__syncthreads();")
    found, case = 0, {"select": select, "softmax": softmax, "pairwise": pairwise}[kernel]
    begin = {"softmax": 0, "pairwise": 2, "select": 3}[kernel]
    end = {"softmax": 2, "pairwise": 3, "select": 10}[kernel]
    for k in range(begin, end):
        module = device.load("__syncthreads();".join(parts[: k + 1]) + "__syncthreads();".join(parts[k + 1 :]))
        found += any(is_wrong(device, module, case, order) for order in (*ORDERS[:3], {"order": 2, "seed": 5}))
        device.reset()
    assert found >= end - begin - 1  # one that only a race detector finds is left


def is_wrong(device, module, case, order):
    device.options(**order)
    try:
        case(device, module, 3000, np.random.default_rng(0))
    except (AssertionError, Failed, ValueError, IndexError):
        device.reset()
        return True
    return False


def test_checks_of_the_compiler():
    device = EmulatedDevice(with_checks=True)
    module = device.load((HERE / "wrong_kernels.cu").read_text())
    a, ints = device.array(np.full(33, 1e20)), device.array(np.zeros(64, np.int32))
    expect(device, "bug_cast.*a check", 716, lambda: module.run("bug_cast", 1, 1, a, ints))
    expect(device, "bug_align.*a check", 716, lambda: module.run("bug_align", 1, 1, a, a))
    expect(device, "bug_shared.*a check", 716, lambda: module.run("bug_shared", 1, 1, ints, 9))


def test_any_call_may_fail(device, kernels):
    rng = np.random.default_rng(1)
    for name, code in ("cuMemAlloc_v2", 2), ("cuMemcpyHtoDAsync_v2", 999), ("cuLaunchKernel", 700):
        for nth in range(1, 5):
            device.fail(name, nth, code, sticky=code != 2)
            with pytest.raises((Failed, AssertionError)):
                for _ in range(4):
                    select(device, kernels, 1000, rng)
            device.reset()
            select(device, kernels, 1000, rng)


def test_memory_is_limited(device):
    used = device.driver.cuEmulateUsedBytes()
    device.options(limit=used + (1 << 20))
    with pytest.raises(Failed, match="memory is full"):
        device.array(np.zeros(1 << 18))


def test_texts_that_do_not_compile(device):
    with pytest.raises(Failed, match=r"kernel.cu:2:.*error: .*absent"):
        device.compile('extern "C" __global__ void f(int* a) {\n  *a = absent; }')
    with pytest.raises(Failed, match="no kernel g"):
        device.load('extern "C" __global__ void f(int* a) {}').function("g")


def test_the_host_cannot_read_device_memory():
    code = """
import ctypes, numpy as np
from support.emulated_device import EmulatedDevice
device = EmulatedDevice()
a = device.array(np.ones(9))
assert (a.get() == 1).all()
print("read", flush=True)
ctypes.c_double.from_address(a.address.value).value
print("not reached")
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=HERE.parent, capture_output=True, text=True, check=False)
    assert done.returncode < 0 and done.stdout == "read\n", done.stderr
