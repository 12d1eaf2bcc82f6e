"""Linear equations, inverses, determinants and Cholesky factors on a device against NumPy."""

import ctypes

import numpy as np
import pytest
from support.device_arrays import on_host, ran_on_device

import accel
from accel import _accel

UNITS = {"f": 1e-4, "d": 1e-11, "F": 1e-4, "D": 1e-11}  # relative to the largest element
LIBRARY = 132  # rows of a matrix for which cuSOLVER is called


def solve(a, b):
    return np.linalg.solve(a, b)


def inv(a):
    return np.linalg.inv(a)


def det(a):
    return np.linalg.det(a)


def lower(a):
    return np.linalg.cholesky(a)


def upper(a):
    return np.linalg.cholesky(a, upper=True)


def random(shape, dtype, seed=0):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=shape)
    return (values + 1j * rng.normal(size=shape) if dtype in "FD" else values).astype(dtype)


def positive(shape, dtype):
    a = random(shape, dtype)
    return (a @ a.conj().swapaxes(-1, -2) / shape[-1] + np.eye(shape[-1])).astype(dtype)


def check(function, *arrays, device=True):
    """The call is compiled, runs on the device and gives what NumPy does."""
    expected = function(*arrays)
    given = [accel.to_device(a) for a in arrays] if device else arrays
    with accel.device("cuda"):
        found = on_host(ran_on_device(accel.compile(function), *given))
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    if not device:
        assert type(found) is type(expected)
    scale = np.max(np.abs(expected), initial=0) or 1
    np.testing.assert_allclose(found / scale, expected / scale, rtol=0, atol=UNITS[expected.dtype.char])


@pytest.mark.parametrize("dtype", "fdFD")
@pytest.mark.parametrize("n", [1, 2, 5, 33, LIBRARY])
@pytest.mark.parametrize("function", [solve, inv, det, lower, upper])
def test_matrices(function, n, dtype):
    matrix = positive if function in (lower, upper) else random
    second = [random((n, 3), dtype, 1)] if function is solve else []
    scale = 1 if function in (lower, upper) else n**-0.5  # determinants stay in the range of the dtype
    check(function, (matrix((n, n), dtype) * scale).astype(dtype), *second)
    check(function, (matrix((3, n, n), dtype) * scale).astype(dtype), *[np.stack([b] * 3) for b in second], device=False)


def views(a):
    """The same matrices in other layouts."""
    yield np.ascontiguousarray(a.swapaxes(-1, -2)).swapaxes(-1, -2)
    wide = np.zeros((*a.shape[:-2], 2 * a.shape[-2], 3 * a.shape[-1]), a.dtype)
    wide[..., ::2, 1::3] = a
    yield wide[..., ::2, 1::3]
    yield np.ascontiguousarray(a[..., ::-1, ::-1])[..., ::-1, ::-1]


@pytest.mark.parametrize("n", [4, LIBRARY])
@pytest.mark.parametrize("function", [solve, inv, det, lower, upper])
def test_layouts(function, n):
    matrix = positive if function in (lower, upper) else random
    for a in views(matrix((2, n, n), "D")):
        check(function, a, *([random((2, n, 3), "D")[:, :, ::-1]] if function is solve else []))


def test_vectors():
    for n in (3, LIBRARY):
        check(solve, random((n, n), "d"), random((n,), "d", 1))
        check(solve, random((n, n), "d"), random((2 * n,), "d", 1)[::2])
        check(solve, random((4, n, n), "d"), random((n,), "d", 1), device=False)


def test_stacks():
    check(solve, random((4, 1, 3, 3), "d"), random((2, 3, 5), "d", 1))
    check(inv, random((2, 3, 4, 4), "f"))
    check(det, random((2, 3, 4, 4), "D"))
    check(inv, np.broadcast_to(random((3, 3), "d"), (5, 3, 3)))
    check(det, random((1000, 2, 2), "d"), device=False)


def test_many_large_matrices():
    """Several at once, by kernels of accel's, in memory that is not shared."""
    check(inv, positive((5, LIBRARY, LIBRARY), "D"))
    check(lower, positive((5, LIBRARY, LIBRARY), "D"))


@pytest.mark.parametrize("function", [inv, det, lower, upper])
@pytest.mark.parametrize("shape", [(0, 0), (0, 3, 3), (2, 0, 0)])
def test_nothing(function, shape):
    check(function, np.ones(shape), device=False)
    check(function, np.ones(shape))


def test_no_columns():
    check(solve, random((3, 3), "d"), np.ones((3, 0)))
    check(solve, np.ones((0, 0)), np.ones((0, 2)))


def test_integers_and_casts():
    check(inv, np.array([[2, 1], [1, 1]]))
    check(solve, np.array([[2, 1], [1, 1]], "i4"), np.array([[1.5], [2]], "f"))


@pytest.mark.parametrize("n", [3, LIBRARY])
def test_only_one_triangle_counts(n):
    a = positive((n, n), "d")
    check(lower, np.tril(a) + np.triu(np.full((n, n), np.nan), 1))
    check(upper, np.triu(a) + np.tril(np.full((n, n), np.nan), -1))


@pytest.mark.parametrize("n", [3, LIBRARY])
def test_singular_determinants(n):
    a = random((n, n), "d")
    a[-1] = 0
    check(det, a)
    assert on_host(accel.compile(det)(accel.to_device(a))) == 0


def errors_of(function, *arrays):
    """The exceptions of a call, of one with arrays on the device, and of one under the context."""
    with pytest.raises(np.linalg.LinAlgError) as expected:
        function(*arrays)
    compiled = accel.compile(function)
    with accel.device("cuda"):
        explained = [accel.explain(compiled)(*given) for given in (arrays, [accel.to_device(a) for a in arrays])]
    for why in explained:
        assert type(why.exception) is np.linalg.LinAlgError
        assert why.device["name"] == "cuda:0" and why.device["launches"] > 0
    return [str(error) for error in (expected.value, *(why.exception for why in explained))]


@pytest.mark.parametrize("n", [1, 4, LIBRARY])
def test_no_solution(n):
    singular = np.stack([np.eye(n), np.zeros((n, n)), np.eye(n)])
    for function, arrays in (
        (inv, [singular]),
        (inv, [singular[1]]),
        (solve, [singular, np.ones((n, 2))]),
        (solve, [singular[1], np.ones(n)]),
        (lower, [singular]),
        (upper, [-np.eye(n)]),
    ):
        assert len(set(errors_of(function, *arrays))) == 1


def test_a_call_after_an_error():
    compiled = accel.compile(inv)
    with accel.device("cuda"):
        for _ in range(2):
            with pytest.raises(np.linalg.LinAlgError):
                compiled(np.zeros((3, 3)))
            assert np.array_equal(ran_on_device(compiled, 2 * np.eye(3)), np.eye(3) / 2)


def changed_before(x, y, a):
    x += 1
    y[::2] = x
    inverse = np.linalg.inv(a)
    x *= 2
    return inverse @ x


@pytest.mark.parametrize("singular", [False, True])
def test_arguments_that_are_changed_before_an_error(singular):
    arrays = [np.ones(2), np.arange(4.0), np.ones((2, 2)) if singular else np.eye(2)]
    hosts, here = [a.copy() for a in arrays], [a.copy() for a in arrays]
    devices = [accel.to_device(a) for a in arrays]
    compiled = accel.compile(changed_before)
    errors = []
    for function, given in ((changed_before, hosts), (compiled, devices), (compiled, here)):
        with accel.device("cuda"):
            try:
                function(*given)
                errors.append("")
            except np.linalg.LinAlgError as error:
                errors.append(str(error))
    assert len(set(errors)) == 1 and bool(errors[0]) == singular
    for host, one, other in zip(hosts, here, devices, strict=True):
        assert np.array_equal(host, one) and np.array_equal(host, other.numpy())


def several(a, b):
    x = np.linalg.solve(a, b)
    return x, np.linalg.inv(a) @ b - x, np.linalg.det(a) * np.sum(x)


def test_among_other_operations():
    a, b = positive((4, 4), "d"), random((4, 4), "d")
    found = on_host(ran_on_device(accel.compile(several), accel.to_device(a), accel.to_device(b)))
    for one, other in zip(found, several(a, b), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)


@pytest.mark.parametrize("flag", [1, 4, 8, 16])  # of fenv.h
def test_flags_of_the_host_are_not_the_kernels(flag):
    """Floating-point flags that are set before a call, by other code, are no events of the call."""
    floats = ctypes.CDLL("libm.so.6")
    a = accel.to_device(np.eye(3))
    for function in (accel.compile(inv), accel.compile(lambda a: a @ a + 1)):
        expected = function(a).numpy()
        floats.feraiseexcept(flag)
        try:
            found = ran_on_device(function, a)
        finally:
            floats.feclearexcept(31)
        assert np.array_equal(found.numpy(), expected)


def test_with_an_errstate_of_the_caller():
    """NumPy's functions of linear algebra have an errstate of their own, which calls; it does not move them to the CPU."""
    with np.errstate(all="ignore"):
        check(inv, random((3, 3), "d"), device=False)


def test_large_matrices_are_the_librarys():
    if not _accel.examine_cuda()["libraries"]["cuSOLVER"]["path"]:
        pytest.skip("no cuSOLVER")
    compiled = accel.compile(inv)
    launches = []
    for n in (4, LIBRARY):
        a = accel.to_device(random((n, n), "d"))
        compiled(a)
        launches.append(accel.explain(compiled)(a).device["launches"])
    assert launches[1] > launches[0]  # copies by columns
