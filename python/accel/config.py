"""Settings of accel, as attributes: ``accel.config.recompile_limit = 16``.

``print(accel.config)`` shows all settings with their values, environment variables and documentation, from a table of the core.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from . import _accel
from .errors import ArgumentError, SettingError

__all__ = ["Config", "config"]


class Config:
    """The settings of the process, as attributes that can be read and assigned."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        self._check(name)
        return _accel.get_setting(name)

    def __setattr__(self, name: str, value: Any) -> None:
        self._check(name)
        problem = _accel.set_setting(name, value)
        if problem:
            raise SettingError(f"accel.config.{name} cannot be {value!r}: {problem}. {self._row(name)['doc']}")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *(row["name"] for row in _accel.settings_table())]

    def __repr__(self) -> str:
        lines = []
        for row in _accel.settings_table():
            env = f" [{row['env']}]" if row["env"] else ""
            lines.append(f"{row['name']} = {_accel.get_setting(row['name'])!r}{env}\n    {row['doc']}")
        return "\n".join(lines)

    @contextmanager
    def __call__(self, **values: Any) -> Iterator[None]:
        """Change settings for the duration of a ``with`` block: ``with accel.config(threads=1): ...``."""
        before = {name: getattr(self, name) for name in values}
        try:
            for name, value in values.items():
                setattr(self, name, value)
            yield
        finally:
            for name, value in before.items():
                setattr(self, name, value)

    @staticmethod
    def _row(name: str) -> dict[str, Any]:
        return next(row for row in _accel.settings_table() if row["name"] == name)

    @staticmethod
    def _check(name: str) -> None:
        names = [row["name"] for row in _accel.settings_table()]
        if name not in names:
            raise SettingError(f"accel.config has no setting {name!r}; there are {', '.join(names)}")


config = Config()


def choose(argument: str, value: object, allowed: tuple[str, ...]) -> None:
    """Raise ArgumentError unless `value` is one of the `allowed` words."""
    if not (isinstance(value, str) and value in allowed):
        words = ", ".join(map(repr, allowed))
        raise ArgumentError(f"{argument} cannot be {value!r}: use one of {words}")
