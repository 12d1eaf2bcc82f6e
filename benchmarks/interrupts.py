"""python -m benchmarks interrupts: how soon loops and compilation answer Ctrl-C, and whose frame the exception is raised in.

Each loop would take years. A timer sends the signal a second after the call has begun; the table says when the call has ended.
A run that has changed nothing which Python can see may be undone: then the exception is raised at the start of the call.
"""

import argparse
import os
import signal
import sys
import tempfile
import threading
import time
import traceback
from pathlib import Path

import numpy as np

import accel

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests"))
from support.endless_loops import ENDLESS, LOOPS
from support.interrupts import slow_compiler

ASKED, MOST = 1.0, 1.15  # seconds


def ask_later(seconds):
    timer = threading.Timer(seconds, signal.pthread_kill, (threading.main_thread().ident, signal.SIGINT))
    timer.start()
    return timer


def measure(call, *arguments):
    """When the call has ended, and the name of the function whose line raised the exception."""
    timer, begin = ask_later(ASKED), time.perf_counter()
    try:
        call(*arguments)
        raise SystemExit("a loop has ended by itself")
    except KeyboardInterrupt as raised:
        ended = time.perf_counter() - begin
        frames = traceback.extract_tb(raised.__traceback__)
    timer.join()
    return ended, [frame.name for frame in frames if frame.filename != __file__ or frame.name == "sums"]


def of_loop(function):
    call = accel.compile(function)
    for _ in range(2):
        call(np.linspace(0.1, 1.0, 100), 2)
    before = accel.stats(call)["interpreted"]
    ended, frames = measure(call, np.linspace(0.1, 1.0, 100), ENDLESS)
    return ended, frames, before, accel.stats(call)["interpreted"] > before


def of_compilation():
    def sums(x):
        return np.sum(x * 0.8127) + 1.0

    with tempfile.TemporaryDirectory() as folder, accel.config(compiler=slow_compiler(folder, 60)):
        call = accel.compile(sums)
        return *measure(call, np.ones(5)), 0, False


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks interrupts", description=__doc__)
    parser.add_argument("loops", nargs="*", help="loops to run (default: all)")
    chosen = parser.parse_args().loops
    rows = {function.__name__: lambda function=function: of_loop(function) for function in LOOPS}
    rows["compilation"] = of_compilation
    signal.signal(signal.SIGINT, signal.default_int_handler)
    print(f"Ctrl-C at {ASKED} s; load of the machine {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores\n")
    print(f"{'loop':<24}{'ended at':>10}   raised in")
    late = []
    for name in chosen or rows:
        ended, frames, interpreted, undone = rows[name]()
        own = name if name != "compilation" else "sums"
        remarks = "" if ended <= MOST else "   LATE"
        remarks += "" if frames[:1] == [own] else "   NOT IN THE FUNCTION"
        remarks += "   interpreted" if interpreted else ""
        late += [name] * bool(remarks)
        print(f"{name:<24}{ended:>8.3f} s   {' > '.join(frames)}{'   (undone)' * undone}{remarks}", flush=True)
    raise SystemExit(f"\nnot as promised: {', '.join(late)}" if late else 0)


if __name__ == "__main__":
    main()
