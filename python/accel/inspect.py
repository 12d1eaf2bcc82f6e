"""Reports about compiled functions (`explain`, `stats`), `reset`, and the disk cache."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from . import _accel
from ._compile import compile, compiled_function
from .config import config
from .errors import AccelError, ArgumentError, _place

__all__ = ["CacheInfo", "Explanation", "Fallback", "LoopNest", "cache_info", "clear_cache", "explain", "reset", "stats"]


class Fallback(NamedTuple):
    """A fallback to the interpreter, a reason for another version, or a note.

    `times` counts occurrences in the explained call, `total` those since the start.
    """

    reason: str
    what: str
    detail: str
    filename: str
    lineno: int
    way_out: str
    times: int = 1
    total: int = 1

    def __str__(self) -> str:
        detail = f": {self.detail}" if self.detail else ""
        counted = f" ({_counts(self)})" if self.total > 1 or self.times != 1 else ""
        place = _place(self.filename, self.lineno)
        return f"{place}\n    {self.reason}: {self.what}{detail}{counted}\n    way out: {self.way_out}"


def _counts(entry: Fallback) -> str:
    return f"{entry.times} in this call, {entry.total} since the start"


class LoopNest(NamedTuple):
    """One loop nest of the kernel.

    `lines` are pairs of file name and line number, `operations` NumPy's names. `parallel`: large enough loops are split over
    threads.
    """

    lines: list[tuple[str, int]]
    operations: list[str]
    parallel: bool

    def __str__(self) -> str:
        kind = "parallel loop" if self.parallel else "loop"
        return f"{_lines_text(self.lines)}: {kind}: {', '.join(self.operations)}"


def _lines_text(lines: list[tuple[str, int]]) -> str:
    if not lines:
        return "no line of the source"
    files = dict.fromkeys(file for file, _ in lines)
    parts = []
    for file in files:
        numbers = [line for name, line in lines if name == file]
        name = f"{os.path.basename(file)}:" if len(files) > 1 else ("line " if len(numbers) == 1 else "lines ")
        parts.append(name + ", ".join(map(str, numbers)))
    return "; ".join(parts)


class CacheInfo(NamedTuple):
    """State of the disk cache.

    `hits` and `misses` are those of this process. `problem` says why the cache cannot be used; "" when it can.
    """

    path: str
    entries: int
    bytes: int
    hits: int
    misses: int
    problem: str


# Identifies an entry of a function's history.
_Key = tuple[str, str, str, int]


def _key(record: dict[str, Any]) -> _Key:
    return record["reason"], record["detail"], record["file"], record["line"]


def _fallback(record: dict[str, Any], times: int | None = None) -> Fallback:
    total = record.get("count", 1)
    where = record["file"], record["line"]
    return Fallback(
        record["reason"], record["what"], record["detail"], *where, record["way_out"], total if times is None else times, total
    )


def _exceptional_exits_taken(record: dict[str, Any]) -> list[dict[str, Any]]:
    exits = [exit for version in record["versions"] for exit in version["exits"]]
    return [exit for exit in exits if exit["exceptional"] and exit["count"] > 0]


class _Tally:
    """Counts of events and exits of a function before the explained call."""

    def __init__(self, record: dict[str, Any]) -> None:
        self.counters: dict[str, int] = record["counters"]
        self._events = {_key(event): event["count"] for event in record["events"]}
        self._exits = {exit["serial"]: exit["count"] for version in record["versions"] for exit in version["exits"]}

    def event(self, record: dict[str, Any]) -> Fallback:
        return _fallback(record, record["count"] - self._events.get(_key(record), 0))

    def exit(self, record: dict[str, Any]) -> Fallback:
        return _fallback(record, record["count"] - self._exits.get(record["serial"], 0))

    def calls(self, counters: dict[str, int]) -> dict[str, int]:
        return {name: count - self.counters[name] for name, count in counters.items()}


def _with_exception(fallback: Fallback, exception: BaseException | None) -> Fallback:
    """Add the exception that NumPy or Python raised at an exit."""
    if exception is None or fallback.reason != "will_raise":
        return fallback
    return fallback._replace(detail=f"{type(exception).__name__}: {exception}")


_SCREEN = 24  # lines
_WIDTH = 140  # columns of an entry of the short report's lists


class Explanation:
    """A report about one call of a compiled function. ``print(explanation)`` shows it.

    Attributes
    ----------
    name : str
    answered : {"whole", "left", "interpreted", "raised"}
        How this call was answered: compiled code ran to its end; up to an exit, and the interpreter from there on; the
        interpreter ran it from its start; accel ended it with an exception.
    compiled : bool
        Whether compiled code answered this call as a whole.
    partly : bool
        Whether compiled code ran up to an exit.
    exit : Fallback or None
        Why and where compiled code did not answer this call as a whole.
    fallbacks : list of Fallback
        All fallbacks to the interpreter, in this call or before.
    recompiles : list of Fallback
        Why further versions were compiled: the guard of the previous version that failed.
    exits : list of Fallback
        The side exits of the version that ran, with the numbers of calls that took them: errors, failed checks, and operations
        that have no compiled form.
    notes : list of Fallback
        Notes of capture about the version that ran.
    nests : list of LoopNest
        The loops of the kernel: their lines, what they compute.
    operations : list of dict
        The captured operations: op, dtype, file, line.
    calls : list of str
        Python callables that compiled code calls, with the place of each call.
    loops : list of str
        NumPy's own inner loops that the kernel calls.
    guards : list of str
        The conditions that a call must meet for this version.
    graph, captured_graph : str
        The graph as compiled, and as captured.
    program, source : str
        The loops, and the kernel's source.
    passes : list of dict
        name, changed, seconds and text of each pass.
    steps : list of dict
        name, changed, seconds and text of each step of the schedule.
    device : dict
        Where the kernel runs: ``name`` ("cpu", "cuda:0"). Of a CUDA device also ``kernels``, their ``source``, and what this
        call had the device do: ``launches``, of which ``graph_launches`` were in ``graphs`` CUDA graphs, ``waits`` of the
        host, ``bytes_up`` and ``bytes_down``. The bytes are also those of a call that runs on the CPU with copies of arrays
        of a device.
    schedule_notes : list of str
        Decisions of the scheduler: what was fused, split or stored, and why.
    seconds : float
        Duration of this call, compilation included.
    compile_seconds : float
        Duration of the compilation of the version that ran.
    from_cache : bool
        Whether the kernel came from the disk cache.
    versions, version : int
        Number of compiled versions of the function, and the index of the one that ran (-1: none).
    stats : dict
        The counters of `accel.stats` for this call alone, including nested calls of the function.
    total_stats : dict
        The counters of `accel.stats` since the start.
    result : object
        What the call returned.
    exception : BaseException or None
        What the call raised.
    """

    def __init__(
        self,
        compiled: Any,
        before: dict[str, Any],
        result: object,
        exception: BaseException | None,
        *,
        seconds: float = 0.0,
        verbose: bool = False,
    ) -> None:
        record = _accel.record(compiled)
        last = record["last_call"]
        version: dict[str, Any] = last["version"] or {}
        tally = _Tally(before)
        code = compiled.__code__
        self.name: str = compiled.__qualname__
        self.filename: str = code.co_filename
        self.lineno: int = code.co_firstlineno
        self.backend: str = record["backend"]
        self.verbose = verbose
        self.result = result
        self.exception = exception
        self.answered: str = last["answered"]
        self.compiled: bool = self.answered == "whole"
        self.partly: bool = self.answered == "left"
        self.exit = _with_exception(_fallback(last["fallback"]), exception) if last["fallback"] else None
        events = [tally.event(event) for event in record["events"]]
        self.exits = [tally.exit(exit) for exit in version.get("exits", [])]
        self.fallbacks = [event for event in events if event.reason != "guard_failed"]
        self.fallbacks += [tally.exit(exit) for exit in _exceptional_exits_taken(record)]
        self.recompiles = [event for event in events if event.reason == "guard_failed"]
        self.notes = [_fallback(note) for note in version.get("notes", [])]
        self.nests = [LoopNest(**nest) for nest in version.get("nests", [])]
        self.operations: list[dict[str, Any]] = version.get("operations", [])
        self.calls = [f"{_place(o['file'], o['line'])}: {o['callable']}" for o in self.operations if "callable" in o]
        self.loops: list[str] = version.get("loops", [])
        self.guards: list[str] = version.get("guards", [])
        self.captured_graph: str = version.get("captured_graph", "")
        self.graph: str = version.get("graph", self.captured_graph)
        self.program: str = version.get("program", "")
        self.source: str = version.get("source", "")
        self.passes: list[dict[str, Any]] = version.get("passes", [])
        self.steps: list[dict[str, Any]] = version.get("steps", [])
        self.schedule_notes: list[str] = version.get("schedule_notes", [])
        self.device: dict[str, Any] = version.get("device", {"name": "cpu"})
        self.seconds = seconds
        self.compile_seconds: float = version.get("seconds", 0.0)
        self.from_cache: bool = version.get("from_cache", False)
        self.versions: int = len(record["versions"])
        self.version: int = record["last_version"]
        self.total_stats: dict[str, int] = record["counters"]
        self.stats = tally.calls(self.total_stats)

    def __str__(self) -> str:
        return self.report(verbose=self.verbose)

    def __repr__(self) -> str:
        return f"<Explanation of {self.name}: {self._verdict()}>"

    def report(self, *, verbose: bool = False) -> str:
        """Return the report as text.

        Parameters
        ----------
        verbose : bool
            Everything: all fallbacks, exits, guards, decisions of the scheduler and the graph. Otherwise one screen: how this
            call was answered, the loops that are compiled, what is not compiled and why, and the cost.
        """
        return "\n".join(self._long() if verbose else self._short())

    def _short(self) -> list[str]:
        why = str(self.exit).splitlines() if self.exit is not None else []
        cost = [self._cost(), "more: accel.explain(fn, verbose=True)(...)"]
        lines = [self._head(), *self._kernel(), *(["not compiled:"] if why else []), *(f"  {line}" for line in why)]
        room = _SCREEN - len(lines) - len(cost)
        for title, entries in (
            ("loops", [str(nest) for nest in self.nests]),
            ("calls of Python code", self.calls),
            ("compiled again because of", [event.detail for event in self.recompiles]),
            ("also left to the interpreter", [self._one_line(entry, whole_path=False) for entry in self._others()]),
        ):
            lines += _section(title, entries, min(room - 2, 8))
            room = _SCREEN - len(lines) - len(cost)
        return lines + cost

    def _long(self) -> list[str]:
        parts = [self._head(), *self._kernel()]
        parts += _section("left to the interpreter", list(map(str, self.fallbacks)))
        parts += _section("loops", list(map(str, self.nests)))
        parts += _section("exits", [self._one_line(exit) for exit in self.exits])
        parts += _section("calls of Python code", self.calls)
        parts += _section("compiled again because of", [event.detail for event in self.recompiles])
        parts += _section("guards", self.guards)
        parts += _section("schedule", self.schedule_notes)
        if self.graph:
            parts += ["graph:", self.graph.rstrip()]
        return [*parts, self._cost()]

    def _others(self) -> list[Fallback]:
        here = None if self.exit is None else (self.exit.reason, self.exit.filename, self.exit.lineno)
        others = [entry for entry in self.fallbacks if (entry.reason, entry.filename, entry.lineno) != here]
        shown = {entry.detail for entry in (*self.notes, self.exit) if entry is not None and entry.reason == "not_on_device"}
        return [entry for entry in others if entry.reason != "not_on_device" or entry.detail not in shown]

    @staticmethod
    def _one_line(entry: Fallback, *, whole_path: bool = True) -> str:
        detail = f": {entry.detail}" if entry.detail else ""
        place = _place(entry.filename, entry.lineno)
        if not whole_path:
            place = place.removeprefix(os.path.dirname(entry.filename)).removeprefix(os.sep)
        return f"{place}: {entry.reason}{detail}, {_counts(entry)}"

    def _verdict(self) -> str:
        if self.compiled:
            return "compiled as a whole"
        why = f": {self.exit.reason}" if self.exit is not None else ""
        if self.partly and self.exit is not None:
            return f"compiled up to {self.exit.filename}:{self.exit.lineno}, then interpreted{why}"
        return f"ended by accel{why}" if self.answered == "raised" else f"interpreted{why}"

    def _head(self) -> str:
        text = f"{self.name} ({self.filename}:{self.lineno}): {self._verdict()}"
        return text if self.exception is None else f"{text}; raised {type(self.exception).__name__}: {self.exception}"

    def _kernel(self) -> list[str]:
        if not self.source and not self.operations:
            return []
        kernel = f"kernel: {len(self.operations)} operations, backend {self.backend}"
        if self.versions > 1:
            kernel += f", version {self.version + 1} of {self.versions}"
        if "bytes_up" in self.device and (self.compiled or self.partly):
            kernel += f", on {self.device['name']}: {self._device_work()}"
        elsewhere = [f"  not on the device: {note.detail}" for note in self.notes if note.reason == "not_on_device"]
        return [kernel, *elsewhere, *([f"  NumPy's own loops: {', '.join(self.loops)}"] if self.loops else [])]

    def _device_work(self) -> str:
        work = self.device
        up, down = _bytes_text(work["bytes_up"]), _bytes_text(work["bytes_down"])
        if "launches" not in work:
            return f"{up} up, {down} down"
        launches, waits = _counted(work["launches"], "launch", "launches"), _counted(work["waits"], "wait", "waits")
        if work["graphs"]:
            launches += f" ({work['graph_launches']} in {_counted(work['graphs'], 'graph', 'graphs')})"
        return f"{launches}, {waits}, {up} up, {down} down"

    def _cost(self) -> str:
        origin = "kernel from the disk cache" if self.from_cache else f"kernel compiled in {self.compile_seconds:.2f} s"
        cost = f"cost: this call {_duration(self.seconds)}" + (f", {origin}" if self.source else "")
        return f"{cost}; since the start: " + ", ".join(f"{name} {count}" for name, count in self.total_stats.items())


def _counted(count: int, one: str, many: str) -> str:
    return f"{count} {one if count == 1 else many}"


def _bytes_text(count: int) -> str:
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return _counted(count, "byte", "bytes")


def _duration(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-6:.3g} us"


def _section(title: str, entries: list[str], most: int | None = None) -> list[str]:
    if not entries or (most is not None and most <= 0):
        return []
    if most is None:
        return [f"{title}:", *(f"  {entry}" for entry in entries)]
    shown = entries if len(entries) <= most else entries[: most - 1]
    rest = len(entries) - len(shown)
    lines = [f"  {entry}" for entry in shown]
    lines = [line if len(line) <= _WIDTH else line[: _WIDTH - 3] + "..." for line in lines]
    return [f"{title}:", *lines, *([f"  ... {rest} more"] if rest else [])]


def explain(fn: Callable[..., Any], *, verbose: bool = False) -> Callable[..., Explanation]:
    """Call a function and show what accel did with the call.

    Parameters
    ----------
    fn : callable
        A compiled function, or one that `accel.compile` accepts.
    verbose : bool
        Whether the text of the explanation has everything, or one screen.

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
        before = _accel.record(compiled)
        begin = time.perf_counter()
        with config(keep_texts=True):
            try:
                result = callable_(*arguments, **keywords)
            except AccelError:
                raise
            except Exception as error:
                exception = error
        seconds = time.perf_counter() - begin
        return Explanation(compiled, before, result, exception, seconds=seconds, verbose=verbose)

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
    """Drop all compiled versions of one function or of all. The disk cache does not change.

    Parameters
    ----------
    fn : callable, optional
        A compiled function; without it all of them.
    """
    _accel.reset(None if fn is None else _required(fn))


def cache_info() -> CacheInfo:
    """Return the location of the disk cache, its size, and its hits and misses."""
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
