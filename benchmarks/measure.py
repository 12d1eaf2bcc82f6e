"""Interleaved timing: in each round every contestant gets one sample, so that a slow phase of the machine meets all.

The order within a round is drawn anew each time: what ran just before (caches, huge pages, released memory) shifts a time by
tens of percent, and turning a fixed order leaves everybody with the same predecessor.
"""

import contextlib
import dataclasses
import gc
import random
import resource
import statistics
import time
from collections.abc import Callable

import numpy as np

SAMPLE_SECONDS = 0.02
REST_SECONDS = 0.5


@dataclasses.dataclass
class Contestant:
    """A callable, and the state of the process in which all of its samples are taken."""

    call: Callable
    state: Callable = contextlib.nullcontext

    def __call__(self, *inputs):
        return self.call(*inputs)


def as_contestant(call):
    return call if isinstance(call, Contestant) else Contestant(call)


def page_faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt


def wait_for_rest():
    """Waits until the other threads of this process sleep: pools let theirs spin for a while after a call."""

    def busy():
        return time.process_time() - time.thread_time()

    end = time.perf_counter() + REST_SECONDS
    before = busy()
    while time.perf_counter() < end:
        time.sleep(0.005)
        before, spent = busy(), busy() - before
        if spent < 0.0005:
            break


def sample(contestant, inputs, count):
    """(seconds, page faults) per call. A result is freed before the next call and that is paid for, as in a program.

    `inputs` is a tuple, or what gives one for each call (benchmarks.case.Inputs); that is not timed.

    One call before the clock starts, for everybody alike, undoes what the contestant before left behind: with the pool off
    it empties the pool, with the pool on it fills it again.
    """
    wait_for_rest()
    call, clock, rounds = contestant.call, time.perf_counter, range(count)
    if getattr(inputs, "changed", None):
        return sample_with_fresh_inputs(contestant, inputs, count)
    inputs = getattr(inputs, "originals", inputs)
    with contestant.state():
        call(*inputs)
        faults = page_faults()
        begin = clock()
        for _ in rounds:
            call(*inputs)
        return (clock() - begin) / count, (page_faults() - faults) / count


def sample_with_fresh_inputs(contestant, inputs, count):
    """The same for a function that changes its arguments: the copies are made while the clock stands."""
    call, clock = contestant.call, time.perf_counter
    seconds = faults = 0
    with contestant.state():
        call(*inputs.fresh())
        for _ in range(count):
            arguments = inputs.fresh()
            before = page_faults()
            begin = clock()
            call(*arguments)
            seconds += clock() - begin
            faults += page_faults() - before
    return seconds / count, faults / count


def calls_per_sample(contestant, inputs):
    """How many calls make a sample long enough for the clock."""
    count = 1
    while True:
        seconds = sample(contestant, inputs, count)[0] * count
        if seconds >= SAMPLE_SECONDS or count >= 1 << 22:
            return count
        count = max(count * 2, min(count * 64, int(count * SAMPLE_SECONDS / max(seconds, 1e-9)) + 1))


def interleaved(calls, inputs, seconds, least_rounds=3, most_rounds=200):
    """name -> list of (seconds, page faults) per call, for callables or contestants by name."""
    contestants = {name: as_contestant(call) for name, call in calls.items()}
    counts = {name: calls_per_sample(contestant, inputs) for name, contestant in contestants.items()}
    samples = {name: [] for name in contestants}
    order = random.Random(0)
    gc.collect()
    gc.disable()
    try:
        begin = time.perf_counter()
        for number in range(most_rounds):
            if number >= least_rounds and time.perf_counter() - begin > seconds:
                break
            for name in order.sample(list(contestants), len(contestants)):
                samples[name].append(sample(contestants[name], inputs, counts[name]))
    finally:
        gc.enable()
    return samples


def summary(samples):
    seconds = [s for s, _ in samples]
    faults = statistics.median(f for _, f in samples)
    return {"min": min(seconds), "median": statistics.median(seconds), "samples": len(samples), "faults": faults}


def counts_page_faults():
    """Whether the system says how many there are: some sandboxes do not."""
    before = page_faults()
    np.ones(4 << 20, dtype=np.uint8)
    return page_faults() > before


def check_freshness(times, result_bytes):
    """`fresh` means that the system supplies the result's pages in each call: a variant that takes no faults is mislabelled."""
    if not counts_page_faults():
        return
    for name, time_ in times.items():
        huge_pages = result_bytes // (2 << 20)
        if name.endswith(", fresh") and huge_pages > 1 and time_["faults"] < huge_pages / 2:
            raise AssertionError(f"{name}: {time_['faults']:.0f} page faults a call, its result memory was not fresh")
