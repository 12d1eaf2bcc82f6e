"""Temporary replacement of a module's functions by compiled ones."""

from __future__ import annotations

from collections.abc import Iterator
from types import FunctionType, ModuleType
from typing import Any

from .. import _accel
from .._compile import compile, compiled_function, disable
from ._observations import recorded

__all__ = ["CompiledModule"]


class CompiledModule:
    """A module whose functions, methods and properties can be replaced by compiled ones, and restored.

    Those are replaced that the module's source file defines, at its top level or in its classes, also when a decorator of
    another module has them in a closure.
    """

    def __init__(self, module: ModuleType, backend: str) -> None:
        self.module = module
        self._backend = backend
        self._file = getattr(module, "__file__", None)
        self._swaps: list[tuple[Any, str, Any, Any]] = []  # owner, name, plain, compiled
        self._made: dict[int, tuple[Any, Any]] = {}  # id of a plain function: itself, compiled
        for name, value in list(vars(module).items()):
            self._add(module, name, value)

    def functions(self) -> list[Any]:
        """Return the compiled functions."""
        return [compiled for _, compiled in self._made.values()]

    def install(self) -> None:
        """Replace the functions by compiled ones."""
        for owner, name, _, compiled in self._swaps:
            _set(owner, name, compiled)

    def uninstall(self) -> None:
        """Restore the plain functions and drop the compiled versions."""
        for owner, name, plain, _ in self._swaps:
            _set(owner, name, plain)
        for function in self.functions():
            _accel.reset(function)

    def _add(self, owner: Any, name: str, value: Any) -> None:
        if isinstance(value, type):
            if value.__module__ == self.module.__name__ and value not in self._classes():
                self._add_class(value)
            return
        replacement = self._replacement(value)
        if replacement is not None:
            self._swaps.append((owner, name, value, replacement))
        for cell, inner in _decorated(value):
            if self._is_own(inner):
                self._swaps.append((cell, "cell_contents", inner, self._compiled(inner)))

    def _classes(self) -> set[type]:
        return {owner for owner, *_ in self._swaps if isinstance(owner, type)}

    def _add_class(self, kind: type) -> None:
        for name, value in list(vars(kind).items()):
            self._add(kind, name, value)

    def _replacement(self, value: Any) -> Any:
        """Return the replacement of `value`, None when it is not replaced."""
        if isinstance(value, staticmethod | classmethod) and self._is_own(value.__func__):
            return type(value)(self._compiled(value.__func__))
        if type(value) is property and self._is_own(value.fget):
            return property(self._compiled(value.fget), value.fset, value.fdel, value.__doc__)
        return self._compiled(value) if self._is_own(value) else None

    def _is_own(self, value: Any) -> bool:
        return type(value) is FunctionType and self._file is not None and value.__code__.co_filename == self._file

    def _compiled(self, function: Any) -> Any:
        _, compiled = self._made.setdefault(id(function), (function, None))
        if compiled is None:
            compiled = compile(function, backend=self._backend)
            self._made[id(function)] = (function, compiled)
        return compiled


def _set(owner: Any, name: str, value: Any) -> None:
    try:
        setattr(owner, name, value)
    except (AttributeError, TypeError):  # a metaclass that refuses
        if isinstance(owner, type):
            type.__setattr__(owner, name, value)


def _decorated(value: Any) -> Iterator[tuple[Any, Any]]:
    """Find the cells of a decorator's wrapper that contain the decorated function."""
    inner = getattr(value, "__wrapped__", None) if type(value) is FunctionType else None
    for cell in (value.__closure__ or ()) if inner is not None else ():
        try:
            if cell.cell_contents is inner:
                yield cell, inner
        except ValueError:  # an empty cell
            continue


class RecordedAsserts:
    """Replaces the assert functions of other modules by ones that record their arguments."""

    def __init__(self) -> None:
        self._made: dict[int, tuple[Any, Any]] = {}
        self._swaps: list[tuple[Any, str, Any]] = []

    def install(self, namespace: Any, own_file: str | None = None) -> None:
        """Replace the assert functions in a module or class, except those that its own file defines."""
        for name, value in list(vars(namespace).items()):
            if not name.startswith("assert") or not isinstance(value, FunctionType):
                continue
            if compiled_function(value) is not None or value.__code__.co_filename == own_file:
                continue
            _, replacement = self._made.setdefault(id(value), (value, disable(recorded(value))))
            self._swaps.append((namespace, name, value))
            setattr(namespace, name, replacement)

    def uninstall(self) -> None:
        """Restore the original assert functions."""
        for namespace, name, value in reversed(self._swaps):
            setattr(namespace, name, value)
        self._swaps.clear()
