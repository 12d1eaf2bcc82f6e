"""Log records of accel: ``ACCEL_LOGS=recompiles,breaks`` or ``accel.config.logs = ["breaks"]``.

Each topic is a logger of the standard library, ``accel.<topic>``. Records reach the handlers that the application has set up;
when there are none, they go to stderr.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import logging as standard

__all__ = ["logger"]


def logger(topic: str) -> standard.Logger:
    """Return the logger of a topic.

    Parameters
    ----------
    topic : str
        One of the topics that the setting ``logs`` may name.
    """
    import logging as standard

    found = standard.getLogger(f"accel.{topic}")
    if found.level == standard.NOTSET:
        found.setLevel(standard.DEBUG)
    parent = standard.getLogger("accel")
    if not found.hasHandlers():
        handler = standard.StreamHandler(sys.stderr)
        handler.setFormatter(standard.Formatter("[%(name)s] %(message)s"))
        parent.addHandler(handler)
    return found


def _say_slow(text: str) -> None:
    """Log that a compile takes long, for a waiting user. Called from C++."""
    from . import _accel

    is_asked_for = "slow_compiles" in _accel.get_setting("logs")
    if is_asked_for or (_somebody_waits() and not _warnings_are_ignored()):
        logger("slow_compiles").info("%s", text)


def _somebody_waits() -> bool:
    """Whether stderr is a terminal or a notebook."""
    stream = sys.stderr
    try:
        return stream is not None and (type(stream).__module__.startswith("ipykernel") or stream.isatty())
    except ValueError:  # it is closed
        return False


def _warnings_are_ignored() -> bool:
    """Whether all warnings of accel are dropped, by ``-W ignore`` or by a filter."""
    import warnings

    from .errors import AccelWarning

    for action, message, category, module, line in warnings.filters:
        if issubclass(AccelWarning, category) and message is None and module is None and not line:
            return action == "ignore"
    return False


def _emit(topic: str, text: str) -> None:
    """Log one record. Called from C++ for topics that are switched on."""
    logger(topic).debug("%s", text)
