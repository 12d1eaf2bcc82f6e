"""Signals sent while a compiled function runs or is compiled, and the time until it ends."""

import os
import signal
import threading
import time
import traceback

from host_compiler import shell_text

AFTER = 0.3  # seconds until the signal
SOON = 0.15  # seconds from the signal to the end of the call, on an idle machine


class Alarm:
    """Sends SIGINT (Ctrl-C) after a delay."""

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
    """Asserts that one of a few tries is fast enough; on a busy machine, that none is much slower than the machine itself."""
    late = []
    for _ in range(tries):
        late.append(measure())
        if late[-1] <= SOON:
            return
    plain = late_in_the_interpreter()
    busy = os.getloadavg()[0] > 0.7 * os.cpu_count()
    assert min(late) <= SOON + 3 * plain or (busy and min(late) < 2), (late, plain)


def late_in_the_interpreter():
    """Seconds from the signal to the end of a loop in the interpreter: the latency of the machine itself."""
    alarm = Alarm()
    try:
        with alarm:
            while True:
                pass
    except KeyboardInterrupt:
        return alarm.late


def interrupted(call, *arguments):
    """Seconds from the signal to the end of the call by KeyboardInterrupt, and the traceback's frames in the function."""
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
    """Writes a C++ compiler that takes this many seconds longer; returns its path."""
    path = os.path.join(folder, "c++")
    with open(path, "w") as file:
        file.write(f'#!/bin/sh\ncase "$*" in *--version*) ;; *) sleep {seconds};; esac\nexec {shell_text()} "$@"\n')
    os.chmod(path, 0o755)
    return path
