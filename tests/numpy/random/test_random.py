"""Methods of numpy.random.Generator inside compiled functions: the same numbers, and the same state afterwards."""

import numpy as np
import pytest
from support.compiled import facts
from support.differential import check, check_left_to_numpy, sample
from support.generators import generator, is_free
from support.outcome import assert_same

import accel

SCALARS = {
    "random": lambda rng: (rng.random(), rng.random(dtype=np.float32)),
    "normal": lambda rng: (rng.normal(), rng.normal(3.0), rng.normal(1, scale=0.5), rng.standard_normal()),
    "uniform": lambda rng: (rng.uniform(), rng.uniform(-1, np.float32(2))),
    "integers": lambda rng: (rng.integers(10), rng.integers(-5, 6), rng.integers(3, endpoint=True)),
    "integers_of_dtypes": lambda rng: (
        rng.integers(9, dtype=np.uint8),
        rng.integers(9, dtype=int),
        rng.integers(2, dtype=bool),
    ),
    "exponential": lambda rng: (rng.exponential(), rng.exponential(2.0), rng.standard_exponential(), rng.gamma(2.0)),
    "counts": lambda rng: (rng.poisson(3.0), rng.binomial(10, 0.3), rng.geometric(0.2)),
    "choice": lambda rng: (rng.choice(7), rng.choice(7, p=np.full(7, 1 / 7))),
}
ARRAYS = {
    "random": lambda rng, a: (rng.random(a.shape), rng.random(4, dtype="f4"), rng.standard_normal((2, 0))),
    "normal": lambda rng, a: (rng.normal(size=a.shape[0]), rng.normal(a), rng.normal(a, 2.0), rng.normal(a[0], np.abs(a))),
    "integers": lambda rng, a: (rng.integers(0, 5, a.shape), rng.integers(300, size=3, dtype=np.uint16), rng.integers([3, 4])),
    "choice": lambda rng, a: (
        rng.choice(a[0], 7),
        rng.choice(a[:, 1]),
        rng.choice(9, (2, 3)),
        rng.choice(a[1], 2, replace=False),
    ),
    "permutation": lambda rng, a: (rng.permutation(a), rng.permutation(5), rng.permutation(a[0]), rng.permutation(a.T)),
    "permuted": lambda rng, a: (rng.permuted(a), rng.permuted(a, axis=1), rng.permuted(a.T, axis=0)),
}


@pytest.mark.parametrize("name", SCALARS)
def test_numbers(name):
    check(SCALARS[name], generator())


@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.parametrize("order", "CF")
def test_arrays(name, order):
    check(ARRAYS[name], generator(), sample((4, 5)).copy(order=order))


@pytest.mark.parametrize("bits", [np.random.MT19937, np.random.Philox, np.random.SFC64, np.random.PCG64DXSM])
def test_every_bit_generator(bits):
    check(SCALARS["normal"], generator(3, bits))


def test_counts_of_arrays():
    check(
        lambda rng, a: (rng.poisson(2.5, a.shape), rng.poisson(np.abs(a)), rng.binomial(5, 0.5, 3)), generator(), sample((2, 3))
    )


def test_shuffle_in_place():
    def function(rng, a, n):
        for _ in range(n):
            rng.shuffle(a)
            rng.shuffle(a[1], axis=0)
        rng.shuffle(a, axis=1)
        return a.sum(axis=0)

    check(function, generator(), sample((4, 5)), 3)


def test_one_kernel_serves_all_generators():
    def function(rng, n):
        total = 0.0
        for _ in range(n):
            total += rng.normal() * rng.integers(n)
        return total

    call = check(function, generator(), 5)
    for seed, bits in [(2, np.random.PCG64), (3, np.random.MT19937)]:
        assert_same(function, call, generator(seed, bits), 20, times=1)
    assert facts(call)["compiles"] == 1


RNG = np.random.default_rng(0)


def test_a_global_generator_and_an_attribute():
    class Model:
        def __init__(self):
            self.rng = generator()
            self.scale = 2.0

        def step(self, x):
            return x + self.scale * self.rng.normal(size=x.shape) + RNG.random()

    results = []
    for wrap in (lambda f: f, lambda f: accel.compile(f, fullgraph=True)):
        RNG.bit_generator.state = np.random.PCG64(5).state
        model, step = Model(), wrap(Model.step)
        results.append([step(model, np.arange(3.0)).tobytes() for _ in range(4)] + [RNG.random(), model.rng.random()])
    assert results[0] == results[1]


def test_state_is_as_before_where_the_interpreter_does_it_again():
    """An event, an error of NumPy's, an index out of bounds: after numbers have been drawn."""

    def event(rng, x):
        y = rng.random(3) + x
        return 1.0 / y.sum(), rng.normal()

    def error(rng, x):
        y = rng.random(3)
        np.bincount(x)
        return y, rng.normal()

    def loop(rng, x, n):
        for i in range(n):
            x[i] = rng.normal() / x[i]
        return rng.random()

    for x in (0.0, -np.inf, np.nan):
        check_left_to_numpy(event, generator(), x)
    check_left_to_numpy(error, generator(), np.array([3, -1]))
    check_left_to_numpy(loop, generator(), np.arange(4.0), 4)
    check_left_to_numpy(loop, generator(), np.arange(1.0, 5), 9)


def test_wrong_arguments():
    check_left_to_numpy(lambda rng, n: rng.integers(n), generator(), 0)
    check_left_to_numpy(lambda rng, n: (rng.random(), rng.normal(0.0, n)), generator(), -1.0)
    check_left_to_numpy(lambda rng, n: (rng.random(), rng.normal(size=n)), generator(), -1)


def test_numbers_of_the_interpreter_go_on_where_compiled_code_left():
    def function(rng, n, name):
        total = 0.0
        for _ in range(n):
            total += rng.random()
        return total, len(f"{name:>10}"), rng.random()

    check_left_to_numpy(function, generator(), 7, "x")


@pytest.mark.parametrize("exit", range(1, 10))
def test_exits(exit):
    def function(rng, x, n):
        for i in range(n):
            if rng.random() < 0.5:
                x[rng.integers(len(x))] += rng.normal()
        return rng.permutation(x)

    with accel.config(stress_exits=exit):
        call = accel.compile(function, backend="numpy")
        assert_same(function, call, generator(), np.arange(5.0), 6, times=2)


@pytest.mark.parametrize("name", SCALARS)
def test_evaluated_by_numpy(name):
    call = accel.compile(SCALARS[name], backend="numpy", fullgraph=True)
    assert_same(SCALARS[name], call, generator(), times=2)


def test_a_bit_generator_of_ones_own():
    class Counting(np.random.PCG64):
        pass

    check_left_to_numpy(SCALARS["random"], np.random.Generator(Counting(1)))


def test_locks_are_given_back():
    def function(rng, n, x):
        total = 0.0
        for _ in range(n):
            total += rng.random() * rng.normal()
        return total / x

    call = accel.compile(function)
    for x in (2.0, np.float64(0.0), 3.0):
        check_left_to_numpy(function, generator(), 5, x)
        rng = generator()
        with np.errstate(all="ignore"):
            call(rng, 5, x)
        assert is_free(rng)
