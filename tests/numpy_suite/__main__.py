"""python -m tests.numpy_suite: NumPy's own tests through accel.testing.numpy_suite, in a process for each class of tests.

A process that dies or gets stuck is a finding that names its test; the tests after it run in a further process.
"""

import argparse
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path

import numpy as np
from tests.support.long_runs import LongRun, add_options, end_when_stuck, environment

PACKAGES = Path(np.__file__).parents[1]
TESTS_OF_A_PROCESS = 60
LINES_OF_A_DIFFERENCE = 30


def arguments():
    parser = argparse.ArgumentParser(prog="python -m tests.numpy_suite", description=__doc__)
    parser.add_argument(
        "tests", nargs="*", default=["numpy"], help="modules or node identifiers, as for pytest --pyargs (numpy)"
    )
    parser.add_argument(
        "--parameters", type=int, default=10**9, metavar="N", help="only N parameter sets of each test function"
    )
    parser.add_argument("--slice", default="0/1", metavar="I/N", help="every N-th process of tests, from the I-th on (0/1)")
    parser.add_argument("--first", type=int, default=0, help="leave out so many of these processes (0)")
    add_options(parser)
    return parser.parse_args()


def start_pytest(*options, **redirections):
    """pytest with no settings of accel's own tests, in the folder of NumPy: node identifiers are paths from there."""
    command = [sys.executable, "-m", "pytest", "-q", "-c", os.devnull, "--rootdir", str(PACKAGES), "-p", "no:cacheprovider"]
    return subprocess.Popen([*command, "--pyargs", *options], cwd=PACKAGES, text=True, start_new_session=True, **redirections)


def collect(tests):
    lines = start_pytest("--collect-only", *tests, stdout=subprocess.PIPE).communicate()[0].splitlines()
    return [line for line in lines if "::" in line and not line.startswith(("ERROR", "FAILED"))]


def groups(tests, parameters):
    """Lists of tests, each of one class or of the functions of one module."""
    seen, of_class = Counter(), {}
    for test in tests:
        function = test.partition("[")[0]
        seen[function] += 1
        if seen[function] <= parameters:
            of_class.setdefault(function.rpartition("::")[0], []).append(test)
    for members in of_class.values():
        for start in range(0, len(members), TESTS_OF_A_PROCESS):
            yield members[start : start + TESTS_OF_A_PROCESS]


class Runner(LongRun):
    """Takes groups of tests from a list until it is empty."""

    def __init__(self, options, folder):
        super().__init__(options)
        self.folder = folder
        index, count = map(int, options.slice.split("/"))
        self.waiting = list(groups(collect(options.tests), options.parameters))[index::count][options.first :]
        self.group_count = len(self.waiting)

    def summary(self):
        return f"{self.group_count - len(self.waiting)} of {self.group_count} groups"

    def work(self, number):
        while True:
            with self.lock:
                if not self.waiting or self.is_late():
                    return
                group = self.waiting.pop(0)
            while group:
                group = self.run_group(group, self.folder / str(number))

    def run_group(self, group, folder):
        """The tests that are left when one of them ended the process."""
        folder.mkdir(exist_ok=True)
        names, trace, report = folder / "names", folder / "trace", folder / "report.xml"
        names.write_text("".join(name + "\n" for name in group))
        trace.write_text("")
        report.unlink(missing_ok=True)
        options = ["-p", "accel.testing.numpy_suite", "--accel-backend", self.options.backend, "--accel-trace", str(trace)]
        options += ["--tb=short", f"--junitxml={report}", f"@{names}"]
        log = folder / "log"
        with log.open("w") as file:
            child = start_pytest(*options, stdout=file, stderr=subprocess.STDOUT)
            is_stuck = end_when_stuck(child, lambda: trace.stat().st_mtime)
        begun = trace.read_text().splitlines()
        if report.exists():
            self.note(report)
            return []
        with self.lock:
            self.counts["tests"] += len(begun)
            self.counts["stuck" if is_stuck else "died"] += 1
            at = begun[-1] if begun else f"a plain run of {group[0]} and others"
            self.say(f"--- {at}: the process {'was stuck' if is_stuck else f'ended with {child.returncode}'}")
            self.say("".join(log.read_text(errors="replace").splitlines(keepends=True)[-LINES_OF_A_DIFFERENCE:]))
        return group[group.index(begun[-1]) + 1 :] if begun else []

    def note(self, report):
        for case in ElementTree.parse(report).iter("testcase"):
            name = f"{case.get('classname')}::{case.get('name')}"
            kinds = {row.get("name").removeprefix("accel "): row.get("value") for row in case.iter("property")}
            text = "\n".join(failure.text or "" for failure in case.iter("failure"))
            with self.lock:
                self.counts["tests"] += 1
                self.counts["cannot hold"] += "cannot hold" in kinds
                self.counts["different"] += "differs" in kinds
                self.counts["fail by themselves"] += bool(text) and "differs" not in kinds
                if "differs" in kinds:
                    self.say(f"--- {name}\n" + "\n".join(text.splitlines()[:LINES_OF_A_DIFFERENCE]))


def main():
    options = arguments()
    if not re.fullmatch(r"\d+/[1-9]\d*", options.slice):
        raise SystemExit(f"--slice {options.slice}: expected I/N, for example 0/2")
    with environment("numpy-suite") as folder:
        code = Runner(options, folder).run()
    raise SystemExit(code)


if __name__ == "__main__":
    main()
