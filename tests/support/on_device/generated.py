"""Generated operations and programs on a CUDA device, with NumPy's arrays and with arrays of the device, against NumPy.

Bits are compared; where the device's functions and sums may have other ones, numbers are as near as NumPy's runs with noise.
Programs whose runs with noise differ in more than floats are only run.
"""

import dataclasses

import numpy as np
from support.device_arrays import on_host
from support.flow_programs import write_flow_program
from support.generated import INPUTS, Found, drawn_operations
from support.on_device.noise import NoisyNumPy, noise, noisy, noisy_abs
from support.operations import OperationWriter
from support.programs import called, define, write_program

import accel
from accel._accel import record

RUNS_WITH_NOISE = 4
SPREADS, UNITS = 16, 4  # floats may be so many spreads of the runs with noise and so many units apart


class DeviceMemory:
    """Memory of a device in the form of an array of the host: the same strides and flags."""

    def __init__(self, array):
        low, high = np.lib.array_utils.byte_bounds(array)
        origin = array.__array_interface__["data"][0] - low
        memory = np.zeros(max(high - low, 1), np.uint8)
        np.ndarray(array.shape, array.dtype, memory, origin, array.strides)[...] = array
        self.memory = accel.to_device(memory)
        address = self.memory.__cuda_array_interface__["data"][0] + origin
        self.described = {"shape": array.shape, "typestr": array.dtype.str, "strides": array.strides, "version": 3}
        self.described["data"] = (address, not array.flags.writeable)

    @property
    def __cuda_array_interface__(self):
        return self.described


def resident(array):
    return accel.to_device(DeviceMemory(array)) if isinstance(array, np.ndarray) else array


@dataclasses.dataclass
class Outcome:
    error: tuple | None
    form: object  # types, dtypes, shapes, strides, which results are arguments
    values: list  # arrays and numbers of the result, then the arguments
    shared: list  # the arrays after each was filled with a number of its own: which of them share memory

    @property
    def dtypes(self):
        return [(value.dtype, value.shape) for value in self.values]


def outcome(call, passed):
    result, error, _ = called(call, passed)
    parts = []
    form = form_of(result, [*passed], parts), form_of(passed, [], parts)
    values = [np.array(on_host(part)) for part in parts]
    arrays = [part for part in parts if hasattr(part, "strides") and not isinstance(part, np.generic)]
    for number, array in enumerate(arrays):
        if array.flags.writeable:
            array[...] = number + 1
    return Outcome(error, form, values, [np.array(on_host(array)) for array in arrays])


def form_of(value, seen, parts):
    """A comparable form, without the numbers, which are appended to `parts`."""
    if isinstance(value, (tuple, list)):
        return (type(value), [form_of(item, seen, parts) for item in value])
    if isinstance(value, (np.ndarray, accel.DeviceArray)):
        same = [number for number, other in enumerate(seen) if other is value]
        seen.append(value)
        parts.append(value)
        strides = tuple(s if n > 1 else None for s, n in zip(value.strides, value.shape, strict=True)) if value.size else ()
        return ("array", value.dtype.str, value.shape, strides, value.flags.writeable, same)
    if isinstance(value, (bool, int, float, complex, np.generic)):
        parts.append(value)
        return type(value)
    return (type(value), repr(value))


class Expected:
    """NumPy's outcome, and those with noise."""

    def __init__(self, source, inputs):
        self.plain = outcome(define(source), inputs())
        self.noisy, self.used = [], False
        for seed in range(RUNS_WITH_NOISE):
            noise.seed(seed)
            with np.errstate(all="ignore"):
                self.noisy.append(outcome(define(source, np=NoisyNumPy(), abs=noisy_abs), [noisy(x) for x in inputs()]))
            self.used |= noise.used
        self.is_stable = all(self.is_like(other) for other in self.noisy)

    def is_like(self, other):
        """Whether a run with noise differs in finite floats alone."""
        if (other.error, len(other.values)) != (self.plain.error, len(self.plain.values)):
            return False
        pairs = zip(self.plain.values, other.values, strict=True)
        return all(a.dtype == b.dtype and np.array_equal(known(a), known(b)) for a, b in pairs)

    def difference(self, found, memory=True):
        """A text that says what differs from NumPy; None when nothing does. `memory`: whether strides and sharing count."""
        if not self.is_stable:
            return None
        got, want = ((o.error, *(o.form if memory else o.dtypes)) for o in (found, self.plain))
        if got != want:
            return f"error or form differs\n  accel: {got!r:.1200}\n  NumPy: {want!r:.1200}"
        for number, (got, want) in enumerate(zip(found.values, self.plain.values, strict=True)):
            far = np.max([np.abs(wide(other.values[number]) - wide(want)) for other in self.noisy], axis=0)
            if text := different_number(got, want, far, self.used):
                return f"value {number} differs: {text}"
        for number, (got, want) in enumerate(zip(found.shared, self.plain.shared, strict=True)):
            if memory and got.tobytes() != want.tobytes():
                return f"memory that array {number} shares differs\n  accel: {got!r:.600}\n  NumPy: {want!r:.600}"
        return None


def known(value):
    """What noise must not change: all but finite floats."""
    if value.dtype.kind not in "fc":
        return value
    parts = parts_of(value)
    return np.where(np.isnan(parts), 2, np.where(np.isinf(parts), np.sign(parts), 0))


def parts_of(value):
    """The floats of the numbers."""
    return np.ascontiguousarray(value).reshape(value.shape + (1,)).view(value.real.dtype)


def wide(value):
    """Parts of the numbers, of which infinities and NaN are 0."""
    if value.dtype.kind not in "fc":
        return np.zeros(value.shape + (1,))
    parts = parts_of(value)
    return np.where(np.isfinite(parts), parts, 0).astype(float)


def different_number(got, want, far, used):
    if got.dtype.kind not in "fc":
        bad = (got != want).reshape(want.shape + (1,))
    else:
        one, other = parts_of(got), parts_of(want)
        finite = np.isfinite(one) & np.isfinite(other)
        with np.errstate(all="ignore"):
            units = np.spacing(np.abs(other)).astype(float)
            near = finite & (np.abs(one.astype(float) - other) <= SPREADS * far + UNITS * units) if used else False
        bits = f"u{one.itemsize}"
        bad = ~(near | (one.view(bits) == other.view(bits)) | (np.isnan(one) & np.isnan(other)))
    if not bad.any():
        return None
    at = tuple(np.argwhere(bad)[0])
    text = f"{bad.sum()} of {bad.size}, the first at {at[:-1]}: {got[at[:-1]]!r} instead of {want[at[:-1]]!r}"
    return text + (f", {far[at]} by noise" if used else "")


def how_answered(call):
    """In words, of the last call."""
    last = record(call)["last_call"]
    version, device = last["version"] or {}, "cpu"
    if last["version"]:
        device = version["device"]["name"]
    reasons = [note["detail"] for note in version.get("notes", []) if note["reason"] == "not_on_device"]
    if last["answered"] == "whole":
        return "whole on the CPU" + (f" ({reasons[0]})" if reasons else "") if device == "cpu" else "whole on the device"
    reason = (last["fallback"] or {}).get("reason", "")
    return f"{last['answered']} ({reason})" if reason else last["answered"]


def shown(argument):
    """Its form, and its numbers where they are few."""
    form = f"{argument.dtype} {argument.shape} {argument.strides} " if isinstance(argument, np.ndarray) else ""
    return form + (repr(argument) if np.size(argument) < 30 else "")


PLACES = {"NumPy's arrays": lambda x: x, "arrays of the device": resident}


def run_operations(random, backend="native"):
    """A group of operations on several inputs of the same kinds."""
    found, writer = Found(), OperationWriter(random)
    for operations in drawn_operations(writer, random):
        source = writer.source(operations)
        inputs = [lambda k=k: writer.inputs(k) for k in range(INPUTS)]
        run = OnDevice(source, inputs, backend, found, only_compiled=True)
        run.check((0, *range(INPUTS)))
        found.counts["cases"] += len(operations) * INPUTS
    return found


def run_program(random, backend="native"):
    """Checks a program as written, and with a side exit that is drawn."""
    found = Found()
    program = write_program(random) if random.random() < 0.25 else write_flow_program(random)
    run = OnDevice(program.source, [lambda s=s: program.inputs(s) for s in program.sizes], backend, found)
    found.counts["programs"] += 1
    run.check((0, 0, 1, 2))
    run.check((0, 1), random.randint(1, 20))
    return found


class OnDevice:
    """A function with several inputs, on a device. Adds to the counts and to what differs."""

    def __init__(self, source, inputs, backend, found, only_compiled=False):
        self.source, self.inputs, self.backend, self.found = source, inputs, backend, found
        self.only_compiled = only_compiled  # compare no calls of arrays of the device that the interpreter ran
        self.function = define(source)
        self.expected = [Expected(source, made) for made in inputs]
        found.counts["functions"] += 1
        found.counts["functions with noise"] += any(e.used for e in self.expected)
        found.counts["functions that are not stable"] += not all(e.is_stable for e in self.expected)

    def check(self, numbers, exit=0):
        """Calls with these inputs, with an exit taken: 0 for none."""
        for place, moved in PLACES.items():
            with accel.config(stress_exits=exit):
                call = accel.compile(self.function, backend=self.backend, device="cuda")
                for number in numbers:
                    passed = [moved(x) for x in self.inputs[number]()]
                    text = self.difference(call, passed, number, place, exit)
                    if text is not None:
                        self.found.counts["different"] += 1
                        where = f"{place}, input {number}, exit {exit}: {text}"
                        self.found.different.append(f"{where}\n{[*map(shown, self.inputs[number]())]}\n{self.source}")
                        break

    def difference(self, call, passed, number, place, exit):
        got = outcome(call, passed)
        answer = how_answered(call)
        self.found.counts[f"calls with {place}{', an exit' if exit else ''}: {answer}"] += 1
        one_by_one = place != "NumPy's arrays" and "whole" not in answer  # what a DeviceArray is not is in docs/gpu.md
        if one_by_one and (self.only_compiled or got.error and issubclass(got.error[0], accel.UnsupportedError)):
            self.found.counts["calls that are not compared"] += 1
            return None
        return self.expected[number].difference(got, memory=not one_by_one)
