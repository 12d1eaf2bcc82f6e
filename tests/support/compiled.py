"""Was it compiled? What ran in the interpreter must not look like a pass."""

from collections.abc import Mapping

import accel


def facts(call):
    """The counters of a compiled function as a dict, and `compiles`: how many versions were made."""
    stats = accel.stats(call)
    found = dict(stats) if isinstance(stats, Mapping) else {n: getattr(stats, n) for n in dir(stats) if not n.startswith("_")}
    found["compiles"] = found["recompiles"] + (found["compiled"] > 0)
    return found


def compile_count(call):
    """The number of versions so far; fails when compiled code has answered no call."""
    found = facts(call)
    assert found["compiled"] > 0, f"nothing was compiled: {found}"
    return found["compiles"]


def assert_all_compiled(call, *arguments):
    """Asserts that every call so far ran compiled to its end; with arguments: that a call with these does."""
    if arguments:
        before = facts(call)
        call(*arguments)
        found = {k: v - before[k] for k, v in facts(call).items() if isinstance(v, int)}
    else:
        found = facts(call)
    whole = found["compiled"] > 0 and found["interpreted"] == 0 and found["side_exits"] == 0
    assert whole, f"{found}\n{accel.explain(call)(*arguments) if arguments else ''}"
