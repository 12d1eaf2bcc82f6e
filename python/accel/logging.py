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


def _emit(topic: str, text: str) -> None:
    """Log one record. Called from C++ for topics that are switched on."""
    logger(topic).debug("%s", text)
