"""``numpy.errstate`` for the interpreter after a side exit from within a ``with numpy.errstate`` block of compiled code."""

from collections.abc import Callable
from contextvars import Token
from typing import Any

from numpy._core import umath


def set_modes(
    divide: str | None, over: str | None, under: str | None, invalid: str | None, call: Callable[[str, int], Any] | None
) -> Token[Any]:
    """
    Set NumPy's modes for floating-point events.

    Parameters
    ----------
    divide, over, under, invalid
        ``"ignore"``, ``"warn"``, ``"raise"``, ``"print"`` or ``"call"``, or None for the current mode.
    call
        The function for ``"call"``, or None for the current one.

    Returns
    -------
    Token
        The token with which ``numpy.errstate`` restores the modes.
    """
    functions: Any = umath  # its stub does not allow None
    called = {} if call is None else {"call": call}
    settings = functions._make_extobj(divide=divide, over=over, under=under, invalid=invalid, **called)
    token: Token[Any] = functions._extobj_contextvar.set(settings)
    return token
