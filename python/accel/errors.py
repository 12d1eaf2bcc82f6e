"""Exceptions and warnings of accel."""

from __future__ import annotations

__all__ = [
    "AccelError",
    "AccelWarning",
    "ArgumentError",
    "DeviceError",
    "InternalError",
    "OutOfDeviceMemoryError",
    "RecompileError",
    "SettingError",
    "UnsupportedError",
]


class AccelError(Exception):
    """Base of every exception that accel itself raises. Errors of NumPy and of your own code are not changed."""


class ArgumentError(AccelError, TypeError, ValueError):
    """A function of accel was called with something it cannot use."""


class SettingError(AccelError, AttributeError, ValueError):
    """There is no such setting, or it cannot have such a value."""


class UnsupportedError(AccelError):
    """A function that had to be compiled as a whole was not.

    Attributes
    ----------
    reason : str
        Reason code, see the list of reason codes in the documentation.
    filename, lineno
        Where in your source compiled code ends. `filename` is "" when there is no such place.
    """

    def __init__(self, message: str, reason: str = "", filename: str = "", lineno: int = 0) -> None:
        super().__init__(message)
        self.reason = reason
        self.filename = filename
        self.lineno = lineno

    def __reduce__(self) -> tuple[type[UnsupportedError], tuple[str, str, str, int]]:
        return type(self), (str(self), self.reason, self.filename, self.lineno)


class RecompileError(AccelError):
    """A call fits no compiled version while the stance is ``fail_on_recompile``."""


class InternalError(AccelError):
    """accel, or the compiler it depends on, failed. Raised with ``ACCEL_STRICT=1`` only; else NumPy's result is returned."""


class DeviceError(AccelError):
    """A CUDA device, its driver or one of NVIDIA's libraries is missing or has failed."""


class OutOfDeviceMemoryError(DeviceError, MemoryError):
    """There is not enough memory on the device."""


class AccelWarning(UserWarning):
    """Something keeps accel from compiling; the results are NumPy's."""


def _source_line(file: str, line: int) -> str:
    import linecache

    return linecache.getline(file, line).strip()


def _place(file: str, line: int) -> str:
    if not file:
        return "no place in the source"
    text = _source_line(file, line)
    return f"{file}:{line}: {text}" if text else f"{file}:{line}"


def _unsupported(function: str, reason: str, what: str, detail: str, file: str, line: int, way_out: str) -> UnsupportedError:
    """Make the exception for a forbidden fallback to the interpreter. Called from C++."""
    first = f"{function} is not compiled as a whole: {what}" + (f": {detail}" if detail else "") + f" ({reason})"
    return UnsupportedError(f"{first}\n  {_place(file, line)}\n  way out: {way_out}", reason, file, line)
