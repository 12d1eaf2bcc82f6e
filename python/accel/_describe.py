"""Descriptions of values, for comparison: they hold no references to the values, and making them runs none of their code."""

from __future__ import annotations

import hashlib
import platform
import types
import warnings
from typing import Any

import numpy as np

from . import _accel

__all__ = ["describe", "type_name"]

_LONG = 512  # bytes or characters in a description; longer ones become digests
_DEEP = 8
_MANY = 20_000
_FLAGS = 0x0500  # NPY_ARRAY_ALIGNED and NPY_ARRAY_WRITEABLE; reading flags.writeable may warn
_PLAIN = (bool, type(None), type(Ellipsis), type(NotImplemented))
_CALLABLES = (types.FunctionType, types.BuiltinFunctionType, types.MethodType, _accel.CompiledFunction, np.ufunc)
_LONG_DOUBLE_BYTES = 10 if platform.machine() in {"x86_64", "i686"} else np.dtype(np.longdouble).itemsize


def describe(value: object) -> Any:
    """Return a description of `value`. Descriptions are equal when no NumPy user can distinguish the values.

    The sign and payload of NaNs are left out. Objects are described by their types and attributes.
    """
    return _Describer().of(value)


def type_name(value: object) -> str:
    """Return the full name of the value's type."""
    kind = type(value)
    return f"{kind.__module__}.{kind.__qualname__}"


class _Describer:
    """Describes one value; tracks the enclosing objects, and limits the number of parts."""

    def __init__(self) -> None:
        self.path: list[int] = []
        self.left = _MANY

    def of(self, value: object) -> Any:
        self.left -= 1
        if id(value) in self.path:
            return ("above", len(self.path) - self.path.index(id(value)))
        if len(self.path) > _DEEP or self.left < 0:
            return ("...", type_name(value))
        self.path.append(id(value))
        try:
            return self._of(value)
        finally:
            self.path.pop()

    def _of(self, value: object) -> Any:
        if type(value) in _PLAIN:
            return (type_name(value), str(value))
        if isinstance(value, np.ndarray):
            return self._array(value)
        if isinstance(value, np.generic):
            array = np.asarray(value)
            return (type_name(value), _dtype_text(array.dtype), self._elements(array))
        if isinstance(value, np.dtype):
            return ("dtype", repr(value))
        if isinstance(value, type):
            return ("type", value.__module__, value.__qualname__)
        if isinstance(value, _CALLABLES):
            return ("callable", getattr(value, "__module__", None), getattr(value, "__qualname__", str(value)))
        if isinstance(value, types.ModuleType):
            return ("module", value.__name__)
        return self._container(value)

    def _container(self, value: object) -> Any:
        name = type_name(value)
        if isinstance(value, float):
            return (name, _hex(value))
        if isinstance(value, complex):
            return (name, _hex(value.real), _hex(value.imag))
        if isinstance(value, str):
            return (name, str.__str__(value) if len(value) < _LONG else _digest(value.encode(errors="surrogatepass")))
        if isinstance(value, bytes | bytearray):
            return (name, bytes(value) if len(value) < _LONG else _digest(bytes(value)))
        if isinstance(value, int):
            return (name, int.__format__(value, "x"))  # Python limits the digits of decimal texts
        if isinstance(value, slice | range):
            return (name, self.of(value.start), self.of(value.stop), self.of(value.step))
        if isinstance(value, tuple | list):
            items = tuple.__iter__(value) if isinstance(value, tuple) else list.__iter__(value)
            return (name, [self.of(item) for item in items], self._attributes(value))
        if isinstance(value, set | frozenset):
            return (name, sorted(repr(self.of(item)) for item in value))
        if isinstance(value, dict):
            return (name, [(self.of(k), self.of(v)) for k, v in dict.items(value)], self._attributes(value))
        if isinstance(value, BaseException):
            return (name, self.of(value.args))
        if isinstance(value, warnings.WarningMessage):
            return (name, value.category.__name__, str(value.message), value.filename, value.lineno)
        if isinstance(value, np.random.Generator | np.random.BitGenerator):
            bits = value.bit_generator if isinstance(value, np.random.Generator) else value
            return (name, self.of(bits.state))
        return (name, self._attributes(value))

    def _attributes(self, value: object) -> list[Any]:
        found = []
        for kind in type(value).__mro__:
            for slot, descriptor in vars(kind).items():
                if isinstance(descriptor, types.MemberDescriptorType) and kind.__module__ != "builtins":
                    try:
                        found.append((slot, self.of(descriptor.__get__(value))))
                    except AttributeError:
                        found.append((slot, "unset"))
        if getattr(type(value), "__dictoffset__", 0) != 0:
            members = object.__getattribute__(value, "__dict__")
            found += [(name, self.of(member)) for name, member in dict.items(members)]
        return found

    def _array(self, value: np.ndarray[Any, Any]) -> Any:
        array = np.ndarray.view(value, np.ndarray)
        layout = (array.shape, array.strides, array.flags.num & _FLAGS)
        more = self._attributes(value) if type(value) is not np.ndarray else []
        return (type_name(value), _dtype_text(array.dtype), *layout, self._elements(array), more)

    def _elements(self, array: np.ndarray[Any, Any]) -> Any:
        """Describe the elements: by their bytes, or one by one when they are objects."""
        kind = array.dtype.kind
        if array.dtype.names is not None:
            return [(name, self._elements(array[name])) for name in array.dtype.names]
        if kind in "OT":
            return [self.of(item) for item in array.ravel().tolist()[:1000]]
        if kind in "fc":
            array = _with_equal_nans(array)
        raw = np.ascontiguousarray(array).reshape(-1).view(np.uint8) if array.dtype.itemsize else np.empty(0, np.uint8)
        if array.dtype.char in "gG":  # remove the padding
            raw = raw.reshape(-1, np.dtype(np.longdouble).itemsize)[:, :_LONG_DOUBLE_BYTES]
        data = raw.tobytes()
        return data if len(data) < _LONG else _digest(data)


def _dtype_text(dtype: np.dtype[Any]) -> str:
    return dtype.str if dtype.names is None else repr(dtype)


def _hex(value: float) -> str:
    return "nan" if value != value else float.hex(value)


def _digest(data: bytes) -> str:
    return f"{len(data)} bytes, {hashlib.blake2b(data, digest_size=16).hexdigest()}"


def _with_equal_nans(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return the elements with every NaN, also in parts of complex numbers, replaced by one NaN."""
    with np.errstate(all="ignore"):
        plain = np.array(array, dtype=array.dtype.newbyteorder("="), order="C", copy=True)
        parts = [plain] if array.dtype.kind == "f" else [plain.real, plain.imag]
        for part in parts:
            part[np.isnan(part)] = np.nan
    return plain
