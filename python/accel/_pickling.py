"""Pickling of compiled functions, as Python functions and options, never as machine code."""

from __future__ import annotations

import sys
from types import FunctionType
from typing import Any

from . import _accel

__all__ = ["reduce_compiled"]


def reduce_compiled(compiled: Any, protocol: int) -> str | tuple[Any, ...]:
    """``__reduce_ex__`` of compiled functions.

    By reference when the function's module has this object under the function's name; else by value: the Python function and
    the options. cloudpickle, which pickles functions of ``__main__`` by value, gets those by value, too.
    """
    name = compiled.__qualname__
    if _find(compiled.__module__, name) is compiled and not _by_value(compiled.__module__):
        return str(name)
    options = _accel.options(compiled)
    backend = "native" if options["backend"] is None else options["backend"].source
    given: dict[str, Any] = {name: options[name] for name in ("fullgraph", "dynamic", "disable", "mode")}
    if options["device"] != _accel.NO_CHOICE:
        given["device"] = "cpu" if options["device"] == _accel.ON_CPU else f"cuda:{options['device']}"
    return _rebuild, (_accel.python_function(compiled), given, backend, dict(compiled.__dict__))


def _rebuild(function: FunctionType, options: dict[str, Any], backend: Any, attributes: dict[str, Any]) -> Any:
    from ._compile import compile

    compiled = compile(function, backend=backend, **options)
    for key, value in attributes.items():
        setattr(compiled, key, value)
    return compiled


def _find(module: str | None, name: str) -> object:
    found: object = sys.modules.get(module or "")
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def _by_value(module: str) -> bool:
    """Whether the current pickler is cloudpickle and pickles functions of `module` by value."""
    cloudpickle = sys.modules.get("cloudpickle.cloudpickle") or sys.modules.get("cloudpickle")
    if cloudpickle is None or not _called_by("cloudpickle"):
        return False
    registered = getattr(cloudpickle, "_PICKLE_BY_VALUE_MODULES", ())
    parents = [module[:end] for end, letter in enumerate(module) if letter == "."]
    return module == "__main__" or any(name in registered for name in [module, *parents])


def _called_by(package: str) -> bool:
    """Whether the nearest caller that is neither accel nor pickle belongs to `package`."""
    frame = sys._getframe(1)
    while frame is not None:
        caller = str(frame.f_globals.get("__name__", "")).split(".")[0]
        if caller not in ("accel", "pickle", "copyreg"):
            return caller == package
        frame = frame.f_back  # type: ignore[assignment]
    return False
