"""python -m benchmarks sweep: every operation of NumPy that accel compiles, one at a time, on one thread, against NumPy.

Each row is timed alone and before `* 2.0`, on contiguous and strided operands of 50,000 elements and on small ones. NumPy and
accel take turns in one process; the least of their times counts, so that a busy machine disturbs little. What looks slow is
measured longer.
"""

import argparse
import ast
import fnmatch
import json
import os
import time
import warnings
from pathlib import Path

os.environ.update(dict.fromkeys(["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"], "1"))

import numpy as np

import accel
from benchmarks import sweep_rows
from benchmarks.case import as_tuple

LARGE, SMALL = 50_000, 10
VARIANTS = {"contiguous": (LARGE, ""), "strided": (LARGE, "strided"), "small": (SMALL, "")}
LEAST_RATIO = 0.95
MOST_SECONDS_LOST = 0.3e-6
SAMPLE_SECONDS = 0.3e-3
ROUNDS, ROUNDS_OF_THE_SLOW = 9, 60


def function_of(row, suffix):
    """The row as a function, and the names of its arguments."""
    body = row.expression if "return" in row.expression else f"return {row.expression}"
    if suffix:
        head, _, value = body.rpartition("return ")
        body = f"{head}return ({value}){suffix}"
    tree = ast.parse(f"def f():\n    {body}\n")
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    names = [name for name in (*sweep_rows.VECTORS, *sweep_rows.MATRICES, *sweep_rows.NUMBERS, "rng") if name in used]
    space = {"np": np}
    exec(compile(f"def f({', '.join(names)}):\n    {body}\n", f"<{row.name}{suffix}>", "exec"), space)
    return space["f"], names


def is_numeric(value):
    return isinstance(value, (np.ndarray, np.generic, float)) and np.asarray(value).dtype.kind in "biufc"


def seconds_per_call(call, arguments, count):
    clock, rounds = time.perf_counter, range(count)
    begin = clock()
    for _ in rounds:
        call(*arguments)
    return (clock() - begin) / count


def least_times(calls, arguments, rounds):
    """The minimum of the seconds per call of each callable, measured alternately."""
    once = seconds_per_call(calls[0], arguments, 1)
    count = max(1, min(2000, int(SAMPLE_SECONDS / max(once, 1e-9))))
    least = [float("inf")] * len(calls)
    for _ in range(rounds):
        for number, call in enumerate(calls):
            least[number] = min(least[number], seconds_per_call(call, arguments, count))
    return least


def is_slow(elements, numpy_seconds, accel_seconds):
    """Of large arrays a ratio counts, unless the time does not depend on the number of elements, as that of a view."""
    lost = accel_seconds - numpy_seconds
    return lost > MOST_SECONDS_LOST and (elements <= 1000 or numpy_seconds / accel_seconds < LEAST_RATIO)


def same(one, other):
    pairs = zip(as_tuple(one), as_tuple(other), strict=True)
    return all(
        np.asarray(a).tobytes() == np.asarray(b).tobytes() and np.asarray(a).dtype == np.asarray(b).dtype for a, b in pairs
    )


def measure(row, suffix, variant, all_inputs):
    """What is known about one row in one variant: None where the operation does not exist for these operands."""
    elements = VARIANTS[variant][0]
    plain, names = function_of(row, suffix)
    arguments = [all_inputs[variant][name] for name in names]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            expected = plain(*arguments)
        except (TypeError, ValueError, IndexError):
            return None
    if suffix and not is_numeric(expected):
        return None
    compiled = accel.compile(plain)
    for _ in range(4):
        result = compiled(*arguments)
    before = accel.stats(compiled)
    times = least_times((plain, compiled), arguments, ROUNDS)
    if is_slow(elements, *times):
        times = list(map(min, times, least_times((plain, compiled), arguments, ROUNDS_OF_THE_SLOW)))
    after = accel.stats(compiled)
    found = {"row": row.name, "suffix": suffix, "variant": variant, "numpy": times[0], "accel": times[1]}
    found["left"] = sum(after[key] - before[key] for key in ("interpreted", "side_exits"))
    found["slow"] = bool(is_slow(elements, *times))
    found["same"] = "rng" in names or same(expected, result)
    accel.reset(compiled)
    return found


def line(found):
    loss = 1e6 * (found["accel"] - found["numpy"])
    ratio = found["numpy"] / found["accel"]
    remarks = " left compiled code" * bool(found["left"]) + " OTHER RESULT" * (not found["same"])
    return f"{ratio:6.2f} {loss:+10.2f} us  {found['variant']:<11}{found['row']}{found['suffix']}{remarks}"


def report(all_found):
    slow = sorted((f for f in all_found if f["slow"]), key=lambda f: f["numpy"] / f["accel"])
    large = [f["numpy"] / f["accel"] for f in all_found if VARIANTS[f["variant"]][0] > 1000]
    print(f"\n{len(all_found)} measured, {len(slow)} slower than NumPy (ratio NumPy/accel, microseconds lost):")
    print("\n".join(map(line, slow)))
    if large:
        print(f"geometric mean of the large ones: {np.exp(np.mean(np.log(large))):.2f}")


def kept(path):
    return [json.loads(text) for text in path.read_text().splitlines()] if path and path.exists() else []


def arguments():
    parser = argparse.ArgumentParser(prog="python -m benchmarks sweep", description=__doc__)
    parser.add_argument("rows", nargs="*", help="rows to time, patterns such as 'np.roll*' (default: all)")
    parser.add_argument("--variants", default=",".join(VARIANTS), help=f"of {', '.join(VARIANTS)}")
    parser.add_argument("--suffixes", default="alone,times two", help="alone (as it stands), times two (before `* 2.0`)")
    parser.add_argument("--output", type=Path, help="file of JSON lines; what it holds already is not measured again")
    parser.add_argument("--list", action="store_true", help="list the rows")
    return parser.parse_args()


def chosen_rows(patterns):
    rows = sweep_rows.all_rows()
    if not patterns:
        return list(rows.values())
    found = [row for name, row in rows.items() if any(name == p or fnmatch.fnmatchcase(name, p) for p in patterns)]
    if not found:
        raise SystemExit(f"no such row: {', '.join(patterns)} (see --list)")
    return found


def main():
    options = arguments()
    rows = chosen_rows(options.rows)
    if options.list:
        print("\n".join(row.name for row in rows))
        return
    variants = options.variants.split(",")
    suffixes = [{"alone": "", "times two": " * 2.0"}[s] for s in options.suffixes.split(",")]
    all_inputs = {name: sweep_rows.inputs(*VARIANTS[name]) for name in variants}
    names = {row.name for row in rows}
    all_found = [f for f in kept(options.output) if f["row"] in names and f["variant"] in variants and f["suffix"] in suffixes]
    done = {(f["row"], f["suffix"], f["variant"]) for f in all_found}
    for row in rows:
        for suffix in suffixes:
            for variant in variants:
                if (row.name, suffix, variant) in done or (found := measure(row, suffix, variant, all_inputs)) is None:
                    continue
                all_found.append(found)
                if found["slow"] or not found["same"]:
                    print(line(found), flush=True)
                if options.output:
                    with options.output.open("a") as file:
                        file.write(json.dumps(found) + "\n")
    report(all_found)


if __name__ == "__main__":
    main()
