"""Statistics of calls of compiled functions: how they were answered, and the reasons of fallbacks."""

from __future__ import annotations

from collections import Counter
from typing import Any

from .. import _accel
from ..inspect import _exceptional_exits_taken

__all__ = ["Coverage"]

_WAYS = ("whole", "boxed", "partly", "interpreted")


class Coverage:
    """Counts of calls and of reasons.

    Attributes
    ----------
    calls : Counter
        Calls that compiled code answered ``whole``, ``boxed`` (as a whole, with calls of Python or NumPy in it) or ``partly``,
        and those that were ``interpreted``.
    functions : Counter
        Functions by their best answer, and those ``not called``.
    reasons : Counter
        By (reason code, detail): how often compiled code was left, or not entered, for this reason.
    """

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()
        self.functions: Counter[str] = Counter()
        self.reasons: Counter[tuple[str, str]] = Counter()

    def add(self, function: Any) -> None:
        """Add the counts of a compiled function."""
        if _accel.counters(function)["calls"] == 0:
            self.functions["not called"] += 1
            return
        record = _accel.record(function)
        ways = _ways(record)
        self.calls.update(ways)
        self.functions[next((way for way in _WAYS if ways[way] > 0), "interpreted")] += 1
        for event in [*record["events"], *_exceptional_exits_taken(record)]:
            self.reasons[event["reason"], event["detail"]] += event.get("count", 1)

    def data(self) -> dict[str, Any]:
        """Return the counts as plain data."""
        reasons = [[reason, detail, count] for (reason, detail), count in self.reasons.items()]
        return {"calls": dict(self.calls), "functions": dict(self.functions), "reasons": reasons}

    def add_data(self, data: dict[str, Any]) -> None:
        """Add counts of another process."""
        self.calls.update(data["calls"])
        self.functions.update(data["functions"])
        self.reasons.update({(reason, detail): count for reason, detail, count in data["reasons"]})

    def lines(self, most: int = 40) -> list[str]:
        """Return the counts as text."""
        text = ["calls:     " + ", ".join(f"{way} {self.calls[way]}" for way in _WAYS)]
        text += ["functions: " + ", ".join(f"{way} {self.functions[way]}" for way in (*_WAYS, "not called"))]
        by_code: Counter[str] = Counter()
        for (reason, _), count in self.reasons.items():
            by_code[reason] += count
        text += ["reasons:   " + ", ".join(f"{reason} {count}" for reason, count in by_code.most_common())]
        for (reason, detail), count in self.reasons.most_common(most):
            text.append(f"{count:8} {reason}: {detail}"[:160])
        return text


def _ways(record: dict[str, Any]) -> Counter[str]:
    """Split the calls of a function by how they were answered."""
    counters, versions = record["counters"], record["versions"]
    thrown_away = sum(version["floating_point_events"] for version in versions)  # counted as side exits, then interpreted
    left = min(max(counters["side_exits"] - thrown_away, 0), counters["compiled"])
    whole = counters["compiled"] - left
    is_boxed = any("callable" in operation for version in versions for operation in version["operations"])
    ways = Counter({"boxed" if is_boxed else "whole": whole, "partly": left, "interpreted": counters["interpreted"]})
    return ways
