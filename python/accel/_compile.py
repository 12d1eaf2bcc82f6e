"""`accel.compile`, and the callables that it accepts."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import FunctionType, MethodType
from typing import Any, ParamSpec, TypeVar, cast, overload

from . import _accel
from . import _builtins as _builtins  # capture requires that it is imported
from .config import choose
from .errors import ArgumentError

__all__ = ["compile", "compiled_function", "disable"]

P = ParamSpec("P")
R = TypeVar("R")

_MODES = ("default", "reduce-overhead")
_FLAGS = (("fullgraph", (True, False)), ("dynamic", (None, True, False)), ("disable", (True, False)))


@overload
def compile(
    fn: Callable[P, R],
    *,
    fullgraph: bool = False,
    dynamic: bool | None = None,
    mode: str = "default",
    backend: str | Callable[..., Any] = "native",
    disable: bool = False,
    device: str | None = None,
) -> Callable[P, R]: ...


@overload
def compile(
    fn: None = None,
    *,
    fullgraph: bool = False,
    dynamic: bool | None = None,
    mode: str = "default",
    backend: str | Callable[..., Any] = "native",
    disable: bool = False,
    device: str | None = None,
) -> Callable[[Callable[P, R]], Callable[P, R]]: ...


def compile(
    fn: Callable[..., Any] | None = None,
    *,
    fullgraph: bool = False,
    dynamic: bool | None = None,
    mode: str = "default",
    backend: str | Callable[..., Any] = "native",
    disable: bool = False,
    device: str | None = None,
) -> Callable[..., Any]:
    """Make a function of NumPy code fast. Its results stay NumPy's.

    The first call captures what the function does and compiles it to one native kernel; later calls run the kernel. What
    cannot be compiled runs in the interpreter; `accel.explain` shows what and why.

    Parameters
    ----------
    fn : callable, optional
        A Python function or lambda, a bound, static or class method, a `functools.partial` of one of these, or an object whose
        class defines ``__call__`` in Python. Without it a decorator with the other arguments is returned.
    fullgraph : bool
        Raise `UnsupportedError` when the function cannot be compiled as a whole. For errors, warnings and failed checks (an
        index out of bounds, an integer beyond 64 bits) calls still leave for the interpreter.
    dynamic : bool or None
        ``None`` and ``True``: one compiled version serves all sizes. ``False``: a version serves one size of each array, and
        another size compiles again, up to ``accel.config.recompile_limit`` versions.
    mode : {"default", "reduce-overhead"}
        ``"reduce-overhead"``: on a CUDA device kernels are launched as CUDA graphs, many at once, which takes less time where
        they are small. Results are the same, and always in memory of their own. On the CPU the modes are the same.
    backend : str or callable
        One of `accel.list_backends()`, or ``backend(graph, example_inputs)`` that returns a callable, see `accel.backends`.
    disable : bool
        Return a callable that runs `fn` in the interpreter.
    device : str or None
        Where calls run: ``"cpu"``, ``"cuda"``, ``"cuda:1"``. ``None``: where `accel.device` or `accel.set_default_device` says.
        Arguments on a device, and a context of `accel.device`, come first. Arguments that are arrays of other libraries on a
        CUDA device (torch, CuPy, anything with ``__dlpack__`` or ``__cuda_array_interface__``), also in lists, tuples and
        dicts, are device arrays for the function, without a copy, and its results are arrays of the first one's library.

    Returns
    -------
    callable
        Of the same kind as `fn`, with its name, documentation and signature; ``__wrapped__`` is the function itself.

    Examples
    --------
    >>> import numpy as np
    >>> import accel
    >>> @accel.compile
    ... def mean_square(x):
    ...     return np.mean(x * x)
    >>> float(mean_square(np.arange(4.0)))
    3.5
    """
    values = {"fullgraph": fullgraph, "dynamic": dynamic, "disable": disable}
    for name, allowed in _FLAGS:
        if not any(values[name] is value for value in allowed):
            raise ArgumentError(f"{name} cannot be {values[name]!r}: use one of {', '.join(map(repr, allowed))}")
    choose("mode", mode, _MODES)
    make = _Maker(fullgraph, dynamic, disable, backend, _choice_of(device), mode == "reduce-overhead")
    return make if fn is None else cast("Callable[..., Any]", make(fn))


def _choice_of(device: str | None) -> int:
    from ._device import _choice

    return _accel.NO_CHOICE if device is None else _choice(device)


class _Maker:
    """Compiles functions with fixed options: the decorator that `compile` returns without a function."""

    def __init__(
        self,
        fullgraph: bool,
        dynamic: bool | None,
        disable: bool,
        backend: str | Callable[..., Any],
        device: int,
        reduce_overhead: bool,
    ) -> None:
        self.fullgraph = fullgraph
        self.dynamic = dynamic
        self.disable = disable
        self.backend = backend
        self.device = device
        self.reduce_overhead = reduce_overhead
        if backend != "native":
            from .backends import check_backend

            check_backend(backend)

    def __call__(self, fn: Any) -> Any:
        if isinstance(fn, _accel.CompiledFunction):  # isinstance takes it for a FunctionType, too
            return self._function(_accel.python_function(fn))
        if isinstance(fn, FunctionType):
            return self._function(fn)
        if isinstance(fn, MethodType):
            return MethodType(self(fn.__func__), fn.__self__)
        if isinstance(fn, staticmethod | classmethod):
            return type(fn)(self(fn.__func__))
        if isinstance(fn, functools.partial):
            return functools.partial(self(fn.func), *fn.args, **fn.keywords)
        call = _in_mro(type(fn), "__call__")
        if not isinstance(fn, type) and isinstance(call, FunctionType | _accel.CompiledFunction):
            return MethodType(self(call), fn)
        raise ArgumentError(
            f"fn cannot be {fn!r}: it is a {type(fn).__name__} without Python code to compile; "
            "pass a Python function, or a method, lambda or functools.partial of one"
        )

    def _function(self, function: Any) -> Any:
        backend, name = None, "native"
        if self.backend != "native":
            from .backends import adapt, backend_name

            backend, name = adapt(self.backend), backend_name(self.backend)
        return _accel.make_function(
            function, self.fullgraph, self.dynamic, self.disable, backend, name, self.device, self.reduce_overhead
        )


def _in_mro(kind: type, name: str) -> object:
    return next((vars(base)[name] for base in kind.__mro__ if name in vars(base)), None)


def compiled_function(fn: Any) -> Any:
    """Return the compiled function inside `fn` (a method, partial, ...), None when there is none."""
    while True:
        if isinstance(fn, _accel.CompiledFunction):
            return fn
        if isinstance(fn, MethodType | staticmethod | classmethod):
            fn = fn.__func__
        elif isinstance(fn, functools.partial):
            fn = fn.func
        else:
            return None


class _Disabled:
    """The result of `disable` without a function: a decorator and a context manager."""

    def __call__(self, fn: Callable[P, R]) -> Callable[P, R]:
        return compile(fn, disable=True)

    def __enter__(self) -> None:
        from .stance import set_stance

        self._stance = set_stance("force_eager")

    def __exit__(self, *exception: Any) -> None:
        self._stance.__exit__(None, None, None)


@overload
def disable(fn: Callable[P, R]) -> Callable[P, R]: ...


@overload
def disable(fn: None = None) -> _Disabled: ...


def disable(fn: Callable[..., Any] | None = None) -> Any:
    """Leave a function to the interpreter, also where a compiled function calls it: a decorator, ``@accel.disable``.

    Without a function, ``with accel.disable(): ...`` leaves every function to the interpreter for a while.

    Parameters
    ----------
    fn : callable, optional
        As for `accel.compile`.
    """
    return _Disabled() if fn is None else compile(fn, disable=True)
