"""One process: one contestant, some rows. Prints a line of JSON for each row, with the reason where there is no figure."""

import argparse
import json
import os
import sys
import time
import warnings

import numpy as np

from benchmarks.device import timing
from benchmarks.device.contestants import CONTESTANTS, leaves
from benchmarks.device.driver import Driver, DriverError
from benchmarks.device.rows import all_rows
from benchmarks.peers import compare

CHECKED = "accel", "hand-written"
LOST = 75  # status of a process that ends between two rows, since its device is lost


def own_output():
    """The standard output, for our lines alone: what libraries print goes to the standard error."""
    output = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    return output


def moved_bytes(row, arguments, results):
    """Bytes that must move: the inputs once, the results once. Results that are numbers do not count."""
    if row.name == "read":
        results = ()
    return sum(a.nbytes for a in (*arguments, *results) if getattr(a, "shape", None))


def verdict(row, contestant, result, inputs):
    """How a result compares with NumPy's."""
    with np.errstate(all="ignore"):
        expected = leaves(row.function(*inputs))
    found = [np.asarray(contestant.fetch(leaf)) for leaf in leaves(result)]
    shapes = [np.shape(want) if leaf.size == np.size(want) else leaf.shape for leaf, want in zip(found, expected, strict=True)]
    found = [leaf.reshape(shape) for leaf, shape in zip(found, shapes, strict=True)]
    return compare(found, expected)


class Inputs:
    """Those of the last row, here and on the device: rows that follow each other often have the same ones."""

    def __init__(self, contestant, size):
        self.contestant, self.is_small, self.last, self.found = contestant, size == "small", None, ()

    def of(self, row):
        if self.last != (row.inputs, row.resident):
            self.last, self.found = (row.inputs, row.resident), ()  # frees the device's memory first
            inputs = row.inputs(self.is_small)
            put = self.contestant.put if row.resident else lambda array: array
            self.found = inputs, [put(a) if isinstance(a, np.ndarray) else a for a in inputs]
        return self.found


def run_row(contestant, row, inputs_of, options):
    inputs, arguments = inputs_of(row)
    call = contestant.make(row, arguments)
    if call is None:
        return {"problem": "no such row"}
    begin = time.perf_counter()
    result = call(*arguments)
    contestant.wait(result)
    found = {"first_seconds": time.perf_counter() - begin}
    if getattr(contestant, "result", None) is not None:
        result = contestant.result
    found["bytes"] = moved_bytes(row, arguments, leaves(result)) if row.moves else None
    if options.contestant == "accel":
        found |= contestant.facts(call, arguments)
    if options.contestant in CHECKED and row.function is not None and not options.unchecked and result is not None:
        found["verdict"] = verdict(row, contestant, result, inputs)
    del result
    found |= timing.measure(lambda: call(*arguments), row.mode, contestant, options.seconds)
    return found


def attempt(contestant, row, inputs_of, options):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return run_row(contestant, row, inputs_of, options)
    except Exception as error:  # a row that fails is a dash in the table
        return {"problem": f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"}


def is_lost(contestant):
    """Whether the device does nothing more for this process, as after a wild store."""
    try:
        if contestant.driver is not None:
            contestant.driver.wait()
    except DriverError:
        return True
    return False


def about_device():
    import accel

    driver = Driver()
    attributes = {"device": driver.name(), "architecture": driver.architecture(), "driver": driver.version()}
    return attributes | {"accel": accel.__version__, "numpy": np.__version__}


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--contestant", choices=CONTESTANTS)
    parser.add_argument("--rows", default="")
    parser.add_argument("--seconds", type=float, default=0.3)
    parser.add_argument("--size", choices=["full", "small"], default="full")
    parser.add_argument("--unchecked", action="store_true")
    parser.add_argument("--about", action="store_true", help="what the device is")
    return parser.parse_args()


def main():
    options = arguments()
    output = own_output()
    if options.about:
        try:
            print(json.dumps(about_device()), file=output, flush=True)
        except Exception as error:
            print(json.dumps({"problem": str(error)}), file=output, flush=True)
            sys.exit(1)
        return
    rows = all_rows()
    try:
        contestant = CONTESTANTS[options.contestant][0]()
    except Exception as error:
        print(json.dumps({"problem": f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"}), file=output, flush=True)
        return
    inputs = Inputs(contestant, options.size)
    for name in options.rows.split(","):
        found = attempt(contestant, rows[name], inputs.of, options)
        print(json.dumps({"row": name, **found}), file=output, flush=True)
        if "problem" in found and is_lost(contestant):
            os._exit(LOST)


if __name__ == "__main__":
    main()
