"""accel on one GPU: times, what the device is asked to do, hand-written kernels, other libraries, and the times to reach."""

import argparse
import fnmatch
import importlib.util
import json
import subprocess
import sys
import threading
import time
from pathlib import Path

from benchmarks.device import first_calls, report
from benchmarks.device.contestants import CONTESTANTS, PEERS
from benchmarks.device.driver import EMULATED
from benchmarks.device.rows import all_rows
from benchmarks.device.worker import LOST
from benchmarks.processes import ROOT


def arguments():
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("rows", nargs="*", help="names or patterns of rows (default: all)")
    parser.add_argument("--device", choices=["cuda"], default="cuda")
    parser.add_argument("--peers", help=f"comma-separated, of {', '.join(PEERS)}, or none (default: those installed)")
    parser.add_argument("--seconds", type=float, default=0.3, help="time for a row of one contestant (default: 0.3)")
    parser.add_argument("--size", choices=["full", "small"], default="full", help="small: to try the runner out")
    parser.add_argument("--patience", type=int, default=300, help="seconds for a row of one contestant (default: 300)")
    parser.add_argument("--unchecked", action="store_true", help="results are not compared with NumPy's")
    parser.add_argument("--output", type=Path, help="JSON file; it is written after each contestant")
    parser.add_argument("--list", action="store_true", help="list the rows")
    return parser.parse_args()


def worker(*options):
    return [sys.executable, "-m", "benchmarks.device.worker", *options]


def about_device():
    done = subprocess.run(worker("--about"), cwd=ROOT, capture_output=True, text=True, check=False)
    lines = done.stdout.strip().splitlines()
    about = json.loads(lines[-1]) if lines else {"problem": (done.stderr.strip().splitlines() or ["no answer"])[-1]}
    if "problem" in about:
        raise SystemExit(f"no CUDA device to measure: {about['problem']}")
    return about


def chosen_rows(patterns, names):
    unknown = [p for p in patterns if not fnmatch.filter(names, p)]
    if unknown:
        raise SystemExit(f"no such row: {', '.join(unknown)} (see --list)")
    return [name for name in names if not patterns or any(fnmatch.fnmatch(name, p) for p in patterns)]


def contestants(peers):
    """accel, the ceilings, and the peers that are asked for or installed."""
    chosen = PEERS if peers is None else [p for p in peers.split(",") if p != "none"]
    unknown = set(chosen) - set(PEERS)
    if unknown:
        raise SystemExit(f"no such peer: {', '.join(sorted(unknown))} (there are {', '.join(PEERS)})")
    found = ["hand-written", "accel"]
    for name, (_, module) in CONTESTANTS.items():
        if module in chosen and (peers is not None or importlib.util.find_spec(module)):
            found.append(name)
    return found


def figures(contestant, names, options):
    """row -> what the contestant's process says of it. After a row in which it ends, another process does the rest."""
    found, left = {}, list(names)
    while left:
        command = worker("--contestant", contestant, "--rows", ",".join(left), "--size", options.size)
        command += ["--seconds", str(options.seconds), *["--unchecked"] * options.unchecked]
        problem = run_worker(command, found, options.patience, contestant)
        remaining = [name for name in left if name not in found]
        if problem is None or not remaining:
            break
        if problem.get("row") == "between":
            left = remaining
            continue
        if len(remaining) == len(left) and "row" not in problem:
            return found | {name: problem for name in remaining}
        found[remaining[0]] = {"problem": problem["problem"]}
        left = remaining[1:]
    return found


def run_worker(command, found, patience, contestant):
    """Adds rows to `found`. None when it did all; else {"problem": why it ended, "row": within a row or between two}."""
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    errors = []
    reader = threading.Thread(target=lambda: errors.extend(process.stderr), daemon=True)
    reader.start()
    while True:
        limit = threading.Timer(patience, process.kill)
        limit.start()
        line = process.stdout.readline()
        limit.cancel()
        if not line:
            break
        record = json.loads(line)
        if "row" not in record:
            process.wait()
            return record
        name = record.pop("row")
        found[name] = record
        print(f"{contestant}: {name} {report.time_text(record.get('median'))}", file=sys.stderr, flush=True)
    status = process.wait()
    reader.join()
    if status == 0:
        return None
    if status == LOST:
        return {"problem": "", "row": "between"}
    said = errors[-1].strip()[:200] if errors else ""
    return {"problem": f"its process ended with status {status} {said}".strip(), "row": "within"}


def save(data, path):
    if path:
        path.write_text(json.dumps(data, indent=1))


def measure(data, names, options, rows, processes):
    on_device = [name for name in names if name in rows]
    for contestant in contestants(options.peers) if on_device else []:
        wanted = [n for n in on_device if contestant == "hand-written" or rows[n].function is not None]
        data["figures"][contestant] = figures(contestant, wanted, options) if wanted else {}
        data["rows"] = [report.summarize(data, rows[name]) for name in on_device]
        save(data, options.output)
    for name in names:
        if name in processes:
            data["rows"].append(report.summarize_process(name, first_calls.attempt(processes[name])))


def main():
    options = arguments()
    rows, processes = all_rows(), first_calls.rows(options.seconds)
    if options.list:
        width = max(map(len, rows)) + 2
        print(*(f"{row.name:<{width}}{row.about}" for row in rows.values()), *processes, sep="\n")
        return
    names = chosen_rows(options.rows, [*rows, *processes])
    needed = [row for name in names if name in rows for row in ("copy", "read", rows[name].beyond) if row]
    names = [name for name in [*rows, *processes] if name in names or name in needed]
    about = about_device()
    if about["device"] == EMULATED and options.size == "full":
        raise SystemExit("the device is emulated: nothing to measure; --size small tries the runner out")
    data = {"time": time.strftime("%Y-%m-%d %H:%M:%S"), "about": about, "size": options.size, "figures": {}, "rows": []}
    measure(data, names, options, rows, processes)
    report.print_table(data)
    save(data, options.output)


if __name__ == "__main__":
    main()
