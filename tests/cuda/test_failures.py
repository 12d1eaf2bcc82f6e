"""Calls that a device cannot answer: what they raise or warn of, and that nothing is lost by them."""

import os
import subprocess
import sys
import textwrap

import pytest

IS_EMULATED = "ACCEL_CUDA_DRIVER" in os.environ
needs_emulation = pytest.mark.skipif(not IS_EMULATED, reason="a driver that fails when it is told to is the emulated one")

START = """
import ctypes, gc, os, threading, warnings
import numpy as np
import pytest
import accel
from accel import _accel

def f(x, y):
    z = x * 2 + y
    return z, z.sum()

def change(x, y):
    x += 1
    y *= 2
    return x + y

def flow(x, y):
    rounds = 0
    while x.max() < 5004:
        x += y
        rounds += 1
    return x[x > 100], rounds

def other(x, y):
    return np.sqrt(x) - y

def inputs():
    return np.arange(5000.0), np.ones(5000)

def used():
    gc.collect()
    accel.synchronize()
    return accel.memory_info().used

def fail(function, nth=1, code=719, sticky=0):
    driver = ctypes.CDLL(os.environ["ACCEL_CUDA_DRIVER"])
    driver.cuEmulateFail.argtypes = [ctypes.c_char_p, ctypes.c_long, ctypes.c_int, ctypes.c_int]
    driver.cuEmulateFail(function and function.encode(), nth, code, sticky)

def same(got, wanted):
    if isinstance(wanted, tuple):
        return type(got) is tuple and all(map(same, got, wanted))
    return type(got) is type(wanted) and np.allclose(got, wanted, rtol=1e-13)

def on_device(compiled, *arguments):
    why = accel.explain(compiled)(*arguments)
    assert why.compiled and why.device["name"] == "cuda:0" and why.exception is None, str(why)
    return why.result

def warns(call, match, where="on the CPU"):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = call()
    texts = [str(w.message) for w in caught if issubclass(w.category, accel.AccelWarning)]
    assert len(texts) == 1 and all(part in texts[0] for part in (match, "Way out:", where)), texts
    return result

def quiet(call):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return call()
"""


@pytest.fixture(params=["0", "1"], ids=["", "strict"])
def check_program(request, tmp_path):
    """Check that a program ends without a failed assertion, in a process of its own, with and without ACCEL_STRICT."""

    def check(text, **environment):
        environment = {**os.environ, "ACCEL_STRICT": request.param, "ACCEL_CACHE_DIR": str(tmp_path), **environment}
        program = START + textwrap.dedent(text)
        done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr

    return check


@pytest.mark.parametrize("name", ["cuda:77", "cuda:9999"])
def test_a_device_that_is_not_there(check_program, name):
    check_program(f"""
    uses = [
        lambda: accel.device({name!r}).__enter__(),
        lambda: accel.compile(f, device={name!r}),
        lambda: accel.set_default_device({name!r}),
        lambda: accel.to_device(np.ones(2), {name!r}),
    ]
    for use in uses:
        with pytest.raises(accel.DeviceError, match="no_cuda_device") as raised:
            use()
        assert "way out" in str(raised.value) and "doctor" in str(raised.value)
    assert accel.compile(f)(*inputs())[1] == f(*inputs())[1]
    """)


def test_no_driver(check_program):
    check_program(
        """
    uses = [
        lambda: accel.device("cuda").__enter__(),
        lambda: accel.compile(f, device="cuda"),
        lambda: accel.set_default_device("cuda"),
        lambda: accel.to_device(np.ones(2)),
        lambda: accel.memory_info(),
    ]
    for use in uses:
        with pytest.raises(accel.DeviceError, match="no_cuda_driver") as raised:
            use()
        assert "/nowhere/libcuda.so" in str(raised.value) and "way out: install NVIDIA's driver" in str(raised.value)
    with accel.device("cpu"):
        assert quiet(lambda: same(accel.compile(f)(*inputs()), f(*inputs())))
    """,
        ACCEL_CUDA_DRIVER="/nowhere/libcuda.so",
    )


def test_no_compiler_of_nvidia(check_program):
    check_program(
        """
    x, y = inputs()
    compiled = accel.compile(change)
    a, b = accel.to_device(x), accel.to_device(y)
    before = used()
    for _ in range(2):
        with accel.device("cuda"), pytest.raises(accel.DeviceError, match="no_nvrtc") as raised:
            compiled(x, y)
        assert "way out: pip install 'accel-numpy[cuda]'" in str(raised.value) and "/nowhere/libnvrtc.so" in str(raised.value)
        with pytest.raises(accel.DeviceError, match="no_nvrtc"):
            compiled(a, b)
        with pytest.raises(accel.DeviceError, match="no_nvrtc"):
            a + b
    assert same((x, y), inputs()) and a.tolist() == list(x)
    assert same(compiled(x, y), change(*inputs()))
    assert used() == before
    """,
        ACCEL_NVRTC="/nowhere/libnvrtc.so",
    )


@needs_emulation
def test_a_compiler_of_nvidia_that_fails(check_program, tmp_path):
    source = tmp_path / "nvrtc.cpp"
    source.write_text("""
    extern "C" {
    int nvrtcVersion(int* major, int* minor) { *major = 13, *minor = 5; return 0; }
    const char* nvrtcGetErrorString(int) { return "NVRTC_ERROR_COMPILATION"; }
    int nvrtcCreateProgram(void** program, const char*, const char*, int, const char* const*, const char* const*) {
      *program = program; return 0; }
    int nvrtcDestroyProgram(void**) { return 0; }
    int nvrtcCompileProgram(void*, int, const char* const*) { return 6; }
    int nvrtcGetProgramLogSize(void*, unsigned long* size) { *size = 20; return 0; }
    int nvrtcGetProgramLog(void*, char* log) { __builtin_strcpy(log, "line 3: it is wrong"); return 0; }
    int nvrtcGetCUBINSize(void*, unsigned long* size) { return 6; }
    int nvrtcGetCUBIN(void*, char*) { return 6; }
    int nvrtcGetPTXSize(void*, unsigned long* size) { return 6; }
    int nvrtcGetPTX(void*, char*) { return 6; }
    int nvrtcGetLoweredName(void*, const char*, const char**) { return 6; }
    int nvrtcAddNameExpression(void*, const char*) { return 0; }
    int nvrtcGetNumSupportedArchs(int* count) { *count = 1; return 0; }
    int nvrtcGetSupportedArchs(int* all) { *all = 90; return 0; }
    }""")
    library = tmp_path / "libnvrtc.so"
    subprocess.run(["g++", "-shared", "-fPIC", "-w", source, "-o", library], check=True)
    check_program(
        """
    x, y = inputs()
    compiled = accel.compile(change)
    strict = os.environ["ACCEL_STRICT"] == "1"
    with accel.device("cuda"):
        if strict:
            with pytest.raises(accel.InternalError, match="nvrtc_failed"):
                compiled(x, y)
        else:
            assert same(warns(lambda: compiled(x, y), "nvrtc_failed", ""), change(*inputs()))
        x, y = inputs()
        why = quiet(lambda: accel.explain(compiled)(x, y))
        assert why.compiled and why.device["name"] == "cpu" and same(why.result, change(*inputs()))
    x, y = inputs()
    a, b = accel.to_device(x), accel.to_device(y)
    before = used()
    for _ in range(2):
        with pytest.raises(accel.DeviceError, match="nvrtc_failed") as raised:
            compiled(a, b)
        assert "it is wrong" in str(raised.value) and "way out" in str(raised.value)
    assert a.tolist() == list(x) and b.tolist() == list(y)
    assert used() == before
    """,
        ACCEL_NVRTC=str(library),
    )


MEMORY = """
x, y = inputs()
compiled = accel.compile(change)
with accel.device("cuda"):
    {first}
    before = used()
    _accel.set_memory_limit(0, before + {room})
    x, y = inputs()
    assert same(warns(lambda: compiled(x, y), "out_of_device_memory"), change(*inputs()))
    x, y = inputs()
    assert same(quiet(lambda: compiled(x, y)), change(*inputs()))
    assert used() == before
    _accel.set_memory_limit(0, 0)
    x, y = inputs()
    assert same(on_device(compiled, x, y), change(*inputs()))
    assert used() == before
compiled = accel.compile(f)
a, b = map(accel.to_device, inputs())
{first_on_device}
before = used()
_accel.set_memory_limit(0, before + {less_room} + 1)
for _ in range(2):
    with pytest.raises(accel.OutOfDeviceMemoryError, match="out_of_device_memory") as raised:
        compiled(a, b)
    assert isinstance(raised.value, MemoryError) and "way out: free device arrays" in str(raised.value)
del raised
assert used() == before
_accel.set_memory_limit(0, 0)
got = on_device(compiled, a, b)
assert same((got[0].numpy(), got[1]), f(*inputs()))
del got
assert used() == before
"""


@pytest.mark.parametrize("room", [1, 50_000, 100_000], ids=["at the start", "at the second argument", "in the middle"])
@pytest.mark.parametrize("when", ["first call", "later call"])
def test_no_memory(check_program, room, when):
    is_later = when == "later call"
    first = "assert same(on_device(compiled, x, y), change(*inputs()))" if is_later else ""
    first_on_device = "compiled(a, b)" if is_later else ""
    check_program(
        MEMORY.format(first=first, first_on_device=first_on_device, room=room, less_room=room // 4), ACCEL_CUDA_POOL="0"
    )


@needs_emulation
@pytest.mark.parametrize(
    "function",
    [
        "cuLaunchKernel",
        "cuMemcpyHtoDAsync_v2",
        "cuMemcpyDtoHAsync_v2",
        "cuMemAlloc_v2",
        "cuEventRecord",
        "cuModuleLoadData",
        "cuStreamSynchronize",
    ],
)
@pytest.mark.parametrize("nth", [1, 2, 3])
def test_a_driver_that_fails_once(check_program, function, nth):
    check_program(
        f"""
    for function in (change, f, flow):
        compiled = accel.compile(function)
        x, y = inputs()
        with accel.device("cuda"):
            if {function!r} != "cuModuleLoadData":
                on_device(compiled, x, y)
            before = used()
            x, y = inputs()
            fail({function!r}, {nth}, 2 if {function!r} == "cuMemAlloc_v2" else 1)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                got = compiled(x, y)
            fail(None)  # not later, where there were fewer calls
            texts = [str(w.message) for w in caught]
            assert len(texts) <= 1 and all("on the CPU" in text and "Way out:" in text for text in texts), texts
            u, v = inputs()
            assert same(got, function(u, v)) and same((x, y), (u, v)), texts
            assert used() == before, texts
            for _ in range(3):
                x, y = inputs()
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    assert same(compiled(x, y), function(*inputs()))
            x, y = inputs()
            assert same(on_device(compiled, x, y), function(*inputs()))
            assert used() == before
    """,
        ACCEL_CUDA_POOL="0",
    )


@needs_emulation
@pytest.mark.parametrize("function", ["cuMemcpyHtoDAsync_v2", "cuMemcpyDtoHAsync_v2", "cuEventSynchronize", "cuMemHostAlloc"])
@pytest.mark.parametrize("nth", [1, 2, 7, 14])
def test_a_large_copy_that_fails_once(check_program, function, nth):
    """Of all threads that share it, one sees the failure."""
    check_program(f"""
    accel.config.threads = 5
    x = np.random.default_rng(0).random(5 << 20)
    before = used()
    fail({function!r}, {nth}, 1)
    failures = []
    try:
        assert accel.to_device(x).numpy().tobytes() == x.tobytes()
    except accel.DeviceError as error:
        failures.append(error)
    fail(None)
    assert len(failures) <= 1
    for _ in range(2):
        assert accel.to_device(x).numpy().tobytes() == x.tobytes()
    assert used() == before
    """)


@needs_emulation
def test_arrays_on_the_device_and_a_launch_that_fails(check_program):
    check_program("""
    compiled = accel.compile(f)
    a, b = map(accel.to_device, inputs())
    on_device(compiled, a, b)
    before = used()
    fail("cuLaunchKernel")
    with pytest.raises(accel.DeviceError, match="cuda_failed") as raised:
        compiled(a, b)
    assert "way out" in str(raised.value) and "cuLaunchKernel" in str(raised.value), raised.value
    del raised
    assert used() == before
    got = on_device(compiled, a, b)
    assert same((got[0].numpy(), got[1]), f(*inputs()))
    fail("cuLaunchKernel")
    with pytest.raises(accel.DeviceError):
        a + b
    assert (a + b).tolist() == list(inputs()[0] + inputs()[1])
    """)


@needs_emulation
def test_the_host_does_not_read_lists_on_the_device(check_program):
    check_program(
        """
    def sums(b, k):
        found = []
        while len(found) < k:
            found.append(b.sum())
            b = b + 1
        return found, b

    def rows(b, k):
        found = []
        for i in range(k):
            found.append(b[:5000] + i)
        return found

    b = np.arange(9000) % 7
    for function in (sums, rows):
        for k in (1, 5):
            got, wanted = on_device(accel.compile(function, device="cuda"), accel.to_device(b), k), function(b, k)
            parts = zip(got, wanted) if function is sums else [(got, wanted)]
            for one, other in parts:
                assert len(one) == len(other)
                for x, y in zip(one, other):
                    assert isinstance(x, accel.DeviceArray) == isinstance(y, np.ndarray)
                    assert np.array_equal(x.numpy() if isinstance(x, accel.DeviceArray) else x, y)
            if function is rows and k > 1:
                got[0][0] = 77
                assert got[1].tolist() == wanted[1].tolist()
    """
    )


@needs_emulation
def test_a_device_that_is_lost(check_program):
    check_program("""
    compiled = accel.compile(change)
    with accel.device("cuda"):
        x, y = inputs()
        on_device(compiled, x, y)
        a = accel.to_device(x)
        fail("cuLaunchKernel", 1, 700, 1)
        x, y = inputs()
        assert same(warns(lambda: compiled(x, y), "cuda_failed"), change(*inputs()))
        x, y = inputs()
        assert same(quiet(lambda: compiled(x, y)), change(*inputs()))
    with pytest.raises(accel.DeviceError, match="cuda_failed") as raised:
        compiled(a, a)
    assert "new process" in str(raised.value)
    with pytest.raises(accel.DeviceError, match="cuda_failed"):
        a.numpy()
    """)


def test_a_child_process(check_program):
    check_program("""
    compiled, plain = accel.compile(f), accel.compile(change, device="cuda")
    a = accel.to_device(np.ones(3))
    x, y = inputs()
    with accel.device("cuda"):
        on_device(compiled, x, y)
        child = os.fork()
        if child == 0:
            status = 1
            try:
                assert same(warns(lambda: compiled(x, y), "cuda_failed"), f(*inputs()))
                assert same(quiet(lambda: compiled(x, y)), f(*inputs()))
                assert same(warns(lambda: plain(*inputs()), "fork"), change(*inputs()))
                for use in (lambda: compiled(a, a), lambda: a + 1, lambda: a.numpy(), lambda: accel.to_device(x)):
                    with pytest.raises(accel.DeviceError, match="fork"):
                        use()
                with accel.device("cpu"):
                    assert same(quiet(lambda: compiled(x, y)), f(*inputs()))
                del a
                status = 0
            except BaseException:
                import traceback
                traceback.print_exc()
            finally:
                os._exit(status)
        assert os.waitpid(child, 0)[1] == 0
        on_device(compiled, x, y)
    assert (a + 1).tolist() == [2, 2, 2]
    """)


def test_two_threads(check_program):
    check_program("""
    compiled, changing = accel.compile(f), accel.compile(change)
    problems = []

    def work(number):
        try:
            with accel.device("cuda" if number % 2 else "cpu"):
                for k in range(30):
                    x, y = inputs()
                    x += number
                    if number >= 2:
                        x, y = accel.to_device(x), accel.to_device(y)
                    z, total = compiled(x, y)
                    wanted = f(inputs()[0] + number, inputs()[1])
                    assert np.allclose(np.asarray(z), wanted[0]) and np.isclose(total, wanted[1])
                    assert np.allclose(np.asarray(changing(x, y)), change(inputs()[0] + number, inputs()[1]))
        except BaseException as problem:
            import traceback
            problems.append(traceback.format_exc())

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    before = used()
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    assert not problems, problems[0]
    assert used() == before
    x, y = inputs()
    with accel.device("cuda"):
        on_device(compiled, x, y)
    """)


def test_functions_that_must_be_compiled_as_a_whole(check_program):
    check_program("""
    compiled = accel.compile(lambda x: np.sort(x * 2), fullgraph=True)
    assert compiled(np.array([2.0, 1.0])).tolist() == [2, 4]
    with accel.device("cuda"):
        assert compiled(np.array([2.0, 1.0])).tolist() == [2, 4]
    """)
