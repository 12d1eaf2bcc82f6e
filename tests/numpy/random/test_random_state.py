"""Functions of numpy.random and methods of RandomState inside compiled functions: the same numbers, and the same state
after.
"""

import warnings

import numpy as np
import pytest
from support.compiled import facts

import accel


def state_of(rng):
    state = rng.get_state(legacy=False)
    return state["state"]["key"].tobytes(), state["state"]["pos"], state["has_gauss"], state["gauss"]


def is_same(a, b):
    if isinstance(a, tuple | list):
        return type(a) is type(b) and len(a) == len(b) and all(map(is_same, a, b))
    if isinstance(a, np.ndarray):
        alike = isinstance(b, np.ndarray) and (a.dtype, a.shape, a.strides) == (b.dtype, b.shape, b.strides)
        return alike and a.tobytes() == b.tobytes()
    return type(a) is type(b) and (a == b or a != a)


def outcome(function, normals, arguments):
    """What the function gives or raises, its warnings, and the global state after it, of which `normals` is drawn before."""
    np.random.seed(11)
    np.random.randn(normals)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            result = function(*arguments)
        except Exception as error:
            result = (type(error), str(error))
    return result, [(w.category, str(w.message)) for w in heard], state_of(np.random.mtrand._rand)


def check_global(function, *arguments, whole=True, times=3, **options):
    """An even and an odd number of normal numbers before: of two that NumPy draws it keeps one."""
    call = accel.compile(function, **options)
    for k in range(times):
        copies = [[a.copy() if isinstance(a, np.ndarray) else a for a in arguments] for _ in range(2)]
        expected, found = outcome(function, k, copies[0]), outcome(call, k, copies[1])
        assert is_same(expected[0], found[0]), (expected[0], found[0])
        assert expected[1:] == found[1:]
        assert is_same(copies[0], copies[1])
    if whole:
        assert facts(call)["compiled"] == times, facts(call)
        assert facts(call)["side_exits"] == 0, accel.explain(call)(*arguments)


def half(n):
    count = 0
    for _ in range(n):
        if np.random.random() < 0.5:
            count += 1
    return count, np.random.random_sample(), np.random.rand()


def between(n):
    total = 0.0
    for i in range(n):
        total += np.random.uniform(-1, i) * np.random.uniform() - np.random.uniform(high=3.0, low=1)
    return total, np.random.uniform(2.0, 2.0)


def dice(n):
    seen = np.zeros(6, int)
    for i in range(n):
        seen[np.random.randint(6)] += 1
        seen[np.random.randint(1, 4)] += np.random.randint(i + 1)
    return seen, np.random.randint(2**40), np.random.randint(-3, 2**62), np.random.randint(7, 8), np.random.randint(0, 2**32)


def dtypes_of_dice(n):
    return (
        np.random.randint(n, dtype=np.uint8),
        np.random.randint(n, dtype=np.int64),
        np.random.randint(2, dtype=bool),
        np.random.randint(0, n, n, dtype=np.int16),
        np.random.randint(0, n, size=(n, 2)),
    )


def normals(n):
    total = 0.0
    for i in range(n):
        total += np.random.randn() * np.random.normal(1.0, i) + np.random.standard_normal()
    return total, np.random.randn(n), np.random.randn(n, 2), np.random.normal(size=3), np.random.rand()


def arrays(n):
    x, y = np.random.rand(n, 3), np.random.rand(n)
    np.random.shuffle(y)
    parts = np.random.permutation(n), np.random.permutation(y), np.random.choice(n, 4), np.random.choice(x[:, 0], 5)
    return (
        x,
        y,
        parts,
        np.random.choice(n),
        np.random.uniform(size=(2, n)),
        np.random.uniform(x, 3.0),
        np.random.rand(n, 1).sum(0),
    )


def others(n):
    single = [np.random.exponential(2.0), np.random.poisson(3.0), np.random.binomial(10, 0.3), np.random.gamma(2.0)]
    return (
        single,
        np.random.poisson(4.0, n),
        np.random.beta(1.0, 2.0, (n, 2)),
        np.random.lognormal(size=n),
        np.random.standard_t(3.0),
    )


def walk(n):
    x = np.zeros((n, 2))
    for i in range(1, n):
        x[i] = x[i - 1] + np.random.choice([-1, 1], 2) * np.random.rand(2)
    return x


FUNCTIONS = [half, between, dice, dtypes_of_dice, normals, arrays, others, walk]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_whole(function):
    check_global(function, 12)


@pytest.mark.parametrize("function", [half, dice, normals, arrays], ids=lambda f: f.__name__)
def test_evaluated_by_numpy(function):
    check_global(function, 12, backend="numpy")


@pytest.mark.parametrize("exit", range(1, 9))
@pytest.mark.parametrize("function", [half, dice, normals], ids=lambda f: f.__name__)
def test_exits(function, exit):
    with accel.config(stress_exits=exit):
        check_global(function, 5, whole=False, backend="numpy")


def test_seeds_inside():
    def seeded(n):
        np.random.seed(n)
        first = np.random.rand(), np.random.randn(), np.random.randint(9)
        np.random.seed(n)
        return first, (np.random.rand(), np.random.randn(), np.random.randint(9))

    check_global(seeded, 5, whole=False)


def event(x, n):
    total = np.float64(0.0)
    for i in range(n):
        total += np.random.randn() / x[i] + np.random.rand() * np.random.randint(4)
    return total


def error(x, n):
    y = np.random.rand(n) + np.random.randn()
    np.bincount(x)
    return y


def bad(x, n):
    return np.random.rand(), np.random.randn(), np.random.randint(n), np.random.uniform(x[0], np.inf)


def test_state_is_as_before_where_the_interpreter_does_it_again():
    check_global(event, np.array([1.0, 2.0, 0.0, 3.0]), 4, whole=False)
    check_global(event, np.array([1.0, 2.0, 4.0, 3.0]), 7, whole=False)
    check_global(error, np.array([2, -1]), 3, whole=False)
    for n in (3, 0, -2):
        check_global(bad, np.ones(2), n, whole=False)
    check_global(lambda n: (np.random.rand(), np.random.rand(2, n)), -1, whole=False)


class Model:
    def __init__(self, seed):
        self.rng = np.random.RandomState(seed)

    def step(self, x):
        if self.rng.rand() < 0.5:
            x = x + self.rng.randint(0, 5, len(x))
        return x * self.rng.uniform(-1, 1), self.rng.randn()


def test_states_that_are_passed():
    def drawn(rng, n):
        total = 0.0
        for _ in range(n):
            total += rng.rand() * rng.randint(0, 5)
        return total, rng.random_sample(4), rng.standard_normal(), rng.permutation(n)

    call, step = accel.compile(drawn), accel.compile(Model.step)
    for seed in (3, 4, 3):
        a, b = np.random.RandomState(seed), np.random.RandomState(seed)
        assert is_same(drawn(a, 20), call(b, 20))
        assert state_of(a) == state_of(b)
        models = Model(seed), Model(seed)
        for _ in range(4):
            assert is_same(models[0].step(np.arange(3.0)), step(models[1], np.arange(3.0)))
        assert state_of(models[0].rng) == state_of(models[1].rng)
    assert facts(call)["compiles"] == 1 and facts(call)["side_exits"] == 0
    assert facts(step)["side_exits"] == 0


def test_a_state_over_another_bit_generator():
    for bits in (np.random.PCG64, np.random.Philox, np.random.SFC64):
        states = [np.random.RandomState(bits(5)) for _ in range(2)]
        call = accel.compile(lambda rng: (rng.rand(), rng.randint(9), rng.randn(), rng.uniform(1, 2, 3)))
        assert is_same(call.__wrapped__(states[0]), call(states[1]))
        assert is_same(states[0].rand(3), states[1].rand(3))
