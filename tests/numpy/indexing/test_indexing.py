"""Views and basic indexing: contents, strides, what they are views of, and errors."""

import numpy as np
import pytest
from support.differential import check, check_left_to_numpy, check_sizes, layouts, sample

INDICES = [
    "0",
    "-1",
    "3",
    "1:",
    ":-1",
    "::2",
    "::-1",
    "1:4:2",
    "-3:",
    "4:1:-1",
    "5:2",
    "100:",
    ":100",
    "-100:2",
    "...",
    "None",
    "()",
    "0, 1",
    "0, :",
    ":, 0",
    "1:, ::-2",
    "..., 0",
    "None, :, None",
    "0, ..., -1",
    "-1, 2:",
    "None, 0, ..., None, 1:",
]


@pytest.mark.parametrize("index", INDICES)
def test_basic(index):
    function = eval(f"lambda x: (x[{index}], x[{index}] * 2.0)")
    check(function, sample((6, 5)))
    name, x = list(layouts(sample((6, 5))))[1 + INDICES.index(index) % 3]  # each index meets one of "F", "strided", "reversed"
    check(function, x, times=1)


@pytest.mark.parametrize("index", ["0", "-1", "1:", "::-1", "::2", "2:1", "...", "None"])
def test_one_dimensional(index):
    check(eval(f"lambda x: (x[{index}], x[{index}] + 1.0)"), sample(7))


def test_index_arguments():
    check(lambda x, i: (x[i], x[i, 0] + 1.0, x[:, i]), sample((6, 5)), 2)
    check(lambda x, i: x[i] * 2.0, sample((6, 5)), -1)
    check(lambda x, i: x[i : i + 2] * 2.0, sample((6, 5)), 1)
    check(lambda x, i: x[i] * 2.0, sample((6, 5)), np.int64(3))
    call = check(lambda x, n: x[1:n].sum() + x[n], sample(30), 5)
    import accel

    for n in range(2, 25):
        call(sample(30), n)
    assert accel.stats(call)["recompiles"] == 0


def test_shape_arithmetic():
    check(lambda x: x[: x.shape[0] // 2] * 2.0, sample((7, 3)))
    check(lambda x: (x[1:] - x[:-1], x[2:] - 2.0 * x[1:-1] + x[:-2]), sample(9))
    check(lambda x: x[x.shape[0] - 2], sample(9))


def test_out_of_bounds():
    check_left_to_numpy(lambda x: x[9], sample(5))
    check_left_to_numpy(lambda x: x[-6], sample(5))
    check_left_to_numpy(lambda x: x[0, 0], sample(5))
    check_left_to_numpy(lambda x: x[::0], sample(5))


def test_advanced_indices():
    check_left_to_numpy(lambda x: x[x > 0], sample(9))
    check_left_to_numpy(lambda x, i: x[i] * 2.0, sample(9), np.array([1, 2]))
    check_left_to_numpy(lambda x: x[[0, 2]] + 1.0, sample(9))


def test_scalars_by_index():
    check(lambda x: (x[0], x[0] + x[1], x[1] * 2.0), sample(5))
    check(lambda x: (x[0, 1], x[..., 0, 1]), sample((3, 4), "int32"))


def test_transposes():
    x = sample((2, 3, 4))
    check(lambda x: (x.T, x.transpose(1, 0, 2), x.transpose((2, 0, 1)), x.swapaxes(0, -1), x.mT, x + 1), x)
    check_left_to_numpy(lambda x: np.moveaxis(x, 0, -1) + 1, x)
    check(lambda x: (x.T * 2.0, x.transpose(1, 0, 2) + 1.0, x.swapaxes(0, 1) * x.swapaxes(0, 1)), x)
    check_left_to_numpy(lambda x: x.transpose(0, 0, 1), x)


def test_reshapes():
    x = sample((4, 6))
    check(
        lambda x: (
            x.reshape(24),
            x.reshape(-1),
            x.reshape(2, 2, -1),
            x.reshape((6, 4)),
            np.reshape(x, (3, 8)),
            x.ravel(),
            x + 1,
        ),
        x,
    )
    check(lambda x: (x.reshape(x.shape[0], 2, 3), x.reshape(x.shape), x.reshape(1, *x.shape), x + 1), x)
    check(lambda x: (x.T.reshape(-1), x.T.ravel(), x.flatten(), x.T.flatten(), x.T.reshape(3, 2, 4)), x)
    check(lambda x: (x[:, ::2].reshape(-1), x[::2].reshape(2, 2, 3), x[:, :3].reshape(4, 3, 1), x + 1), x)
    check(lambda x: x.reshape(-1) + 1.0, np.asfortranarray(x))
    check_left_to_numpy(lambda x: x.reshape(5, -1), x)
    check_left_to_numpy(lambda x: x.reshape(24, order="K"), x)
    check_left_to_numpy(lambda x: x.reshape(7), x)
    check_left_to_numpy(lambda x: x.reshape(-1, -1), x)


@pytest.mark.parametrize("order", ["C", "F", "A", "K"])
def test_orders_of_flat_arrays(order):
    x = sample((3, 4, 2))
    for given in (x, x.T, np.asfortranarray(x), x.transpose(1, 0, 2), x[:, ::2], x[::-1], x[:, ::-1].T, x[:1].T, x[0, 1:]):
        check(lambda x: (x.ravel(order), np.ravel(x, order), x.flatten(order), x + 1), given)
        if order != "K":
            check(lambda x: (x.reshape(-1, order=order), np.reshape(x, (2, -1), order=order), x + 1), given)
    check(lambda x: (np.broadcast_to(x[0, 0], (3, 2)).ravel(order), x + 1), x)
    check(lambda x: (np.broadcast_to(x[:, :1, 0], (3, 4)).flatten(order), x + 1), x)


def test_stores_through_flat_arrays_of_other_orders():
    def shifted(x):
        x.ravel(order="F")[1:] += 1
        x.T.ravel(order="K")[:3] *= 2
        x.reshape(-1, 2, order="F")[0] = 7
        return x

    for given in (sample((4, 6)), np.asfortranarray(sample((4, 6))), sample((4, 6))[:, ::2]):
        check(shifted, given)


def test_norms_of_the_lower_parts_of_columns():
    def norms(a):
        total = 0.0
        for k in range(a.shape[1]):
            total += np.linalg.norm(a[k:, k])
        return total

    check_sizes(norms, *[(sample(shape),) for shape in ((8, 8), (12, 5), (3, 3), (90, 70))])


def test_squeeze_and_expand():
    check(lambda x: (x.squeeze(), x.squeeze(1), np.squeeze(x, axis=(1, 3)), x[:, 0] + 1), sample((3, 1, 4, 1)))
    check(lambda x: (x.squeeze(), np.atleast_2d(x), x[None, :, None], x + 1), sample(4))
    check_left_to_numpy(lambda x: np.expand_dims(x, (0, 2)) + 1, sample(4))
    check_left_to_numpy(lambda x: x.squeeze(0), sample((3, 1)))


def test_parts():
    check(lambda x: (x.real, x.imag, x.real + x.imag, x.conj(), abs(x)), sample((3, 4), "complex128"))
    check(lambda x: (x.T.real, x[::2].imag + 1), sample((3, 4), "complex64"))
    check(lambda x: (x.real, x.conj() + 1), sample((3, 4)))


def test_attributes():
    check(
        lambda x: (x.shape, x.ndim, x.size, x.dtype, x.itemsize, x.nbytes, len(x), x.T.shape, x + 1), sample((3, 4), "float32")
    )
    check(lambda x: (x.sum().dtype, x.sum().shape, x.sum().ndim, x + 1), sample((3, 4)))
    check_left_to_numpy(lambda x: x.flags.c_contiguous, sample((3, 4)))


def test_views_keep_identity():
    def steps(x):
        whole = x[:]
        real = x.real
        return whole is x, real is x, x.T is x, x.squeeze() is x, x.astype(x.dtype, copy=False) is x, x + 1

    check(steps, sample((3, 4)))


def test_views_of_fresh_arrays():
    check(lambda x: (x + 1.0).T, sample((3, 4)))
    check(lambda x: (x + 1.0)[1:, 0], sample((3, 4)))

    def shared(x):
        y = x * 2.0
        return y, y[1:], y.T, y.reshape(-1)

    check(shared, sample((3, 4)))


def test_readonly_arguments():
    x = sample((3, 4))
    x.flags.writeable = False
    check(lambda x: (x.T, x[1:], x + 1.0), x)


def test_iteration_and_unpacking():
    check_left_to_numpy(lambda x: [row * 2.0 for row in x], sample((3, 4)))

    def unpacked(x):
        a, b = x
        return a * b

    check(unpacked, sample((2, 4)))


@pytest.mark.parametrize("shape", [(1, 4), (4, 1), (1, 1), (0, 4), (4, 0)], ids=str)
def test_small_extents(shape):
    check(lambda x: (x.T, x.T + 1.0, x.reshape(-1), x[:, None] * 2.0, x[::-1, :2]), sample(shape))


def test_stores_into_fresh_arrays():
    def parts(x):
        y = np.zeros(x.shape)
        y[1:-1, 1:-1] = x[1:-1, 1:-1] * 2.0
        y[0] = 1
        y[:, -1] = x[:, 0]
        y[2, 3] = 9
        y.T[1] = 3.0
        y[::-1][0] = x[0]
        return y

    for _, x in layouts(sample((4, 5))):
        check(parts, x, times=1)

    def views(x):
        y = np.empty_like(x)
        v = y[1:]
        v[...] = x[:-1]
        w = y.reshape(-1)
        w[0] = 5
        np.add(x[0], 1, out=y[0])
        v[0] = 7
        return y, v, w

    check(views, sample((4, 5)))

    def augmented(x):
        y = x * 1.0
        y[1:] += x[:-1]
        y[..., 0] *= 2
        y[9:] = 4
        return y

    check(augmented, sample((4, 5)))
    check_left_to_numpy(lambda x: (x + 1).__setitem__(7, 1), sample(5))


def test_stencil():
    def smooth(u):
        for _ in range(3):
            v = u.copy()
            v[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
            u = v
        return u

    check(smooth, sample((30, 40)))


@pytest.mark.parametrize("offset", [0, 1, -1, 3, -3, 5, 7, -6])
def test_diagonals(offset):
    def diagonals(x):
        return x.diagonal(offset), x.trace(offset), x.T.diagonal(offset) + 1.0, x[::2, 1:].diagonal(offset) + 1.0

    check(diagonals, sample((4, 5)))


def test_repeat():
    check(lambda x: (x.repeat(2), x.repeat(3, axis=0), x.T.repeat(2, axis=1), np.repeat(x, 0)), sample((4, 5)))
    check_left_to_numpy(lambda x: x.repeat([1, 2]), sample(2))
