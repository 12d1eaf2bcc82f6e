"""The runner: starts one worker per thread count, the measurements that need new processes, prints and saves."""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

from benchmarks import peers, processes, report
from benchmarks.case import all_cases

FIRST_CALL_CASES = ["add8", "kmeans_step", "black_scholes", "softmax"]


def arguments():
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("cases", nargs="*", help="cases to run (default: all)")
    parser.add_argument("--peers", help=f"comma-separated, of {', '.join(peers.PEERS)} (default: those installed)")
    parser.add_argument("--threads", help="comma-separated thread counts (default: 1 and all)")
    parser.add_argument("--seconds", type=float, default=3.0, help="time for a case at one thread count (default: 3)")
    parser.add_argument("--size", choices=["full", "small"], default="full", help="small: to try the runner out")
    parser.add_argument("--patience", type=int, default=0, help="seconds for a peer's first two calls (default: no limit)")
    parser.add_argument("--unmodified", action="store_true", help="Numba gets the functions as they stand")
    parser.add_argument("--device", choices=["cuda"], help="another benchmark, of a GPU: --device cuda --help")
    parser.add_argument("--only", choices=["times", "processes"], help="one half of the measurements")
    parser.add_argument("--output", type=Path, help="JSON file; a picture of the same name with .png is drawn beside it")
    parser.add_argument("--list", action="store_true", help="list the cases")
    return parser.parse_args()


def times(cases, names, threads, options):
    found = []
    for count in threads:
        command = [sys.executable, "-m", "benchmarks.worker", "--threads", str(count), "--peers", ",".join(names)]
        command += ["--seconds", str(options.seconds), "--size", options.size]
        command += ["--patience", str(options.patience), *["--unmodified"] * options.unmodified, "--cases"]
        for case in cases:
            done = subprocess.run([*command, case], cwd=processes.ROOT, stdout=subprocess.PIPE, text=True, check=False)
            if done.returncode != 0:
                raise SystemExit(f"the worker for {case} failed")
            found.append(json.loads(done.stdout.strip().splitlines()[-1]))
            report.print_case(found[-1])
    return found


def main():
    own = next((name for name in ("sweep", "interrupts") if sys.argv[1:2] == [name]), None)
    if any(argument.split("=")[0] == "--device" for argument in sys.argv):
        raise SystemExit(subprocess.run([sys.executable, "-m", "benchmarks.device", *sys.argv[1:]], check=False).returncode)
    if own:  # in a process of its own: one sets its thread count before NumPy is imported
        raise SystemExit(subprocess.run([sys.executable, "-m", f"benchmarks.{own}", *sys.argv[2:]], check=False).returncode)
    options = arguments()
    cases = all_cases()
    if options.list:
        print("\n".join(f"{c.name:<24}{c.about}" for c in cases.values()))
        return
    unknown = set(options.cases) - set(cases)
    if unknown:
        raise SystemExit(f"no such case: {', '.join(sorted(unknown))} (see --list)")
    chosen = options.cases or list(cases)
    names = options.peers.split(",") if options.peers else peers.installed()
    threads = [int(t) for t in options.threads.split(",")] if options.threads else sorted({1, len(os.sched_getaffinity(0))})
    others = [n for n in names if n != "numpy"]

    data = {"stamp": processes.stamp(), "cases": []}
    report.print_head(data["stamp"])
    if options.only != "processes":
        data["cases"] = times(chosen, names, threads, options)
    if options.only != "times":
        data["first_calls"] = {c: processes.first_calls(c, others) for c in FIRST_CALL_CASES if c in chosen}
        data["imports"] = processes.imports(others)
        if "kmeans_step" in chosen and options.size == "full":
            data["peak_memory"] = processes.peak_memory(names)
        if "accel" in names:
            data["compile_counts"] = processes.compile_counts([name for name in chosen if cases[name].rows])
    report.print_rest(data)
    if options.output:
        options.output.write_text(json.dumps(data, indent=1))
        if data["cases"] and not report.draw(data, options.output.with_suffix(".png")):
            print("matplotlib is not installed: no picture")


if __name__ == "__main__":
    main()
