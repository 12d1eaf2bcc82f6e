"""One process of the runner: times cases at one thread count and prints JSON. Pins itself before it imports."""

import argparse
import dataclasses
import json
import os


def restrict(threads):
    """Pins the process to the first `threads` of its CPUs: every library then sees that many, whatever it asks."""
    cpus = sorted(os.sched_getaffinity(0))[:threads]
    os.sched_setaffinity(0, cpus)
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ[variable] = str(len(cpus))
    return len(cpus)


def run_case(case, names, seconds, size, patience):
    import numpy as np

    from benchmarks import ceiling, measure, peers
    from benchmarks.case import Inputs

    make = case.make_inputs if size == "full" else case.small_inputs
    original = case.run(case.function)
    inputs = Inputs(make(np.random.default_rng(0)), original)
    arguments = inputs.fresh()
    results = [np.asarray(r) for r in inputs.effects(original(*arguments), arguments)]
    moved, result_bytes = case.moved_bytes(arguments, results), max((r.nbytes for r in results), default=0)
    del results
    calls, verdicts = peers.prepare(case, inputs, names, case.large, patience)
    samples = measure.interleaved(calls, inputs, seconds)
    about = case.about if size == "full" else "small inputs"
    found = {"case": case.name, "about": about, "bytes": moved, "verdicts": verdicts}
    found["times"] = {name: measure.summary(s) for name, s in samples.items()}
    measure.check_freshness(found["times"], result_bytes)
    if case.large:
        source, target = np.ones(moved // 8 * 2 // 3), np.ones(moved // 8 // 3)
        bound = measure.interleaved({"bound": lambda: ceiling.bound(source, target)}, (), min(seconds, 1.0))
        found["memory_bound"] = measure.summary(bound["bound"])
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--cases", required=True)
    parser.add_argument("--peers", required=True)
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--size", choices=["full", "small"], default="full")
    parser.add_argument("--patience", type=int, default=0)
    parser.add_argument("--unmodified", action="store_true")
    options = parser.parse_args()
    threads = restrict(options.threads)

    from benchmarks.case import all_cases

    cases = all_cases()
    for name in options.cases.split(","):
        case = dataclasses.replace(cases[name], numba=None, parallel=False) if options.unmodified else cases[name]
        found = run_case(case, options.peers.split(","), options.seconds, options.size, options.patience)
        print(json.dumps({"threads": threads, **found}), flush=True)


if __name__ == "__main__":
    main()
