"""Signals that come while a compiled function runs or is compiled, and how soon it ends."""

import os
import shutil
import signal
import threading
import time
import traceback

AFTER = 0.3  # seconds, until the signal comes
SOON = 0.15  # seconds, from then on, on a machine with nothing else to do


class Alarm:
    """Sends the signal of Ctrl-C when the time has come."""

    def __init__(self, seconds=AFTER, handler=signal.default_int_handler):
        self.seconds, self.handler = seconds, handler

    def __enter__(self):
        self.before = signal.signal(signal.SIGINT, self.handler)
        self.timer = threading.Timer(self.seconds, self._send)
        self.sent = None
        self.timer.start()
        return self

    def _send(self):
        self.sent = time.perf_counter()
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    def __exit__(self, *_):
        end = time.perf_counter()
        self.timer.cancel()
        self.timer.join()
        self.late = end - self.sent if self.sent is not None else 0.0
        signal.signal(signal.SIGINT, self.before)


def assert_soon(measure, tries=3):
    """One of a few tries is as fast as asked for; where other processes have the cores none is much slower."""
    late = []
    for _ in range(tries):
        late.append(measure())
        if late[-1] <= SOON:
            return
    plain = late_in_the_interpreter()
    busy = os.getloadavg()[0] > 0.7 * os.cpu_count()
    assert min(late) <= SOON + 3 * plain or (busy and min(late) < 2), (late, plain)


def late_in_the_interpreter():
    """How long after the signal a loop of the interpreter ends: what the machine itself needs."""
    alarm = Alarm()
    try:
        with alarm:
            while True:
                pass
    except KeyboardInterrupt:
        return alarm.late


def interrupted(call, *arguments):
    """How long after the signal the call has ended with KeyboardInterrupt, and the frames of its traceback in the function."""
    alarm, frames = Alarm(), None
    try:
        with alarm:
            call(*arguments)
    except KeyboardInterrupt as raised:
        frames = traceback.extract_tb(raised.__traceback__)
    assert frames is not None, "the call has ended by itself"
    names = [frame.name for frame in frames]
    return alarm.late, frames[names.index("interrupted") + 1 :]


def slow_compiler(folder, seconds):
    """A C++ compiler that takes so many seconds longer; its path."""
    path = os.path.join(folder, "g++")
    with open(path, "w") as file:
        file.write(f'#!/bin/sh\ncase "$*" in *--version*) ;; *) sleep {seconds};; esac\nexec {shutil.which("g++")} "$@"\n')
    os.chmod(path, 0o755)
    return path
