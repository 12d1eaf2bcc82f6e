"""Arrays in the memory of CUDA devices: `to_device`, and what there is to know of a device."""

from __future__ import annotations

import importlib
import re
from typing import Any, NamedTuple

import numpy as np

from . import _accel
from ._accel import DeviceArray
from .errors import ArgumentError

__all__ = ["DeviceArray", "MemoryInfo", "memory_info", "synchronize", "to_device"]


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
