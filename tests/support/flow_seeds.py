"""Runs many generated programs with control flow, on all cores, and counts: python tests/support/flow_seeds.py 0 2000

Each program runs in NumPy, as a kernel, and operation by operation with an exit taken somewhere (`stress_exits`), five
calls each. Printed are the differences, the crashes (the seed of each), and how many programs were captured whole and why
the others were not."""

import argparse
import collections
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))
from support.flow_programs import write_flow_program  # noqa: E402
from support.programs import define, difference  # noqa: E402

import accel  # noqa: E402


def calls_differ(program, function, call):
    first, second, third = program.sizes
    for sizes in (first, first, second, third, first):
        if found := difference(program, call, function, sizes):
            return found
    return None


def captured_whole(program, function):
    """Why the program is not captured as a whole; None when it is."""
    try:
        accel.compile(function, fullgraph=True, backend="numpy")(*program.inputs(program.sizes[0]))
    except accel.UnsupportedError as error:
        return " ".join(str(error).splitlines()[0].split())
    except Exception:
        pass  # what the program itself raises
    return None


def run_seed(seed):
    """Reports on one program: differences, and why it is not captured as a whole."""
    program = write_flow_program(random.Random(seed))
    function, exits = define(program.source), random.Random(~seed)
    accel.config.threads, accel.config.parallel_threshold = exits.choice([(1, 1 << 15), (2, 0)])
    said = [("kernel", calls_differ(program, function, accel.compile(function)))]
    with accel.config(stress_exits=exits.randint(1, 60)):
        said.append(("exit", calls_differ(program, function, accel.compile(function, backend="numpy"))))
    said.append(("left", captured_whole(program, function)))
    return [(kind, text) for kind, text in said if text]


def run_chunk(seeds):
    for seed in seeds:
        print(f"seed {seed}", flush=True)
        try:
            for kind, text in run_seed(seed):
                print(f"{kind} {' '.join(text.split())}", flush=True)
        except Exception as error:
            print(f"raised {type(error).__name__}: {' '.join(str(error).split())[:600]}", flush=True)


def start(seeds):
    environment = {**os.environ, "ACCEL_STRICT": "1", "PYTHONWARNINGS": "ignore"}
    output = tempfile.TemporaryFile("w+")  # noqa: SIM115 - read when the process has ended
    command = [sys.executable, __file__, "--chunk", ",".join(map(str, seeds))]
    return subprocess.Popen(command, env=environment, stdout=output, stderr=subprocess.STDOUT), output, seeds


def finish(process, output, seeds, lines):
    """Adds (seed, text) to lines; returns the seeds that did not run because of a crash."""
    output.seek(0)
    seed = None
    for line in output:
        if line.startswith("seed "):
            seed = int(line.split()[1])
            lines.append((seed, "ran"))
        else:
            lines.append((seed, line.strip()))
    if process.returncode == 0:
        return []
    lines.append((seed, f"crashed with status {process.returncode}"))
    return seeds[seeds.index(seed) + 1 :] if seed in seeds else []


def run_all(seeds, jobs):
    chunks = [seeds[k : k + 10] for k in range(0, len(seeds), 10)]
    running, lines = [], []
    while chunks or running:
        while chunks and len(running) < jobs:
            running.append(start(chunks.pop(0)))
        running[0][0].wait()
        for done in [r for r in running if r[0].poll() is not None]:
            running.remove(done)
            if rest := finish(*done, lines):
                chunks.append(rest)
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("first", type=int, nargs="?")
    parser.add_argument("last", type=int, nargs="?")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--chunk", help="seeds to run in this process")
    options = parser.parse_args()
    if options.chunk:
        return run_chunk([int(seed) for seed in options.chunk.split(",")])
    lines = run_all(list(range(options.first, options.last)), options.jobs)
    kinds = collections.Counter(text.split()[0] for _, text in lines)
    for seed, text in lines:
        if text != "ran" and not text.startswith("left "):
            print(f"{seed}: {text[:500]}")
    for reason, count in collections.Counter(text for _, text in lines if text.startswith("left ")).most_common():
        print(f"{count:5} {reason[:200]}")
    whole = kinds["ran"] - kinds["left"]
    print(f"{kinds['ran']} programs, {whole} captured whole ({whole / max(kinds['ran'], 1):.1%}), {kinds['kernel']} kernels differ, "
          f"{kinds['exit']} exits differ, {kinds['raised']} errors, {kinds['crashed']} crashes")  # fmt: skip


if __name__ == "__main__":
    main()
