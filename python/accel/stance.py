"""The stance of the process: whether calls of compiled functions may compile, recompile or fall back."""

from __future__ import annotations

from types import TracebackType

from . import _accel
from .config import choose

__all__ = ["set_stance"]

_STANCES = ("default", "force_eager", "fail_on_recompile", "fail_on_fallback")


class set_stance:  # noqa: N801
    """Set the stance of the process; as a context manager, until the end of the ``with`` block.

    Parameters
    ----------
    stance : {"default", "force_eager", "fail_on_recompile", "fail_on_fallback"}
        ``"default"``: compile when needed, leave to the interpreter what cannot be compiled.
        ``"force_eager"``: run every function in the interpreter, compile nothing.
        ``"fail_on_recompile"``: a call that fits none of the versions compiled so far raises `RecompileError`. A function
        that has no version yet gets its first one.
        ``"fail_on_fallback"``: a call that compiled code does not answer as a whole raises `UnsupportedError`.

    Examples
    --------
    >>> import accel
    >>> with accel.set_stance("force_eager"):
    ...     pass
    """

    def __init__(self, stance: str) -> None:
        choose("stance", stance, _STANCES)
        self._before = _accel.get_stance()
        _accel.set_stance(stance)

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None) -> None:
        _accel.set_stance(self._before)
