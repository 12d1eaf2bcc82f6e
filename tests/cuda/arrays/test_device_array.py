"""Attributes, views, indices and conversions of DeviceArrays are those of ndarrays."""

import copy
import gc
import operator
import pickle
import threading
import weakref

import numpy as np
import pytest
from support.device_arrays import DTYPES, SHAPES, check_same, layouts, numbers, outcome

import accel

ATTRIBUTES = ["shape", "strides", "dtype", "ndim", "size", "nbytes", "itemsize"]
FLAGS = ["c_contiguous", "f_contiguous", "aligned", "writeable", "owndata"]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_copies_to_the_device_and_back(shape, dtype):
    for name, array in layouts(numbers(shape, dtype)):
        there = accel.to_device(array)
        back = there.numpy()
        assert (back.dtype, back.shape) == (array.dtype, array.shape), name
        assert back.tobytes() == array.tobytes(), name
        assert back.strides == array.copy("K").strides, name
        assert there.strides == array.copy("K").strides or not back.flags.contiguous, name


@pytest.mark.parametrize("threads", [1, 2, 11])
@pytest.mark.parametrize("count", [2**22 - 1, 2**22, 2**22 + 1, 2**23 - 5, 2**25 + 12345])
def test_threads_share_large_copies(monkeypatch, threads, count):
    monkeypatch.setattr(accel.config, "threads", threads)
    array = np.random.default_rng(count).integers(0, 256, count, np.uint8)
    expected = array.copy()
    there = accel.to_device(array)
    array[:] = 0  # it has been read
    assert there.numpy().tobytes() == expected.tobytes()
    assert accel.compile(lambda x: -x, device="cuda")(expected).tobytes() == np.negative(expected).tobytes()


def test_threads_of_the_program_copy_at_once():
    def work(seed):
        array = np.random.default_rng(seed).random(10**6)
        for _ in range(3):
            results.append(accel.to_device(array).numpy().tobytes() == array.tobytes())

    results: list[bool] = []
    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [True] * 12


@pytest.mark.parametrize("shape", SHAPES)
def test_attributes(shape):
    host = numbers(shape)
    for (name, view), (_, expected) in zip(layouts(accel.to_device(host)), layouts(host), strict=True):
        for attribute in ATTRIBUTES:
            assert getattr(view, attribute) == getattr(expected, attribute), (name, attribute)
        for flag in FLAGS[:-1]:
            assert getattr(view.flags, flag) == getattr(expected.flags, flag), (name, flag)
            assert view.flags[flag.upper()] == expected.flags[flag.upper()], (name, flag)
        assert outcome(len, view) == outcome(len, expected) or view.ndim == 0
        assert view.numpy().tobytes() == expected.tobytes(), name


def test_base_and_owner():
    array = accel.to_device(np.arange(12.0))
    view = array[2:].reshape(5, 2)
    assert array.base is None and array.flags.owndata
    assert view.base is array and view.T.base is array and not view.flags.owndata
    assert array.device == "cuda:0"
    with pytest.raises(AttributeError):
        array.shape = (3, 4)
    with pytest.raises(AttributeError, match="cannot be set"):
        array.flags.writeable = False


KEYS = {
    "integer": np.s_[1],
    "negative": np.s_[-1],
    "beyond": np.s_[7],
    "integers": np.s_[1, 2, 3],
    "too many": np.s_[1, 2, 3, 0],
    "one of an axis": np.s_[1, :, 2],
    "slices": np.s_[::-1, 1:, ::2],
    "empty slice": np.s_[5:],
    "newaxis": np.s_[None, 1, ..., None],
    "ellipsis": np.s_[...],
    "all with ellipsis": np.s_[1, 2, ..., 3],
    "nothing": (),
    "numpy integer": np.int8(1),
    "two ellipses": (..., ...),
    "0-d array": np.array(1),
    "text": "a",
    "float": 1.5,
}


@pytest.mark.parametrize("key", KEYS)
def test_indices(key):
    check_same(lambda array: array[KEYS[key]], numbers((2, 3, 4)))


@pytest.mark.parametrize("key", [(), ..., None, (..., None), 0, slice(None)], ids=repr)
def test_indices_of_an_array_without_axes(key):
    check_same(lambda array: array[key], numbers(()))


SELECTIONS = {
    "list": [1, 0, 1],
    "empty list": [],
    "array": np.array([[0, 2], [1, -1]]),
    "mask": np.array([True, False, True]),
    "true": True,
    "numpy true": np.True_,
    "list and integer": ([0, 2], 1),
    "integer and list": (1, [0, 2]),
    "list and slice": ([2, 0], slice(None, None, -1)),
    "ellipsis and list": (..., [0, 1, 3]),
    "two arrays": (np.array([[0], [2]]), np.array([1, 3])),
    "newaxis and mask": (None, np.array([True, False, True])),
    "beyond": [0, 7],
    "wrong mask": np.array([True, False]),
    "floats": np.array([0.5]),
}


@pytest.mark.parametrize("name", SELECTIONS)
def test_arrays_and_lists_select_elements(name):
    key = SELECTIONS[name]
    check_same(lambda array: array[key], numbers((3, 4)))
    check_same(lambda array: operator.setitem(array, key, 7), numbers((3, 4)))
    check_same(lambda array: operator.setitem(array, key, array[:1, :1] + 1), numbers((3, 4)))
    check_same(lambda array: operator.iadd(array[:, 1:], 1)[key[0] if isinstance(key, tuple) else key], numbers((3, 4)))


def test_masks_and_indices_may_be_on_the_device():
    array, host = accel.to_device(numbers((4, 3))), numbers((4, 3))
    assert array[array > 5].tolist() == host[host > 5].tolist()
    array[array > 5] = 0
    host[host > 5] = 0
    assert array.tolist() == host.tolist()
    assert array[accel.to_device(np.array([2, 0]))].tolist() == host[[2, 0]].tolist()


def test_an_index_may_be_on_the_device():
    array = accel.to_device(numbers((4, 3)))
    assert array[accel.to_device(np.array(2))].tolist() == array[2].tolist()


VIEWS = {
    "T": lambda a: a.T,
    "transpose": lambda a: a.transpose(2, 0, 1),
    "transpose tuple": lambda a: a.transpose((1, 0, 2)),
    "transpose wrong": lambda a: a.transpose(0, 0, 1),
    "swapaxes": lambda a: a.swapaxes(0, -1),
    "squeeze": lambda a: a[:, :1].squeeze(),
    "squeeze axis": lambda a: a[:, :1].squeeze(axis=1),
    "squeeze wrong": lambda a: a.squeeze(0),
    "diagonal": lambda a: a.diagonal(0, 1, 2),
    "mT": lambda a: a.mT,
    "view": lambda a: a.view(np.int64),
    "view smaller": lambda a: a.view("i4"),
    "reshape": lambda a: a.reshape(4, 6),
    "reshape -1": lambda a: a.reshape((-1, 2)),
    "reshape wrong": lambda a: a.reshape(5, 5),
    "reshape F": lambda a: a.reshape(4, 6, order="F"),
    "reshape copies": lambda a: a.T.reshape(-1),
    "reshape copies wrong": lambda a: a.T.reshape(7, -1),
    "reshape no copy": lambda a: a.T.reshape(-1, copy=False),
    "ravel": lambda a: a.ravel(),
    "ravel K": lambda a: a.T.ravel("K"),
    "ravel F": lambda a: a.ravel("F"),
    "ravel copies": lambda a: a[::-1].ravel(),
    "flatten": lambda a: a.flatten(),
    "flatten F": lambda a: a.flatten("F"),
    "copy": lambda a: a.T.copy(),
    "copy F": lambda a: a.copy(order="F"),
    "copy K": lambda a: a.swapaxes(0, 1).copy("K"),
    "copy wrong": lambda a: a.copy("X"),
    "real": lambda a: a.real,
    "complex parts": lambda a: (a.view(np.complex128).real, a.view(np.complex128).imag),
    "imag": lambda a: a.imag,
    "astype": lambda a: a.astype(np.float32),
    "astype same": lambda a: a.astype(float),
    "conj": lambda a: a.conj(),
}


@pytest.mark.parametrize("name", VIEWS)
def test_views_and_copies(name):
    array = numbers((2, 3, 4))
    there, expected = accel.to_device(array), outcome(VIEWS[name], array)
    found = check_same(VIEWS[name], array)
    if isinstance(expected, np.ndarray):
        assert found.strides == expected.strides
        assert found.flags.writeable == expected.flags.writeable or name == "imag"
        assert (found.base is not None) == (expected.base is not None) or name in ("real", "conj")
        is_view = np.shares_memory(expected, array)
        view = VIEWS[name](there)
        view_there = view is there or view.base is there
        assert view_there == is_view


def test_views_share_memory():
    array = accel.to_device(numbers((3, 4)))
    array.T[1] = np.array([7.0, 8.0, 9.0])
    array.reshape(-1)[0] = 5.0
    assert array[:, 1].tolist() == [7.0, 8.0, 9.0]
    assert array[0, 0] == 5.0


ASSIGNMENTS = {
    "number": lambda a, b: operator.setitem(a, 1, 2),
    "element": lambda a, b: operator.setitem(a, (1, 2), 2.5),
    "element of an array": lambda a, b: operator.setitem(a, (1, 2), b[0, 0, ...]),
    "element of arrays": lambda a, b: operator.setitem(a, (1, 2), b[0, 0]),
    "element of an array of one element": lambda a, b: operator.setitem(a, (1, 2), b[0, :1]),
    "element of a sequence": lambda a, b: operator.setitem(a, (1, 2), b[0]),
    "element of a list": lambda a, b: operator.setitem(a, (1, 2), [1, 2]),
    "view of an element": lambda a, b: operator.setitem(a, (1, 2, ...), b[0, 0]),
    "view of an element of an array": lambda a, b: operator.setitem(a, (1, 2, ...), b[0, :1]),
    "view of an element of a list": lambda a, b: operator.setitem(a, (1, 2, ...), [4.0]),
    "view of an element of a text": lambda a, b: operator.setitem(a, (1, 2, ...), "x"),
    "view of an element of None": lambda a, b: operator.setitem(a, (1, 2, ...), None),
    "element of a text": lambda a, b: operator.setitem(a, (1, 2), "x"),
    "read-only element": lambda a, b: operator.setitem(np.broadcast_to(a, a.shape), (1, 2), b[0]),
    "float": lambda a, b: operator.setitem(a, (0, slice(None)), 1.5),
    "same": lambda a, b: operator.setitem(a, ..., b),
    "row": lambda a, b: operator.setitem(a, 0, b[1]),
    "strided": lambda a, b: operator.setitem(a, (slice(None), 1), b[:, 2]),
    "broadcast": lambda a, b: operator.setitem(a, slice(None), b[0]),
    "overlap": lambda a, b: operator.setitem(a, slice(1, None), a[:-1]),
    "overlap backwards": lambda a, b: operator.setitem(a, slice(None), a[::-1]),
    "list": lambda a, b: operator.setitem(a, 0, [1, 2, 3, 4]),
    "wrong shape": lambda a, b: operator.setitem(a, slice(None), b[:, :3]),
    "complex": lambda a, b: operator.setitem(a, 0, 1j) if a.dtype.kind != "c" else None,
    "beyond": lambda a, b: operator.setitem(a, 3, 0),
    "deleted": lambda a, b: operator.delitem(a, 0),
    "filled": lambda a, b: a.fill(3),
    "filled view": lambda a, b: a[:, ::2].fill(3),
    "read-only": lambda a, b: operator.setitem(a.diagonal(), 0, 1),
}


@pytest.mark.parametrize("dtype", ["float64", "int32", "complex64"])
@pytest.mark.parametrize("name", ASSIGNMENTS)
def test_assignments(name, dtype):
    with np.errstate(all="ignore"):
        check_same(ASSIGNMENTS[name], numbers((3, 4), dtype), numbers((3, 4), dtype) + 20)


def test_assignment_of_arrays_of_the_host():
    array, values = accel.to_device(np.zeros((3, 4))), numbers((3, 4))
    array[...] = values.T.copy().T
    assert array.tolist() == values.tolist()
    array[:, 1] = values[:, 3]
    array[2] = np.arange(4)
    assert array[:, 1].tolist() == [4.0, 8.0, 1.0]


def test_bytes():
    check_same(lambda array: array.tobytes(), numbers((2, 3)))
    check_same(lambda array: array.T.tobytes("F"), numbers((2, 3)))


CONVERSIONS = [bool, int, float, complex, operator.index, list, iter, len, hash, lambda a: a.item(), lambda a: a.tolist()]


@pytest.mark.parametrize("convert", CONVERSIONS, ids=range(len(CONVERSIONS)))
@pytest.mark.parametrize("dtype", ["bool", "int32", "float64", "complex128"])
@pytest.mark.parametrize("shape", [(), (1,), (3,), (0,), (1, 1)])
def test_conversions(convert, dtype, shape):
    host, there = numbers(shape, dtype), accel.to_device(numbers(shape, dtype))
    expected, found = outcome(convert, host), outcome(convert, there)
    if isinstance(expected, Exception):
        text = str(expected).replace("numpy.ndarray", "accel.DeviceArray")
        assert type(found) is type(expected) and str(found) == text, found
    elif convert is not iter and not (convert is list and len(shape) > 1):
        assert found == expected


@pytest.mark.parametrize("index", [(0,), (-1,), (5,), (6,), (1, 2), ((1, 2),), (1, 2, 3), (1.5,)], ids=repr)
def test_item(index):
    check_same(lambda array: array.item(*index), numbers((2, 3)))


def test_iteration():
    assert [row.tolist() for row in accel.to_device(numbers((3, 2)))] == [[1, 2], [3, 4], [5, 6]]
    assert [type(x) for x in accel.to_device(np.arange(2.0))] == [np.float64] * 2
    assert 3.0 in accel.to_device(np.arange(4.0)) and 9.0 not in accel.to_device(np.arange(4.0))


def test_array_protocol():
    array = accel.to_device(np.arange(3.0))
    assert type(np.asarray(array)) is np.ndarray and np.asarray(array).tolist() == [0, 1, 2]
    assert np.asarray(array, dtype=np.float32).dtype == np.float32
    assert np.array([array, array]).shape == (2, 3)
    with pytest.raises(ValueError, match="Unable to avoid copy"):
        np.asarray(array, copy=False)


@pytest.mark.parametrize("dtype", ["float64", "int32", "complex128", "bool"])
@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (40, 50), (2, 900), (1001,), (3, 7, 60)])
def test_texts(shape, dtype):
    host = numbers(shape, dtype)
    array = accel.to_device(host)
    assert str(array) == str(host)
    start = "DeviceArray("
    values = np.array2string(host, separator=", ", prefix=start, suffix=",") if shape else repr(host)[6:-1].split(", dt")[0]
    dtype_text = ", dtype=int32" if dtype == "int32" else ""
    assert repr(array) == f"{start}{values}{dtype_text}, device='cuda:0')"
    assert f"{array}" == f"{host}"


def test_texts_without_elements():
    assert repr(accel.to_device(np.zeros(0))) == "DeviceArray([], dtype=float64, device='cuda:0')"
    assert repr(accel.to_device(np.zeros((0, 3)))) == "DeviceArray([], shape=(0, 3), dtype=float64, device='cuda:0')"
    assert format(accel.to_device(np.array(1.5)), ".3f") == "1.500"


def test_text_of_a_large_array_copies_its_edges():
    array = accel.to_device(np.arange(2_000_000.0).reshape(2000, 1000))
    assert str(array) == str(array.numpy())


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, lambda a: pickle.loads(pickle.dumps(a))])
def test_copies_are_by_value(duplicate):
    array = accel.to_device(numbers((3, 4)).T)
    found = duplicate(array)
    assert found is not array and found.base is None and found.device == array.device
    assert found.tolist() == array.tolist() and found.strides == array.strides
    found[0] = 0
    assert array[0].tolist() == [1, 5, 9]


def test_life():
    array = accel.to_device(np.arange(3.0))
    reference = weakref.ref(array)
    view = array[1:]
    del array
    assert reference() is not None and view.tolist() == [1, 2]
    del view
    gc.collect()
    assert reference() is None


def test_type():
    with pytest.raises(TypeError):
        accel.DeviceArray()
    with pytest.raises(TypeError):
        type("Sub", (accel.DeviceArray,), {})
    with pytest.raises(TypeError, match="unhashable"):
        hash(accel.to_device(np.zeros(2)))
    with pytest.raises(AttributeError):
        accel.to_device(np.zeros(2)).attribute = 1


def test_memory_is_given_back():
    gc.collect()
    accel.synchronize()
    before = accel.memory_info().used
    array = accel.to_device(np.zeros(1_000_000))
    view = array[::2]
    assert accel.memory_info().used >= before + 8_000_000
    del array
    assert accel.memory_info().used >= before + 8_000_000
    del view
    assert accel.memory_info().used == before
