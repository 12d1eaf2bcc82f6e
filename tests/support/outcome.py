"""The outcome of a call in comparable form: result, exception, warnings, changed arguments."""

import copy
import dataclasses
import pickle
import traceback
import warnings

import numpy as np


@dataclasses.dataclass
class Outcome:
    """All effects of a call that a NumPy user may rely on."""

    result: object
    error: tuple
    warned: list
    arguments: list


def attributes(value):
    """The attributes of an instance: slots, then the others in the order in which they were set."""
    slots = [name for kind in type(value).__mro__ for name in getattr(kind, "__slots__", ())]
    return [(name, getattr(value, name)) for name in slots if hasattr(value, name)] + list(
        getattr(value, "__dict__", {}).items()
    )


def describe(value, aliases=()):
    """A comparable description: bytes, dtype, shape, strides, flags, and the arguments that an array shares memory with."""
    if isinstance(value, np.ndarray):
        shared = tuple(i for i, a in enumerate(aliases) if isinstance(a, np.ndarray) and np.may_share_memory(a, value))
        data = value.tobytes()
        if value.dtype.hasobject:
            data = [describe(x) for x in value.ravel()]
        elif value.dtype.char in "gG":  # its bytes have padding
            data = [repr(x) for x in value.ravel()]
        order = tuple(s for s, n in zip(value.strides, value.shape, strict=True) if n > 1) if value.size else ()
        masks = value.mask.tobytes() if isinstance(value, np.ma.MaskedArray) and value.mask is not np.ma.nomask else None
        return (type(value), value.dtype.str, value.shape, order, value.flags.writeable, data, masks, shared)
    if isinstance(value, np.generic):
        return (type(value), repr(value) if value.dtype.char in "gGO" else value.tobytes())
    if isinstance(value, (tuple, list)):
        return (type(value), [describe(v, aliases) for v in value])
    if isinstance(value, dict):
        return (dict, [(k, describe(v, aliases)) for k, v in value.items()])
    if isinstance(value, float):
        return (float, value.hex())
    if isinstance(value, complex):
        return (complex, value.real.hex(), value.imag.hex())
    if type(value).__module__.startswith("test_") and not callable(value):
        return (type(value), [(name, describe(part, aliases)) for name, part in attributes(value)])
    try:
        return (type(value), pickle.dumps(value))
    except Exception:  # not picklable: compared by its text
        return (type(value), repr(value))


def lines(error):
    """Function and line of each frame of the traceback, from the called function inwards."""
    return [(frame.name, frame.lineno) for frame in traceback.extract_tb(error.__traceback__)[1:]]


def with_one_nan(value):
    """The array with all its NaNs replaced by one."""
    value = value.copy()
    parts = value.view(value.real.dtype)
    parts[np.isnan(parts)] = np.nan
    return value


def outcome(call, arguments, keywords=None, share=False):
    """Calls with copies of the arguments (share: with the arguments themselves, so that they still share memory)."""
    passed = list(arguments) if share else [copied(a) for a in arguments]
    result, error = None, ()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = call(*passed, **(keywords or {}))
        except Exception as raised:
            error = (type(raised), str(raised), lines(raised))
    warned = [(w.category, str(w.message), w.filename, w.lineno) for w in caught]
    return Outcome(describe(result, passed), error, warned, [describe(a) for a in passed])


def copied(argument):
    """A copy with the same layout, alignment and flags."""
    if not isinstance(argument, np.ndarray):
        return copy.deepcopy(argument)
    if type(argument) is not np.ndarray or argument.dtype.hasobject:
        return copy.deepcopy(argument)
    low, high = np.lib.array_utils.byte_bounds(argument)
    memory = np.empty(high - low + 64, np.uint8)
    offset = (low - memory.ctypes.data) % 64
    origin = argument.__array_interface__["data"][0] - low
    twin = np.ndarray(argument.shape, argument.dtype, memory, offset + origin, argument.strides)
    twin[...] = argument
    twin.flags.writeable = argument.flags.writeable
    return twin


def assert_same(function, call, *arguments, times=3, keywords=None, share=False):
    """Asserts that `call` does what `function` does, on the first call and on later ones. Returns NumPy's outcome."""
    expected = outcome(function, arguments, keywords, share)
    for time in range(times):
        found = outcome(call, arguments, keywords, share)
        for part in ("error", "result", "warned", "arguments"):
            got, want = getattr(found, part), getattr(expected, part)
            assert got == want, f"call {time + 1}: {part} differs\n  accel: {got!r:.600}\n  NumPy: {want!r:.600}"
    return expected
