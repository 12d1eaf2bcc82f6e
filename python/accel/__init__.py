"""accel makes NumPy functions fast without changing them.

>>> import numpy as np
>>> import accel
>>> @accel.compile
... def norm(x):
...     return np.sqrt(np.sum(x * x))
>>> float(norm(np.array([3.0, 4.0])))
5.0
"""

from __future__ import annotations

from ._accel import __version__
from ._compile import compile, disable
from ._device import DeviceArray, device, memory_info, set_default_device, synchronize, to_device
from .config import config
from .errors import (
    AccelError,
    AccelWarning,
    ArgumentError,
    DeviceError,
    InternalError,
    OutOfDeviceMemoryError,
    RecompileError,
    SettingError,
    UnsupportedError,
)
from .inspect import Explanation, cache_info, clear_cache, explain, reset, stats
from .stance import set_stance

__all__ = [
    "AccelError",
    "AccelWarning",
    "ArgumentError",
    "DeviceArray",
    "DeviceError",
    "Explanation",
    "InternalError",
    "OutOfDeviceMemoryError",
    "RecompileError",
    "SettingError",
    "UnsupportedError",
    "__version__",
    "cache_info",
    "clear_cache",
    "compile",
    "config",
    "device",
    "disable",
    "explain",
    "list_backends",
    "memory_info",
    "reset",
    "set_default_device",
    "set_stance",
    "stats",
    "synchronize",
    "to_device",
]


def list_backends() -> list[str]:
    """Return the names that ``accel.compile(backend=...)`` accepts."""
    from .backends import list_backends as listed

    return listed()


def _warn_about_settings() -> None:
    """Warn once of environment variables that are ignored."""
    from ._accel import setting_problems

    problems = setting_problems()
    if problems:
        import warnings

        warnings.warn("accel ignores " + "; ".join(problems), AccelWarning, stacklevel=3)


def _warn_about_other_accel() -> None:
    """Warn when the distribution ``accel``, another project, is installed in the folder of this one, ``accel-numpy``."""
    import os

    try:
        beside = os.listdir(os.path.dirname(__path__[0]))
    except OSError:
        return
    # importlib.metadata would take several milliseconds.
    others = [name for name in beside if name.startswith("accel-") and name.endswith((".dist-info", ".egg-info"))]
    if others:
        import warnings

        text = f"accel-numpy and another distribution, {others[0].rpartition('.')[0]}, have overwritten each other's files: "
        text += "pip uninstall accel accel-numpy, then pip install the one that you want"
        warnings.warn(text, AccelWarning, stacklevel=3)


_warn_about_settings()
_warn_about_other_accel()
