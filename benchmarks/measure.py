"""Interleaved timing: in each round every contestant gets one sample, so that a slow phase of the machine meets all."""

import gc
import statistics
import time

SAMPLE_SECONDS = 0.02


def calls_per_sample(call, inputs):
    """How many calls make a sample long enough for the clock."""
    count = 1
    while True:
        seconds = sample(call, inputs, count)
        if seconds >= SAMPLE_SECONDS or count >= 1 << 22:
            return count
        count = max(count * 2, min(count * 64, int(count * SAMPLE_SECONDS / max(seconds, 1e-9)) + 1))


def sample(call, inputs, count):
    """Seconds for `count` calls. A result is freed before the next call and that is paid for, as in a program."""
    clock = time.perf_counter
    rounds = range(count)
    begin = clock()
    for _ in rounds:
        call(*inputs)
    return clock() - begin


def interleaved(calls, inputs, seconds, least_rounds=3, most_rounds=200):
    """name -> list of seconds per call, for callables by name."""
    counts = {name: calls_per_sample(call, inputs) for name, call in calls.items()}
    samples = {name: [] for name in calls}
    names = list(calls)
    gc.collect()
    gc.disable()
    try:
        begin = time.perf_counter()
        for number in range(most_rounds):
            if number >= least_rounds and time.perf_counter() - begin > seconds:
                break
            turn = number % len(names)
            for name in names[turn:] + names[:turn]:
                samples[name].append(sample(calls[name], inputs, counts[name]) / counts[name])
    finally:
        gc.enable()
    return samples


def summary(samples):
    return {"min": min(samples), "median": statistics.median(samples), "samples": len(samples)}
