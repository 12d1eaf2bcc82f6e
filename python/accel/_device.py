"""Arrays in the memory of CUDA devices: `to_device`, and what there is to know of a device."""

from __future__ import annotations

import contextlib
import importlib
import re
from typing import Any, NamedTuple

import numpy as np

from . import _accel
from ._accel import DeviceArray
from .errors import ArgumentError

__all__ = [
    "DeviceArray",
    "MemoryInfo",
    "device",
    "memory_info",
    "set_default_device",
    "synchronize",
    "to_device",
]


class MemoryInfo(NamedTuple):
    """Bytes of a device's memory.

    Attributes
    ----------
    free, total : int
        Of the device, whoever uses it.
    used : int
        Of arrays and temporaries of this process.
    cached : int
        That accel holds for later arrays.
    peak : int
        The most that `used` has been.
    limit : int
        What `used` and `cached` together may not exceed; 0 is no limit.
    """

    free: int
    total: int
    used: int
    cached: int
    peak: int
    limit: int


def _parse_device(text: object) -> tuple[str, int]:
    """Return the kind ("cpu" or "cuda") and the number of a device; "cuda" is "cuda:0"."""
    found = re.fullmatch(r"(?:(cpu)|(cuda)(?::(\d{1,4}))?)", text) if isinstance(text, str) else None
    if found is None:
        raise ArgumentError(f'device cannot be {text!r}: use "cuda", or "cuda:1" for the second device, or "cpu"')
    return found[1] or found[2], int(found[3] or 0)


def _choice(name: object) -> int:
    """Return the number of a CUDA device, which must be there, or ``_accel.ON_CPU``."""
    kind, number = _parse_device(name)
    if kind == "cpu":
        return _accel.ON_CPU
    _accel.open_device(number)
    return number


class device(contextlib.ContextDecorator):  # noqa: N801
    """Run compiled functions on a device, within a ``with`` statement or a decorated function.

    NumPy arrays that a function is called with are copied to the device, and its results are NumPy arrays. Arguments that are
    on a device already decide where the function runs, whatever the context is. The context is the calling thread's.

    Parameters
    ----------
    name : str
        ``"cuda"`` or ``"cuda:0"`` for the first CUDA device, ``"cuda:1"`` for the second one, ``"cpu"`` for the CPU.

    Raises
    ------
    DeviceError
        On entry: there is no such device, or no driver.

    Examples
    --------
    >>> import accel
    >>> with accel.device("cpu"):
    ...     pass
    """

    def __init__(self, name: str) -> None:
        _parse_device(name)
        self._name = name
        self._outside: list[int] = []

    def __enter__(self) -> device:
        """Choose the device for the calling thread."""
        self._outside.append(_accel.choose_device(_choice(self._name)))
        return self

    def __exit__(self, *error: object) -> None:
        """Choose the device of the context outside."""
        _accel.choose_device(self._outside.pop())

    def __repr__(self) -> str:
        return f"accel.device({self._name!r})"


def set_default_device(name: str) -> None:
    """Run compiled functions on a device where nothing else says which: no context, option or argument.

    Parameters
    ----------
    name : str
        As for `device`; ``"cpu"`` at first.

    Raises
    ------
    DeviceError
        There is no such device, or no driver.
    """
    _accel.choose_default_device(_choice(name))


def _cuda_number(device: object) -> int:
    kind, number = _parse_device(device)
    if kind != "cuda":
        raise ArgumentError(f'device cannot be {device!r} here: use "cuda"; x.numpy() copies an array to the CPU')
    return number


def to_device(x: Any, device: str = "cuda") -> DeviceArray:
    """Copy an array to the memory of a CUDA device, where it stays.

    Compiled functions that are called with the result run on the device, and their results stay there, too.

    Parameters
    ----------
    x : array_like
        An ndarray, or what `numpy.asarray` makes one of; a `DeviceArray`, which is returned as it is when it is on the device;
        an array of another library on a CUDA device (torch, CuPy, anything with ``__dlpack__`` or
        ``__cuda_array_interface__``), whose memory is used without a copy.
    device : str
        ``"cuda"`` or ``"cuda:0"`` for the first device, ``"cuda:1"`` for the second one.

    Returns
    -------
    DeviceArray
        ``x.numpy()`` copies it back.

    Raises
    ------
    DeviceError
        There is no such device, or no driver.
    OutOfDeviceMemoryError
        The array does not fit into the memory of the device.
    """
    number = _cuda_number(device)
    guest = x if isinstance(x, DeviceArray) else _accel.wrap_guest(x)
    if guest is not None:
        return guest if guest.device == f"cuda:{number}" else _accel.to_device(guest.numpy(), number)
    return _accel.to_device(_plain_array(x), number)


def _plain_array(x: Any) -> np.ndarray[Any, Any]:
    """Return an exact ndarray, aligned, in native byte order, of a dtype that devices have."""
    array = np.asarray(x)
    name = array.dtype.newbyteorder("=").name
    if array.dtype.kind not in "biufc" or array.dtype.itemsize > (16 if array.dtype.kind == "c" else 8):
        raise ArgumentError(
            f"x cannot have the dtype {array.dtype}: convert it to a bool, integer, float or complex dtype of at most 64 bits "
            "(128 bits for complex numbers)"
        )
    return np.require(array, np.dtype(name), ["ALIGNED"])


def synchronize(device: str | None = None) -> None:
    """Wait until a device has done all work that it was given.

    Parameters
    ----------
    device : str, optional
        ``"cuda"``, the first device, by default.

    Raises
    ------
    DeviceError
        Work on the device has failed, or there is no such device.
    """
    _accel.synchronize(_cuda_number("cuda" if device is None else device))


def memory_info(device: str | None = None) -> MemoryInfo:
    """Return how much memory of a device is in use.

    Parameters
    ----------
    device : str, optional
        ``"cuda"``, the first device, by default.

    Returns
    -------
    MemoryInfo
        Numbers of bytes: `free`, `total`, `used`, `cached`, `peak` and `limit`.
    """
    return MemoryInfo(**_accel.memory_info(_cuda_number("cuda" if device is None else device)))


_FROM_DLPACK = {"torch": "torch", "cupy": "cupy", "jax": "jax.dlpack", "jaxlib": "jax.dlpack"}  # the module with from_dlpack


def _as_guest(kind: type, array: DeviceArray) -> Any:
    """Return the array as an object of another library's type, over the same memory. Called from C++."""
    library = kind.__module__.partition(".")[0]
    if library == "numba":
        return importlib.import_module("numba.cuda").as_cuda_array(array)
    if library not in _FROM_DLPACK:
        return array
    return importlib.import_module(_FROM_DLPACK[library]).from_dlpack(array)


def _rebuild(array: np.ndarray[Any, Any], device: str) -> DeviceArray:
    """Make a pickled array again, on the device of the same number."""
    return to_device(array, device)
