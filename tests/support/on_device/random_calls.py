"""Random calls of functions on a device, in mode reduce-overhead, in the default mode and by NumPy."""

import numpy as np
from support.device_arrays import on_host

import accel


def vector(rng, size, count=1):
    made = [rng.random(size) + 0.5 for _ in range(count)]
    return made[0] if count == 1 else made


def sweeps(a, b, steps):
    a, b = a.copy(), b.copy()
    for _ in range(steps):
        b[1:-1] = 0.5 * (a[:-2] + a[2:])
        a[1:-1] = 0.5 * (b[:-2] + b[2:])
    return a


def in_place(x, y, steps):
    """Both arguments change, and may be the same memory."""
    for _ in range(steps):
        x[1:] += 0.25 * y[:-1]
        y[:-1] = np.cumsum(x[1:]) / x.size
    return x - y


def until(x, bound):
    """Each iteration waits for the condition of the loop."""
    while x.max() < bound:
        x = np.sqrt(x * x + x) + 1
        x = x[::-1] + np.cumsum(x)
    return x, x.sum()


def products(x, steps):
    """Kernels of accel's own for small products."""
    for _ in range(steps):
        x = x @ x.T
        x = x / x.max()
    return x


def solved(a, b):
    """Waits for the solver between two stretches."""
    a = a @ a.T + np.eye(a.shape[0]) * a.shape[0]
    x = np.linalg.solve(a, b)
    return np.cumsum(x) * 2, (x - x.mean()) / x.std()


def moments(x):
    y = (x - x.mean()) / (x.std() + 1)
    z = np.exp(y - y.max())
    return z / z.sum(), np.argmax(y), np.cumsum(z[::2])


def lists(x, steps):
    found = []
    for k in range(steps):
        x = np.cumsum(x) / 2 + k
        found.append(x[: 1 + k])
    return found


def scattered(x, indices, values):
    x = x.copy()
    np.add.at(x, indices, values)
    x[indices[::-1]] = values
    return np.cumsum(x)


def selected(x, steps):
    for _ in range(steps):
        y = x[x > x.mean()]
        if y.size < 3:
            break
        x = np.cumsum(y) - y
    return x


sweeps.arguments = lambda rng, size: (*vector(rng, max(size, 2), 2), 2 + size % 5)
in_place.arguments = lambda rng, size: (*vector(rng, max(size, 2), 2), 1 + size % 4)
until.arguments = lambda rng, size: (vector(rng, size), 10.0 * (1 + size % 3))
products.arguments = lambda rng, size: (vector(rng, size % 30 + 2).reshape(1, -1) * vector(rng, size % 30 + 2)[:, None], 3)
solved.arguments = lambda rng, size: (vector(rng, (size % 30 + 2) ** 2).reshape(size % 30 + 2, -1), vector(rng, size % 30 + 2))
moments.arguments = lambda rng, size: (vector(rng, size),)
lists.arguments = lambda rng, size: (vector(rng, size), 1 + size % 6)
scattered.arguments = lambda rng, size: (vector(rng, size), rng.integers(0, size, 2 * size), vector(rng, 2 * size))
selected.arguments = lambda rng, size: (vector(rng, size), 4)
PROGRAMS = [sweeps, in_place, until, products, solved, moments, lists, scattered, selected]


def parts(value):
    """The arrays and numbers of a result."""
    return [part for one in value for part in parts(one)] if isinstance(value, (list, tuple)) else [value]


class RandomCalls:
    """`kept`: earlier results, each with the bytes that it had then; later calls may not change them."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.graphs = {f: accel.compile(f, mode="reduce-overhead", device="cuda") for f in PROGRAMS}
        self.plain = {f: accel.compile(f, device="cuda") for f in PROGRAMS}
        self.kept = []

    def run(self, count):
        for _ in range(count):
            self.call(PROGRAMS[self.rng.integers(len(PROGRAMS))])
            if self.rng.random() < 0.1:
                self.check_kept()
        self.check_kept()

    def call(self, function):
        arguments = function.arguments(self.rng, int(self.rng.choice([1, 2, 7, 20, 20, 20, 300, 3000])))
        share = self.rng.random() < 0.3 and function in (sweeps, in_place)
        is_resident = self.rng.random() < 0.8
        sets = [self.copies(arguments, share, resident) for resident in (False, is_resident, is_resident)]
        wanted = function(*sets[0])
        plain, found = self.plain[function](*sets[1]), self.graphs[function](*sets[2])
        for given, of_plain, mine in zip(*sets, strict=True):
            self.check(mine, of_plain, given)
        self.check(found, plain, wanted)
        if self.rng.random() < 0.5:
            self.kept += [(part, part.numpy().tobytes()) for part in parts(found) if isinstance(part, accel.DeviceArray)]
        if len(self.kept) > 50:
            self.kept = self.kept[10:]

    def copies(self, arguments, share, is_resident):
        """With `share` the first two arrays are views of one."""
        made = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
        if is_resident:
            made = [accel.to_device(a) if isinstance(a, np.ndarray) else a for a in made]
        if share:
            made[1] = made[0][::-1]
        return made

    def check(self, found, plain, wanted):
        one, other, third = parts(found), parts(plain), parts(wanted)
        assert len(one) == len(other) == len(third)
        for mine, of_plain, expected in zip(one, other, third, strict=True):
            assert type(mine) is type(of_plain)
            mine, of_plain = np.asarray(on_host(mine)), np.asarray(on_host(of_plain))
            assert mine.dtype == of_plain.dtype and mine.tobytes() == of_plain.tobytes()
            np.testing.assert_allclose(mine, expected, rtol=1e-9, atol=1e-9)

    def interpreted(self):
        """How many calls the interpreter made."""
        return sum(accel.stats(f)["interpreted"] for f in (*self.graphs.values(), *self.plain.values()))

    def check_kept(self):
        for array, was in self.kept:
            assert array.numpy().tobytes() == was
