"""Mode reduce-overhead where something fails or runs beside it, in processes of their own."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from cuda.test_failures import START, needs_emulation

GRAPHS = """
def repeated(x, y, rounds):
    for _ in range(rounds):
        x += y
        y = np.cumsum(y) / 2
    return x * y, x.sum()

def waits(x, bound):
    while x.max() < bound:
        x = np.cumsum(x + 1)
        x = x / x.mean() + 2 + x
    return x

def graph(function):
    return accel.compile(function, mode="reduce-overhead")

def on_host(value):
    return value.numpy() if isinstance(value, accel.DeviceArray) else value

def check(compiled, function, *arguments):
    resident = [accel.to_device(a) if isinstance(a, np.ndarray) else a for a in arguments]
    got = compiled(*resident)
    wanted = function(*arguments)
    got, wanted = (one if isinstance(one, tuple) else (one,) for one in (got, wanted))
    for mine, theirs in zip(got, wanted):
        assert np.allclose(on_host(mine), theirs, rtol=1e-12)
    for mine, theirs in zip(resident, arguments):
        assert np.array_equal(on_host(mine), theirs)

def calls(function):
    return ctypes.CDLL(os.environ["ACCEL_CUDA_DRIVER"]).cuEmulateCalls(function.encode())
"""


@pytest.fixture
def check_program(tmp_path):
    def check(text, **environment):
        environment = {**os.environ, "ACCEL_CACHE_DIR": str(tmp_path), **environment}
        program = START + GRAPHS + textwrap.dedent(text)
        done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr

    return check


@needs_emulation
def test_a_graph_function_that_fails(check_program):
    """Kernels are launched one by one, and nothing is said."""
    check_program("""
    warnings.simplefilter("error")
    functions = ("cuFuncGetParamInfo", "cuGraphCreate", "cuGraphAddKernelNode_v2", "cuGraphInstantiateWithFlags",
                 "cuGraphExecKernelNodeSetParams_v2", "cuGraphLaunch")
    for name in functions:
        for nth in (1, 2, 3):
            for code in (1, 2, 719)[name == "cuFuncGetParamInfo" :]:  # 1 says there that the kernel has no more parameters
                compiled = [(graph(f), f, a) for f, a in ((repeated, (3,)), (waits, (50.0,)))]
                before = used()
                for k in range(5):
                    if k == (0 if name == "cuFuncGetParamInfo" else 1):
                        fail(name, nth, code)
                    for mine, function, rest in compiled:
                        x = np.arange(20.0) + k
                        arrays = (x, np.ones(20)) if function is repeated else (x / 20,)
                        check(mine, function, *arrays, *rest)
                fail(None)
                del mine
                assert used() == before, (name, nth, code)
    assert calls("cuGraphLaunch") > 100
    """)


@needs_emulation
def test_a_launch_that_fails(check_program):
    """What the graph could not launch, and cannot be launched one by one either, is an error of the call."""
    check_program("""
    compiled = graph(repeated)
    for _ in range(3):
        check(compiled, repeated, np.ones(20), np.ones(20), 3)
    a, b = accel.to_device(np.ones(20)), accel.to_device(np.ones(20))
    before = used()
    fail("cuGraphLaunch", 1, 1)
    fail("cuLaunchKernel", 2, 1)
    with pytest.raises(accel.DeviceError, match="cuLaunchKernel"):
        compiled(a, b, 3)
    fail(None)
    assert used() == before
    for _ in range(3):
        check(compiled, repeated, np.ones(20), np.ones(20), 3)
    fail("cuGraphLaunch", 1, 700, 1)
    with pytest.raises(accel.DeviceError, match="new process"):
        graph(waits)(a, 10.0)
        graph(repeated)(a, b, 300)
        compiled(a, b, 3)
        a.numpy()
    """)


@pytest.mark.parametrize("emulate", ["order=1,hide=0", "order=2,seed=1", "order=2,seed=2,workers=2", "eager=1"])
@pytest.mark.parametrize("pool", ["0", "1"])
def test_random_calls(check_program, emulate, pool):
    """In every order that the device may choose, with memory that is used again and memory that is not."""
    check_program(
        f"""
    sys_path = {str(Path(__file__).resolve().parents[2])!r}
    import sys
    sys.path.insert(0, sys_path)
    from support.on_device.random_calls import RandomCalls
    before = used()
    calls = RandomCalls(7)
    calls.run(60)
    del calls
    accel.reset()
    assert used() == before
    """,
        ACCEL_EMULATE=emulate,
        ACCEL_CUDA_POOL=pool,
    )


@pytest.mark.parametrize("pool", ["0", "1"])
def test_threads_with_one_function(check_program, pool):
    check_program(
        """
    compiled, flow, problems = graph(repeated), graph(waits), []

    def work(number):
        try:
            for k in range(40):
                check(compiled, repeated, np.arange(50.0) + number, np.ones(50), 3 + k % 2)
                check(flow, waits, np.arange(50.0 + number) / 50, 80.0)
        except BaseException:
            import traceback
            problems.append(traceback.format_exc())

    import sys
    sys.setswitchinterval(1e-5)
    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    before = used()
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    assert not problems, problems[0]
    assert used() == before
    """,
        ACCEL_CUDA_POOL=pool,
    )


@needs_emulation
def test_several_devices(check_program):
    check_program(
        """
    compiled = accel.compile(repeated, mode="reduce-overhead")
    for k in range(12):
        x, y = np.arange(30.0) + k, np.ones(30)
        a, b = (accel.to_device(z, f"cuda:{k % 2}") for z in (x, y))
        got, wanted = compiled(a, b, 4), repeated(x, y, 4)
        assert got[0].device == f"cuda:{k % 2}" and np.allclose(got[0].numpy(), wanted[0]) and np.array_equal(a.numpy(), x)
    assert calls("cuGraphLaunch") > 4
    """,
        ACCEL_EMULATE="devices=2",
    )


@needs_emulation
def test_a_driver_without_graphs(check_program, tmp_path):
    """Of CUDA before 12.4: the mode is the default one."""
    driver = Path(os.environ["ACCEL_CUDA_DRIVER"])
    older = tmp_path / "older_emulated_cuda.so"
    older.write_bytes(driver.read_bytes().replace(b"\0cuFuncGetParamInfo\0", b"\0cuFuncGetParamNone\0"))
    check_program(
        """
    compiled = graph(repeated)
    for _ in range(4):
        check(compiled, repeated, np.arange(20.0), np.ones(20), 3)
    assert calls("cuGraphLaunch") == 0
    """,
        ACCEL_CUDA_DRIVER=str(older),
    )


def test_a_child_process(check_program):
    check_program("""
    compiled = graph(repeated)
    for _ in range(3):
        check(compiled, repeated, np.ones(20), np.ones(20), 3)
    a = accel.to_device(np.ones(20))
    child = os.fork()
    if child == 0:
        status = 1
        try:
            with pytest.raises(accel.DeviceError, match="fork"):
                compiled(a, a, 3)
            del a, compiled
            accel.reset()
            gc.collect()
            status = 0
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0
    check(compiled, repeated, np.ones(20), np.ones(20), 3)
    """)


def test_a_signal_handler_that_uses_the_device(check_program):
    """What a handler launches in the middle of a run comes after what the run has launched."""
    check_program("""
    import signal

    def counted(y, rounds):
        for _ in range(rounds):
            y[1:] += 1
            y[:-1] = y[1:]
        return y

    seen = []
    def handler(*_):  # asks for the next signal when it is done, as it may take longer than the time between two
        seen.append((y * 2 + total(y, 1)).numpy())
        signal.setitimer(signal.ITIMER_REAL, 0.1)

    def total(y, rounds):
        return y.sum() * 0

    total = graph(total)
    compiled = graph(counted)
    y = accel.to_device(np.zeros(6))
    compiled(y, 3)
    signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.002)
    compiled(y, 140_000)
    signal.setitimer(signal.ITIMER_REAL, 0)
    assert y.tolist()[-1] == 140_003 and seen
    for one in seen:
        assert np.all(one[1:] >= one[:-1]) and one[-1] - one[0] <= 2, one
    """)
