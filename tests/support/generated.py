"""Runs generated operations and programs compiled and plain; collects differences, and how calls were answered."""

import contextlib
import dataclasses
from collections import Counter

from support.flow_programs import write_flow_program
from support.operations import CHANGE, OperationWriter, outcome
from support.programs import define, difference, first_difference, write_program

import accel
from accel._accel import record
from accel.testing._coverage import _ways

OPERATIONS, INPUTS = 8, 5
MOST_EXITS = 60


@dataclasses.dataclass
class Found:
    """Counts of cases and of calls, and texts that say what differs."""

    counts: Counter = dataclasses.field(default_factory=Counter)
    different: list = dataclasses.field(default_factory=list)

    def add_calls(self, call, exit=0):
        """Counts how the calls of a compiled function were answered, and why. `exit`: that which was forced; 0: none."""
        what = "calls with an exit" if exit else "calls"
        with contextlib.suppress(accel.errors.AccelError):
            facts = record(call)
            self.counts.update({f"{what} {way}": number for way, number in _ways(facts).items()})
            for event in facts["events"] if not exit else ():
                self.counts[f"reason {event['reason']}"] += event.get("count", 1)


def run_operations(random, backend="native"):
    """A group of operations on several inputs of the same kinds."""
    found, writer = Found(), OperationWriter(random)
    for operations in drawn_operations(writer, random):
        compare_group(writer, operations, found, backend)
        found.counts["cases"] += len(operations) * INPUTS
    return found


def drawn_operations(writer, random):
    """Lists of operations, those of which share a function."""
    alone, together = [], []
    for _ in range(OPERATIONS):
        operation = writer.operation()
        plain = [outcome_of(writer, [operation], number) for number in range(INPUTS)]
        if all(o["error"] for o in plain) and random.random() > 0.2:  # most calls that raise do so because of dtypes
            continue
        (together if all(is_quiet(operation, o) for o in plain) else alone).append(operation)
    return [*([o] for o in alone), *([together] if together else [])]


def outcome_of(writer, operations, number):
    return outcome(define(writer.source(operations)), writer.inputs(number))


def is_quiet(operation, plain):
    """Whether an operation changes no operand, and neither warns nor raises, so that it can share a function with others."""
    return operation[1] != CHANGE and not operation[0] and plain["error"] is None and not plain["warned"]


def compare_group(writer, operations, found, backend):
    function = define(writer.source(operations))
    call = accel.compile(function, backend=backend)
    for number in (0, *range(INPUTS)):
        what = where_different(writer, function, call, number, False)
        if what is not None:
            operands = f"{writer.program.arguments}, input {number}, sizes {writer.program.sizes[number]}"
            found.different.append(f"{what}\n  {operands}\n{writer.source(operations)}")
            found.counts["different"] += 1
            break
        found.counts["calls with strides of their own"] += where_different(writer, function, call, number, True) is not None
    found.add_calls(call)


def where_different(writer, function, call, number, all_strides):
    want, got = (outcome(made, writer.inputs(number), all_strides) for made in (function, call))
    parts = [part for part in want if got[part] != want[part]]
    return f"{parts[0]} differs: {first_difference(got[parts[0]], want[parts[0]])}" if parts else None


def run_program(random, backend="native"):
    """Checks a program as written, and with a side exit taken at each possible point.

    A kernel is compiled for the program as written and for one of the exits; all others use the backend "numpy".
    """
    found = Found()
    program = write_program(random) if random.random() < 0.25 else write_flow_program(random)
    function = define(program.source)
    first, second, third = program.sizes
    found.counts["programs"] += 1
    compare_program(program, function, (first, first, second, third, first), found, backend, 0)
    drawn = random.randint(1, 20)
    compare_program(program, function, (first, second, third), found, backend, drawn)
    for exit in range(1, MOST_EXITS):
        if not compare_program(program, function, (first, first, second), found, "numpy", exit):
            break
        found.counts["exits"] += 1
    return found


def compare_program(program, function, sizes_of_calls, found, backend, exit):
    """Compares the program with NumPy, with this exit taken; returns whether the program has the exit."""
    with accel.config(stress_exits=exit):
        call = accel.compile(function, backend=backend)
        for sizes in sizes_of_calls:
            text = difference(program, call, function, sizes)
            if text is not None:
                found.different.append(f"exit {exit}, {backend}: {text}\n{program.arguments}\n{program.source}")
                found.counts["different"] += 1
                break
        found.add_calls(call, exit)
        if not exit:
            return True
        events = record(call)
    return "an exit that was asked for" in str(events)
