"""What accel did with a function, and why: `explain`, `stats`, `reset`; and the disk cache."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from . import _accel
from ._compile import compile, compiled_function
from .config import config
from .errors import AccelError, ArgumentError, _place

__all__ = ["CacheInfo", "Explanation", "Fallback", "cache_info", "clear_cache", "explain", "reset", "stats"]


class Fallback(NamedTuple):
    """Something that was left to the interpreter, compiled again, or is worth knowing."""

    reason: str
    what: str
    detail: str
    filename: str
    lineno: int
    way_out: str
    times: int = 1

    def __str__(self) -> str:
        detail = f": {self.detail}" if self.detail else ""
        times = f" ({self.times} times)" if self.times > 1 else ""
        place = _place(self.filename, self.lineno)
        return f"{place}\n    {self.reason}: {self.what}{detail}{times}\n    way out: {self.way_out}"


class CacheInfo(NamedTuple):
    """State of the disk cache.

    `hits` and `misses` count this process. `problem` says why the cache cannot be used; it is "" when it can.
    """

    path: str
    entries: int
    bytes: int
    hits: int
    misses: int
    problem: str


def _fallback(record: dict[str, Any]) -> Fallback:
    where = record["file"], record["line"]
    return Fallback(record["reason"], record["what"], record["detail"], *where, record["way_out"], record.get("count", 1))


def _exceptional_exits_taken(record: dict[str, Any]) -> list[dict[str, Any]]:
    exits = [exit for version in record["versions"] for exit in version["exits"]]
    return [exit for exit in exits if exit["exceptional"] and exit["count"] > 0]


def _exit_text(exit: Fallback) -> str:
    detail = f": {exit.detail}" if exit.detail else ""
    return f"{_place(exit.filename, exit.lineno)}: {exit.reason}{detail}, taken {exit.times} times"


class Explanation:
    """What happened to one call of a compiled function. ``print(explanation)`` tells it.

    Attributes
    ----------
    name : str
    compiled : bool
        Whether compiled code answered the call as a whole.
    fallbacks : list of Fallback
        Whatever was left to the interpreter so far, with reason code, place and way out.
    recompiles : list of Fallback
        Why further versions were compiled: what the call differed in from the version before.
    exits : list of Fallback
        Where a call may leave the version that ran before its end, and how many calls did: errors, failed checks, and what has
        no compiled form.
    notes : list of Fallback
        What capture found worth noting about the version that ran.
    operations : list of dict
        The captured operations: op, dtype, file, line.
    calls : list of str
        Python callables that compiled code calls, with the place of each call.
    loops : list of str
        NumPy's own inner loops that the kernel calls.
    guards : list of str
        What the version assumes about a call.
    graph, captured_graph : str
        The graph as compiled, and as captured.
    program, source : str
        The loops, and the kernel's source.
    passes : list of dict
        name, changed, seconds and text of each pass.
    schedule_notes : list of str
        What was fused, split or kept apart, and why.
    compile_seconds : float
    from_cache : bool
        Whether the kernel came from the disk cache.
    versions, version : int
        Number of compiled versions of the function, and the index of the one that ran (-1: none).
    stats : dict
        As `accel.stats` gives it.
    result : object
        What the call returned.
    exception : BaseException or None
        What the call raised.
    """

    def __init__(self, compiled: Any, result: object, exception: BaseException | None) -> None:
        record = _accel.record(compiled)
        chosen = record["last_version"]
        version: dict[str, Any] = record["versions"][chosen] if chosen >= 0 else {}
        code = compiled.__wrapped__.__code__
        self.name: str = compiled.__qualname__
        self.filename: str = code.co_filename
        self.lineno: int = code.co_firstlineno
        self.backend: str = record["backend"]
        self.result = result
        self.exception = exception
        self.compiled: bool = bool(version.get("full"))
        self.partly: bool = bool(version.get("compiled")) and not self.compiled
        events = [_fallback(event) for event in record["events"]]
        self.exits = [_fallback(exit) for exit in version.get("exits", [])]
        self.fallbacks = [event for event in events if event.reason != "guard_failed"]
        self.fallbacks += [_fallback(exit) for exit in _exceptional_exits_taken(record)]
        self.recompiles = [event for event in events if event.reason == "guard_failed"]
        self.exit = _fallback(version["fallback"]) if version.get("fallback") else None
        self.notes = [_fallback(note) for note in version.get("notes", [])]
        self.operations: list[dict[str, Any]] = version.get("operations", [])
        self.calls = [f"{_place(o['file'], o['line'])}: {o['callable']}" for o in self.operations if "callable" in o]
        self.loops: list[str] = version.get("loops", [])
        self.guards: list[str] = version.get("guards", [])
        self.captured_graph: str = version.get("captured_graph", "")
        self.graph: str = version.get("graph", self.captured_graph)
        self.program: str = version.get("program", "")
        self.source: str = version.get("source", "")
        self.passes: list[dict[str, Any]] = version.get("passes", [])
        self.schedule_notes: list[str] = version.get("schedule_notes", [])
        self.compile_seconds: float = version.get("seconds", 0.0)
        self.from_cache: bool = version.get("from_cache", False)
        self.versions: int = len(record["versions"])
        self.version: int = chosen
        self.stats: dict[str, int] = record["counters"]

    def __str__(self) -> str:
        parts = [self._head(), self._kernel(), self._list("left to the interpreter", map(str, self.fallbacks))]
        parts.append(self._list("exits", map(_exit_text, self.exits)))
        parts.append(self._list("calls from compiled code", self.calls))
        parts.append(self._list("compiled again", (event.detail for event in self.recompiles)))
        parts.append(self._list("guards", self.guards))
        parts.append(self._list("schedule", self.schedule_notes))
        if self.graph:
            parts.append("graph:\n" + self.graph.rstrip())
        parts.append("calls: " + ", ".join(f"{name} {count}" for name, count in self.stats.items()))
        return "\n".join(part for part in parts if part)

    def __repr__(self) -> str:
        return f"<Explanation of {self.name}: {self._verdict()}>"

    def _verdict(self) -> str:
        if self.compiled:
            return "compiled as a whole"
        if self.partly and self.exit is not None:
            return f"compiled up to {self.exit.filename}:{self.exit.lineno}, then interpreted"
        return "interpreted"

    def _head(self) -> str:
        text = f"{self.name} ({self.filename}:{self.lineno}): {self._verdict()}"
        return text if self.exception is None else f"{text}; raised {type(self.exception).__name__}: {self.exception}"

    def _kernel(self) -> str:
        if not self.source and not self.operations:
            return ""
        origin = "from the disk cache" if self.from_cache else f"compiled in {self.compile_seconds:.2f} s"
        kernel = f"kernel: {len(self.operations)} operations, backend {self.backend}, {origin}"
        if self.versions > 1:
            kernel += f", version {self.version + 1} of {self.versions}"
        loops = f"\n  NumPy's own loops: {', '.join(self.loops)}" if self.loops else ""
        return kernel + loops

    @staticmethod
    def _list(title: str, lines: Any) -> str:
        text = [f"  {line}" for line in lines]
        return "\n".join([f"{title}:", *text]) if text else ""


def explain(fn: Callable[..., Any]) -> Callable[..., Explanation]:
    """Call a function and tell what accel did with the call.

    Parameters
    ----------
    fn : callable
        A compiled function, or one that `accel.compile` accepts.

    Returns
    -------
    callable
        ``explain(fn)(*arguments)`` calls `fn` once and returns an `Explanation`.

    Examples
    --------
    >>> import numpy as np
    >>> import accel
    >>> explanation = accel.explain(lambda x: x + x)(np.ones(3))
    >>> explanation.compiled
    True
    """
    callable_ = fn if compiled_function(fn) is not None else compile(fn)
    compiled = compiled_function(callable_)

    def call(*arguments: Any, **keywords: Any) -> Explanation:
        result, exception = None, None
        with config(keep_texts=True):
            try:
                result = callable_(*arguments, **keywords)
            except AccelError:
                raise
            except Exception as error:
                exception = error
        return Explanation(compiled, result, exception)

    return call


def stats(fn: Callable[..., Any]) -> dict[str, int]:
    """Return the counters of a compiled function.

    Returns
    -------
    dict
        ``calls``; ``compiled``: calls that compiled code answered, in whole or up to a side exit; ``interpreted``: calls that
        ran in the interpreter from the start; ``side_exits``: calls that left compiled code before its end; ``recompiles``:
        versions after the first; ``cache_hits``: kernels that came from the disk cache.
    """
    return _accel.counters(_required(fn))


def reset(fn: Callable[..., Any] | None = None) -> None:
    """Forget what was compiled, for one function or for all. The disk cache stays.

    Parameters
    ----------
    fn : callable, optional
        A compiled function; without it all of them.
    """
    _accel.reset(None if fn is None else _required(fn))


def cache_info() -> CacheInfo:
    """Return where the disk cache is, what is in it and how often it helped."""
    return CacheInfo(**_accel.cache_info())


def clear_cache() -> int:
    """Delete every kernel in the disk cache; loaded ones stay usable.

    Returns
    -------
    int
        Number of kernels deleted.
    """
    count, problem = _accel.clear_cache()
    if problem:
        raise AccelError(
            f"the disk cache cannot be cleared: {problem}; set ACCEL_CACHE_DIR to a folder of yours that is writable"
        )
    return count


def _required(fn: object) -> Any:
    compiled = compiled_function(fn)
    if compiled is None:
        raise ArgumentError(f"fn cannot be {fn!r}: it is not compiled; pass what accel.compile returned")
    return compiled
