"""``numpy.errstate`` where the interpreter goes on within one that compiled code has entered."""

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
        ``"ignore"``, ``"warn"``, ``"raise"``, ``"print"`` or ``"call"``, or None for the mode that holds already.
    call
        What ``"call"`` calls, or None for what is called already.

    Returns
    -------
    Token
        What ``numpy.errstate`` resets the modes with.
    """
    functions: Any = umath  # its stub does not tell that None is allowed
    called = {} if call is None else {"call": call}
    settings = functions._make_extobj(divide=divide, over=over, under=under, invalid=invalid, **called)
    token: Token[Any] = functions._extobj_contextvar.set(settings)
    return token
