"""Shared parts of tools that run tests for hours in many processes: options, counts, the report, the end of stuck processes."""

import argparse
import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

SECONDS_STUCK = 300


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)), help="processes (one per CPU)")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin nothing new after so many")
    parser.add_argument("--backend", default="native", choices=["native", "numpy"])
    parser.add_argument("--output", type=Path, help="file for what differs (default: stdout)")


@contextlib.contextmanager
def environment(name):
    """Environment of a run, unless the variables are set: strict, one thread, and a new folder with the disk cache."""
    os.environ.setdefault("ACCEL_STRICT", "1")
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    with tempfile.TemporaryDirectory(prefix=f"accel-{name}-") as folder:
        os.environ.setdefault("ACCEL_CACHE_DIR", folder + "/cache")
        yield Path(folder)


class LongRun:
    """A run with one thread per job, which calls `work(number)`; `summary()` is the start of the last line."""

    def __init__(self, options):
        self.options = options
        self.begin = time.monotonic()
        self.counts = Counter()
        self.lock = threading.Lock()
        self.output = options.output.open("w") if options.output else sys.stdout

    def say(self, text):
        print(text, file=self.output, flush=True)

    def is_late(self):
        return time.monotonic() - self.begin > self.options.seconds

    def run(self):
        """Run all jobs; return the exit status. A terminated run reports its counts so far."""
        signal.signal(signal.SIGTERM, lambda *_: self.terminate())
        threads = [threading.Thread(target=self.work, args=(number,)) for number in range(self.options.jobs)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.report()
        return int(self.counts["different"] + self.counts["died"] + self.counts["stuck"] > 0)

    def report(self):
        counts = ", ".join(f"{name} {number}" for name, number in sorted(self.counts.items()))
        text = f"{self.summary()}: {counts}; {time.monotonic() - self.begin:.0f} s"
        self.say(text)
        if self.options.output:
            print(text, flush=True)

    def terminate(self):
        self.say("terminated")
        self.report()
        os._exit(128 + signal.SIGTERM)


def end_when_stuck(child, last_sign):
    """Wait for a process; kill it when `last_sign()`, the time of its last progress, is too long ago. Return whether it was."""
    while True:
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(0.5)
            return False
        if time.time() - last_sign() > SECONDS_STUCK:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            child.wait()
            return True
