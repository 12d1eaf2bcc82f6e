"""python -m tests.generated operations --cases 100000 --seed 0: generated operations, or programs, compiled against NumPy.

Each is named by the seed and its number, so that it can be run again by itself (--first N --cases 1). They are run in batches,
a process each: one that dies, or gets stuck, is a finding that names what it was busy with.
"""

import argparse
import json
import random
import resource
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

from tests.support.long_runs import LongRun, add_options, end_when_stuck, environment

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

BATCH = {"operations": 25, "programs": 8}  # groups of operations, programs
SECONDS_OF_A_COMPILE = 600  # on a machine that is busy
MEMORY = 6 << 30


def arguments():
    parser = argparse.ArgumentParser(prog="python -m tests.generated", description=__doc__)
    parser.add_argument("what", choices=sorted(BATCH))
    parser.add_argument("--cases", type=int, default=1000, help="operations on one input each, or programs (1000)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="number of the first group or program (0)")
    parser.add_argument("--device", choices=["cuda"], help="compile for a device: a GPU, or the emulated driver")
    add_options(parser)
    parser.add_argument("--batch", type=int, help=argparse.SUPPRESS)  # run in this process, so many
    return parser.parse_args()


def work(options):
    """Run a batch; one line of JSON before each item, and one after it."""
    from support import generated

    import accel

    accel.config.compile_timeout = SECONDS_OF_A_COMPILE
    if options.device:
        from support.on_device import generated
    else:  # CUDA takes addresses for more than this
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.RLIM_INFINITY))
    run = {"operations": generated.run_operations, "programs": generated.run_program}[options.what]
    for number in range(options.first, options.first + options.batch):
        print(json.dumps({"begins": number}), flush=True)
        found = run(random.Random(f"{options.seed} {number}"), options.backend)
        print(json.dumps({"counts": found.counts, "different": found.different}), flush=True)


class Runner(LongRun):
    """Starts batches until there are cases enough."""

    def __init__(self, options):
        super().__init__(options)
        self.next = options.first
        self.unit = "cases" if options.what == "operations" else "programs"

    def summary(self):
        return f"{self.options.what}, seed {self.options.seed}, next {self.next}"

    def work(self, _):
        while True:
            with self.lock:
                if self.is_late() or self.counts[self.unit] >= self.options.cases:
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
        command = [sys.executable, "-X", "faulthandler", "-m", "tests.generated", o.what, "--seed", str(o.seed)]
        command += ["--backend", o.backend, "--first", str(first), "--batch", str(count)]
        command += ["--device", o.device] if o.device else []
        log = subprocess.PIPE
        child = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, text=True, start_new_session=True)
        heard = [time.time()]
        watch = threading.Thread(target=end_when_stuck, args=(child, lambda: heard[0]))
        watch.start()
        at, done, other = first, 0, []
        for line in child.stdout:
            heard[0] = time.time()
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


def main():
    options = arguments()
    if options.batch:
        work(options)
        return
    with environment("generated"):
        code = Runner(options).run()
    raise SystemExit(code)


if __name__ == "__main__":
    main()
