"""Loops and branches that depend on what the device computes."""

import numpy as np
import pytest
from optimisations.codegen.escape_bodies import BODIES, plane
from support.compiled import facts
from support.device_arrays import check_equal, on_host, outcome, ran_on_device
from support.interrupts import interrupted

import accel


def until_small(x, bound):
    rounds = 0
    while np.abs(x).max() > bound:
        x = x / 2
        rounds += 1
    return x, rounds


def heat(x, tolerance):
    """Jacobi's iteration until it changes little."""
    error = np.inf
    while error > tolerance:
        before = x.copy()
        x[1:-1, 1:-1] = 0.25 * (before[:-2, 1:-1] + before[2:, 1:-1] + before[1:-1, :-2] + before[1:-1, 2:])
        error = np.abs(x - before).max()
    return error


def branches(x):
    total = x.sum()
    if total > 10:
        y = x * 2
    elif total > 0:
        y = x - 1
    else:
        return -1
    return y + total


def early(x, limit):
    for k in range(limit):
        x = x * 1.5
        if x.max() > 100:
            return k, x
    return limit, x


def breaks(x, y):
    kept = []
    for k in range(10):
        x = x + y
        if (x > 5).all():
            break
        if (x > 4).any():
            continue
        kept.append(x.sum())
    else:
        return None
    return k, kept, x


def nested(x, bound):
    outer = 0
    while x.sum() > bound:
        inner = x
        while inner.max() > 1:
            inner = inner * 0.5
        x = x - 0.1 * inner
        outer += 1
    return outer, x


def swapped(a, b):
    """Each iteration exchanges two arrays, and both are results."""
    steps = 0
    while a.sum() < 50:
        a, b = b + 1, a * 1.25
        steps += 1
    return a, b, steps


def power(matrix, tolerance):
    """The largest eigenvalue."""
    v = np.ones(matrix.shape[0])
    value, before = 1.0, 0.0
    while abs(value - before) > tolerance:
        w = matrix @ v
        before = value
        value = w.max()
        v = w / value
    return value, v


def bisected(x, low, high):
    for _ in range(20):
        middle = (low + high) / 2
        if (x * middle).sum() > 7.0:
            high = middle
        else:
            low = middle
    return low, high


def integers(x):
    count = 0
    while (x % 2 == 0).all() and count < 100:
        x = x // 2
        count += int(x.min())
    return x, count


def raises(x, limit):
    while True:
        x += 1
        if x.max() > limit:
            raise ValueError(f"more than {limit}")


def unsigned(x):
    steps = 0
    while x.sum() != 0:
        x = x >> 1
        steps += 1
    return steps, x


def of_halves(x):
    while x.std() > np.float16(0.01):
        x = (x + np.concatenate([x[1:], x[:1]])) / np.float16(2)
    return x


def of_complex(z):
    k = 0
    while np.abs(z).max() < 10 and k < 50:
        z = z * z + 0.4j
        k += 1
    return z, k


def one_number(x):
    if x.mean() > 0:
        return x.sum()
    return 0.0


def collects(x, rounds):
    parts, sums = [], []
    for k in range(rounds):
        x = x * 0.9
        parts.append(x[:2] + k)
        if x[0] > 0.1:
            sums.append(x.sum())
    return np.array(parts), parts, sums


def numbers_of_functions(x, steps):
    """The host has no text for exp, sqrt and power of NumPy's numbers: the device computes them."""
    step = np.float64(1) / steps
    up = np.exp(0.2 * np.sqrt(step))
    chance = (1 - 1 / up) / (up - 1 / up)
    for _ in range(steps):
        x = np.maximum(chance * x[1:] + (1 - chance) * x[:-1], 0.1)
    return x, up**2.5, np.arctan2(chance, up)


rng = np.random.default_rng(11)
CALLS = [
    (collects, rng.random(6), 12),
    (numbers_of_functions, rng.random(30) * 3, 9),
    (until_small, rng.normal(size=(40, 7)) * 100, 1.0),
    (until_small, np.full(3, 0.5), 1.0),
    (heat, rng.random((20, 30)), 1e-3),
    (branches, np.full(5, 3.0)),
    (branches, np.full(5, 0.5)),
    (branches, np.full(5, -3.0)),
    (early, np.arange(1.0, 9.0), 4),
    (early, np.arange(1.0, 9.0), 40),
    (breaks, np.linspace(0, 1, 6), np.full(6, 0.7)),
    (breaks, np.linspace(0, 1, 6), np.full(6, 0.01)),
    (nested, rng.random(50) * 4, 80.0),
    (swapped, np.ones(5), np.arange(5.0)),
    (power, rng.random((12, 12)), 1e-12),
    (bisected, np.arange(1.0, 6.0), 0.0, 4.0),
    (integers, np.array([64, 128, 1024])),
    (raises, np.zeros((3, 4)), 5),
    (unsigned, np.array([1, 200, 17], np.uint8)),
    (of_halves, rng.random(5).astype(np.float16)),
    (of_complex, np.array([0.1 + 0.2j, -0.5, 0.3j], np.complex64)),
    (one_number, np.arange(6.0)),
]
WITHOUT_EXITS = [branches, early, bisected]
NAMES = [f"{call[0].__name__}-{k}" for k, call in enumerate(CALLS)]


def copies(arguments):
    return [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]


def resident(arguments):
    return [accel.to_device(a) if isinstance(a, np.ndarray) else a for a in arguments]


def check_close(found, wanted):
    """Equal but for the last places: sums of few elements and products of matrices have another order on a device."""
    if isinstance(wanted, (list, tuple)):
        assert type(found) is type(wanted) and len(found) == len(wanted)
        for one, other in zip(found, wanted, strict=True):
            check_close(one, other)
    elif isinstance(wanted, np.ndarray) and wanted.dtype.kind in "fc":
        found = on_host(found)
        assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
        np.testing.assert_allclose(found, wanted, rtol=1e-3 if wanted.dtype == np.float16 else 1e-6)
    elif isinstance(wanted, np.ndarray):
        assert np.array_equal(on_host(found), wanted)
    elif isinstance(wanted, Exception):
        check_equal(found, wanted)
    else:
        assert type(found) is type(wanted) and np.isclose(found, wanted, rtol=1e-6) if wanted is not None else found is None


@pytest.mark.parametrize("call", CALLS, ids=NAMES)
def test_arguments_of_numpy(call):
    function, *arguments = call
    mine, theirs = copies(arguments), copies(arguments)
    wanted = outcome(function, *theirs)
    compiled = accel.compile(function, device="cuda")
    for _ in range(2):
        mine = copies(arguments)
        found = outcome(compiled, *mine) if isinstance(wanted, Exception) else ran_on_device(compiled, *mine)
        check_close(found, wanted)
        check_close(mine, theirs)


@pytest.mark.parametrize("call", CALLS, ids=NAMES)
def test_arguments_on_the_device(call):
    function, *arguments = call
    theirs = copies(arguments)
    wanted = outcome(function, *theirs)
    compiled = accel.compile(function)
    for _ in range(2):
        mine = resident(arguments)
        found = outcome(compiled, *mine) if isinstance(wanted, Exception) else ran_on_device(compiled, *mine)
        check_close(found, wanted)
        check_close(mine, theirs)


def test_numbers_beside_arrays_without_elements():
    def f(b):
        return b + 1, np.float64(b.shape[0]) - 3, b.sum() + 2

    b = np.ones((0, 3))
    for arguments in (copies([b]), resident([b])):
        found = ran_on_device(accel.compile(f, device="cuda"), *arguments)
        assert found[1:] == f(b)[1:]


def test_parts_that_cannot_be_written():
    def f(b):
        return b.imag, b - b

    there = accel.to_device(np.ones(3))
    imag, zeros = ran_on_device(accel.compile(f, device="cuda"), there)
    assert not imag.flags.writeable and zeros.flags.writeable
    check_close([imag, zeros], list(f(np.ones(3))))


def test_a_copy_that_is_changed():
    def f(b):
        v = +b
        v[0] = 7
        return v

    for there in (np.ones(3), accel.to_device(np.ones(3))):
        check_close(ran_on_device(accel.compile(f, device="cuda"), there), np.array([7.0, 1, 1]))
        check_close(there, np.ones(3))


@pytest.mark.parametrize("exits", range(0, 30, 3))
@pytest.mark.parametrize("call", CALLS, ids=NAMES)
def test_exits_that_are_forced(call, exits):
    function, *arguments = call
    theirs = copies(arguments)
    wanted = outcome(function, *theirs)
    for make, device in ((copies, "cuda"), (resident, None)):
        mine, compiled = make(arguments), accel.compile(function, device=device)
        with accel.config(stress_exits=exits):
            check_close(outcome(compiled, *mine), wanted)
        check_close(mine, theirs)
        assert exits != 3 or function in WITHOUT_EXITS or facts(compiled)["side_exits"] > 0


def endless(x, y):
    rounds = 0
    while x.max() < 10:
        y += 1
        rounds += 1
    return rounds


@pytest.mark.parametrize("is_resident", [False, True])
def test_an_endless_loop_ends_by_an_interrupt(is_resident):
    """KeyboardInterrupt is raised between two iterations: the array has the stores of all iterations before it."""
    x, y = np.arange(3.0), np.zeros(5)
    compiled = accel.compile(endless, device="cuda")
    assert compiled(x + 20, y) == 0
    mine = resident([x, y]) if is_resident else [x, y]
    late, frames = interrupted(compiled, *mine)
    assert frames[-1].name == "endless"
    y = on_host(mine[1])
    assert y[0] > 0 and np.all(y == y[0])
    assert late < 2
    assert ran_on_device(compiled, x + 20, np.zeros(5)) == 0


def test_what_explain_says():
    x = rng.normal(size=1000) * 100
    compiled = accel.compile(until_small)
    with accel.device("cuda"):
        why = accel.explain(compiled)(x, 1.0)
    rounds = why.result[1]
    assert rounds > 3 and why.device["waits"] == rounds + 1, str(why)  # of the test; the result's arrival is no wait


def test_an_array_that_grows():
    def grows(x):
        while x.size < 1 << 40 and x.max() < 5:
            x = np.concatenate([x, x + 1])
        return x

    x = np.zeros(16)
    found = ran_on_device(accel.compile(grows, device="cuda"), x)
    assert np.array_equal(found, grows(x)) and not x.any()


@pytest.mark.parametrize("shape", [(1, 1), (7, 41), (13, 64)])
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("body", BODIES)
def test_elements_end_one_after_the_other(body, dtype, shape):
    """One kernel has all steps of the loop."""
    c = plane(dtype, *shape)
    compiled = accel.compile(body, device="cuda")
    for steps in (0, 1, 30):
        wanted = body(np.zeros_like(c), c, steps, 2.0)
        for make in (copies, resident):
            why = accel.explain(compiled)(*make([np.zeros_like(c), c]), steps, 2.0)
            assert why.device["launches"] <= 2 and "repeat" in why.program, str(why)  # one copies or fills the state
            check_close(why.result, wanted)


def test_steps_that_change_an_argument():
    """They run in slices, with a poll for interrupts after each."""

    def decays(x, y, steps):
        for _ in range(steps):
            x *= 0.5
            x += y

    x, y = rng.random((50, 100)), rng.random((50, 100))
    mine, theirs = x.copy(), x.copy()
    decays(theirs, y, 400)
    why = accel.explain(accel.compile(decays, device="cuda"))(mine, y, 400)
    assert 1 < why.device["launches"] < 20 and why.device["waits"] >= why.device["launches"], str(why)
    check_close(mine, theirs)


def total(x):
    sum_of_all = 0.0
    for i in range(len(x)):
        sum_of_all += x[i]
    return sum_of_all


def test_loops_over_single_elements():
    """A CPU is faster."""
    x = rng.random(30)
    why = accel.explain(accel.compile(total, device="cuda"))(x)
    assert why.compiled and why.device["name"] == "cpu" and "not on the device: a loop over single elements" in str(why)
    assert why.result == total(x)


def squares(a):
    for _ in range(5):
        a = a @ a
    return a


def of_fixed_size(tolerance):
    u = np.zeros((90, 80))
    u[0] = 1
    change = 1.0
    while change > tolerance:
        before = u.copy()
        u[1:-1, 1:-1] = 0.25 * (before[:-2, 1:-1] + before[2:, 1:-1] + before[1:-1, :-2] + before[1:-1, 2:])
        change = np.abs(u - before).max()
    return u


def test_loops_whose_work_does_not_name_an_extent():
    a = rng.random((20, 20)) / 10
    check_close(ran_on_device(accel.compile(squares, device="cuda"), a), squares(a))
    check_close(ran_on_device(accel.compile(of_fixed_size, device="cuda"), 1e-2), of_fixed_size(1e-2))
