"""``numpy.errstate`` where the interpreter goes on within one that compiled code has entered."""

from contextvars import Token
from typing import Any

from numpy._core.umath import _extobj_contextvar, _make_extobj  # type: ignore[attr-defined]


def set_modes(divide: str | None, over: str | None, under: str | None, invalid: str | None) -> Token[Any]:
    """
    Set NumPy's modes for floating-point events.

    Parameters
    ----------
    divide, over, under, invalid
        ``"ignore"``, or None for the mode that holds already.

    Returns
    -------
    Token
        What ``numpy.errstate`` resets the modes with.
    """
    token: Token[Any] = _extobj_contextvar.set(_make_extobj(divide=divide, over=over, under=under, invalid=invalid))
    return token
