"""`np.fft` on devices, by cuFFT: NumPy's shapes, dtypes and layouts; values within the rounding of a transform."""

import numpy as np
import pytest
from support.device_arrays import layouts

import accel
from accel import _accel


@pytest.fixture(autouse=True)
def needs_library(needs_device):
    if not _accel.examine_cuda()["libraries"]["cuFFT"]["path"]:
        pytest.skip("no cuFFT")


def as_on_device(x):
    """The array with the strides that its copy on the device has."""
    copy = accel.to_device(x)
    made = np.ndarray(x.shape, x.dtype, bytearray(max(x.nbytes, 1)), strides=copy.strides)
    made[...] = x
    return made


def strides(array):
    """Those that elements lie at."""
    return [step for extent, step in zip(array.shape, array.strides, strict=True) if extent > 1]


def check(found, expected):
    assert isinstance(found, accel.DeviceArray)
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    assert strides(found) == strides(expected)
    eps = np.finfo(expected.dtype).eps
    scale = np.max(np.abs(expected), initial=0)
    np.testing.assert_allclose(found.numpy(), expected, rtol=0, atol=32 * eps * scale)


def transformed(compiled, x):
    """The result, which the device computes."""
    why = accel.explain(compiled)(accel.to_device(x))
    assert why.compiled and why.device["name"] == "cuda:0" and why.exception is None, str(why)
    assert why.device["bytes_down"] <= 64, "transformed by NumPy"
    return why.result


def defined(text):
    namespace = {"np": np}
    exec(f"def function(x):\n    return {text}", namespace)
    return namespace["function"]


def drawn(shape, dtype):
    rng = np.random.default_rng(np.prod(shape, dtype=int))
    x = rng.normal(size=shape)
    return (x + 1j * rng.normal(size=shape) if np.dtype(dtype).kind == "c" else x).astype(dtype)


CALLS = [
    "np.fft.fft(x)",
    "np.fft.ifft(x)",
    "np.fft.fft(x, axis=0)",
    "np.fft.fft(x, 12)",
    "np.fft.ifft(x, 5, axis=0)",
    "np.fft.irfft(x)",
    "np.fft.irfft(x, 9, axis=0)",
    "np.fft.irfft(x, 4)",
    "np.fft.fft(x, norm='ortho')",
    "np.fft.ifft(x, norm='forward')",
    "np.fft.irfft(x, norm='ortho')",
    "np.fft.hfft(x)",
]
REAL_CALLS = [
    "np.fft.rfft(x)",
    "np.fft.rfft(x, axis=0)",
    "np.fft.rfft(x, 11)",
    "np.fft.rfft(x, 4, norm='ortho')",
    "np.fft.ihfft(x)",
]
SHAPES = [(8,), (7,), (3, 10), (5, 1), (2, 3, 4)]


def cases():
    made = []
    for text in CALLS:
        made += ((text, dtype) for dtype in ("float32", "float64", "complex64", "complex128"))
    for text in REAL_CALLS:
        made += ((text, dtype) for dtype in ("float32", "float64"))
    return made


@pytest.mark.parametrize(("text", "dtype"), cases())
def test_transforms(text, dtype):
    function = defined(text)
    for shape in SHAPES:
        compiled = accel.compile(function)
        for _, x in layouts(drawn(shape, dtype)):
            try:
                expected = function(as_on_device(x))
            except ValueError:  # irfft of one element
                continue
            check(transformed(compiled, x), expected)


@pytest.mark.parametrize(
    "text",
    [
        "np.fft.fft2(x)",
        "np.fft.ifft2(x)",
        "np.fft.rfft2(x.real)",
        "np.fft.irfft2(x)",
        "np.fft.fftn(x, axes=(1, 0))",
        "np.fft.ifftn(x, (4, 9), axes=(0, 1))",
    ],
)
def test_several_axes(text):
    function = defined(text)
    compiled = accel.compile(function)
    for shape in ((6, 8), (4, 5, 6)):
        for x in (drawn(shape, "complex128"), drawn(shape[::-1], "complex128").T):
            check(transformed(compiled, x), function(x))


def test_a_filter():
    def function(x):
        spectrum = np.fft.rfft(x * 2.0)
        spectrum[10:] = 0
        return np.fft.irfft(spectrum, x.shape[-1]), np.abs(np.fft.fftshift(np.fft.fft(x)))

    compiled = accel.compile(function)
    for n in (60, 64, 64, 61):
        x = drawn((3, n), "float64")
        for found, expected in zip(transformed(compiled, x), function(x), strict=True):
            check(found, expected)


def test_no_rows():
    function = defined("np.fft.fft(x)")
    compiled = accel.compile(function)
    check(transformed(compiled, np.zeros((0, 4), complex)), function(np.zeros((0, 4), complex)))


def test_views_between_the_alignments_of_complex_numbers():
    def real(x):
        return np.fft.rfft(x), np.fft.fft(x)

    for dtype in ("float32", "float64"):
        x = drawn((4, 9), dtype)
        on_device = accel.to_device(x)
        for index in (np.s_[1], np.s_[0, 1:], np.s_[1:3, :]):
            why = accel.explain(accel.compile(real))(on_device[index])
            assert why.compiled and why.device["bytes_down"] <= 64, str(why)
            for found, expected in zip(why.result, real(x[index]), strict=True):
                check(found, expected)


@pytest.mark.parametrize("text", ["np.fft.fft(x)", "np.fft.ifft(x)", "np.fft.irfft(x)", "np.fft.rfft(x, norm='ortho')"])
def test_numbers_that_only_doubles_hold_between(text):
    """NumPy computes transforms of float32 in float64, where the factor is no float32 with a loop for both."""
    function = defined(text)
    for dtype in ("float32", "complex64"):
        if dtype == "float32" or "rfft(x," not in text:
            x = np.full(4, 1e37, dtype)
            check(transformed(accel.compile(function), x), function(x))


@pytest.mark.parametrize("dtype", ["int64", "int8", "bool", "float16"])
def test_other_dtypes(dtype):
    function = defined("np.fft.fft(x)")
    compiled = accel.compile(function)
    x = (np.arange(24).reshape(4, 6) % 5).astype(dtype)
    found = accel.explain(compiled)(accel.to_device(x))
    assert found.compiled
    check(found.result, function(x))


@pytest.mark.parametrize("text", ["np.fft.fft(x, 0)", "np.fft.fft(x, norm='none')", "np.fft.fft(x, axis=5)"])
def test_errors_are_numpys(text):
    function = defined(text)
    x = drawn((4,), "float64")
    with pytest.raises(Exception) as expected:
        function(x)
    with pytest.raises(type(expected.value)) as found, accel.device("cuda"):
        accel.compile(function)(x)
    assert str(found.value) == str(expected.value)
