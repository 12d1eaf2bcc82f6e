"""python -m tests.generated operations --cases 100000 --seed 0: generated operations, or programs, compiled against NumPy.

Each is named by the seed and its number, so that it can be run again by itself (--first N --cases 1). They are run in batches,
a process each: one that dies, or gets stuck, is a finding that names what it was busy with.
"""

import argparse
import contextlib
import json
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

BATCH = {"operations": 25, "programs": 8}  # groups of operations, programs
SECONDS_STUCK = 300
SECONDS_OF_A_COMPILE = 600  # on a machine that is busy
MEMORY = 6 << 30


def arguments():
    parser = argparse.ArgumentParser(prog="python -m tests.generated", description=__doc__)
    parser.add_argument("what", choices=sorted(BATCH))
    parser.add_argument("--cases", type=int, default=1000, help="operations on one input each, or programs (1000)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="number of the first group or program (0)")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)), help="processes (one per CPU)")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin nothing new after so many")
    parser.add_argument("--backend", default="native", choices=["native", "numpy"])
    parser.add_argument("--output", type=Path, help="file for what differs (default: stdout)")
    parser.add_argument("--batch", type=int, help=argparse.SUPPRESS)  # run in this process, so many
    return parser.parse_args()


def work(options):
    """Run a batch; one line of JSON before each item, and one behind it."""
    from support import generated

    import accel

    accel.config.compile_timeout = SECONDS_OF_A_COMPILE
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.RLIM_INFINITY))
    run = {"operations": generated.run_operations, "programs": generated.run_program}[options.what]
    for number in range(options.first, options.first + options.batch):
        print(json.dumps({"begins": number}), flush=True)
        found = run(random.Random(f"{options.seed} {number}"), options.backend)
        print(json.dumps({"counts": found.counts, "different": found.different}), flush=True)


class Runner:
    """Starts batches until there are cases enough."""

    def __init__(self, options):
        self.options = options
        self.next = options.first
        self.begin = time.monotonic()
        self.counts = Counter()
        self.lock = threading.Lock()
        self.output = options.output.open("w") if options.output else sys.stdout
        self.unit = "cases" if options.what == "operations" else "programs"

    def say(self, text):
        print(text, file=self.output, flush=True)

    def run(self):
        threads = [threading.Thread(target=self.work) for _ in range(self.options.jobs)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        counts = ", ".join(f"{name} {number}" for name, number in sorted(self.counts.items()))
        text = (
            f"{self.options.what}, seed {self.options.seed}: {counts}; {time.monotonic() - self.begin:.0f} s; next: {self.next}"
        )
        self.say(text)
        if self.options.output:
            print(text)
        return int(self.counts["different"] + self.counts["died"] + self.counts["stuck"] > 0)

    def work(self):
        while True:
            with self.lock:
                late = time.monotonic() - self.begin > self.options.seconds
                if late or self.counts[self.unit] >= self.options.cases:
                    return
                first, count = self.next, BATCH[self.options.what]
                if self.options.cases == 1:
                    count = 1
                self.next += count
            while first < self.next and count > 0:
                done = self.batch(first, count)
                first, count = first + done, count - done

    def batch(self, first, count):
        """The number of items that were run; the last one of them may have ended the process."""
        o = self.options
        command = [sys.executable, "-m", "tests.generated", o.what, "--seed", str(o.seed), "--backend", o.backend]
        command += ["--first", str(first), "--batch", str(count)]
        log = subprocess.PIPE
        child = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, text=True, start_new_session=True)
        heard = [time.monotonic()]
        watch = threading.Thread(target=end_when_stuck, args=(child, heard))
        watch.start()
        at, done, other = first, 0, []
        for line in child.stdout:
            heard[0] = time.monotonic()
            try:
                item = json.loads(line)
            except ValueError:
                other.append(line)
                continue
            if "begins" in item:
                at = item["begins"]
                continue
            done += 1
            with self.lock:
                self.counts.update(item["counts"])
                for text in item["different"]:
                    self.say(f"--- {o.what} {at} of seed {o.seed}: {text}")
        code = child.wait()
        watch.join()
        if code == 0:
            return count
        with self.lock:
            self.counts["stuck" if code == -signal.SIGKILL else "died"] += 1
            self.say(f"--- {o.what} {at} of seed {o.seed}: the process ended with {code}\n{''.join(other[-40:])}")
        return done + 1


def end_when_stuck(child, heard):
    while child.poll() is None:
        time.sleep(0.5)
        if time.monotonic() - heard[0] > SECONDS_STUCK:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)


def main():
    options = arguments()
    if options.batch:
        work(options)
        return
    os.environ.setdefault("ACCEL_STRICT", "1")
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    with tempfile.TemporaryDirectory(prefix="accel-generated-") as folder:
        os.environ.setdefault("ACCEL_CACHE_DIR", folder)
        code = Runner(options).run()
    raise SystemExit(code)


if __name__ == "__main__":
    main()
