"""How long a call takes on a device: medians over repetitions.

Modes of a row:

* device: what the device needs for one of many calls that are queued, by events
* ready: from the call until its result is there, on the device or on the host
* submit: how long the call takes the host, while the device works on
"""

import gc
import statistics
import time

BATCH_SECONDS = 0.005
MOST_QUEUED = 100  # calls: fewer than a driver's queue holds
LEAST_ROUNDS, MOST_ROUNDS = 5, 200


def ready(call, wait, count):
    begin = time.perf_counter()
    for _ in range(count):
        wait(call())
    return time.perf_counter() - begin


def queued(call, wait, count):
    """By the clock of the host, for libraries whose streams have no events that we can record."""
    begin = time.perf_counter()
    for _ in range(count):
        result = call()
    wait(result)
    return time.perf_counter() - begin


def submit(call, wait, count):
    begin = time.perf_counter()
    for _ in range(count):
        result = call()
    seconds = time.perf_counter() - begin
    wait(result)
    return seconds


def batch_size(sample, seconds):
    """How many calls make a sample; the first sample warms up."""
    sample(1)
    one = min(sample(1), sample(1))
    return max(1, min(MOST_QUEUED, int(min(BATCH_SECONDS, seconds) / max(one, 1e-7))))


def median(sample, seconds):
    """{median, min, samples} in seconds per call, of sample(count) -> seconds."""
    count = batch_size(sample, seconds)
    found, begin = [], time.perf_counter()
    gc.collect()
    gc.disable()
    try:
        while len(found) < LEAST_ROUNDS or (len(found) < MOST_ROUNDS and time.perf_counter() - begin < seconds):
            found.append(sample(count) / count)
    finally:
        gc.enable()
    return {"median": statistics.median(found), "min": min(found), "samples": len(found), "calls_per_sample": count}


def measure(call, mode, contestant, seconds):
    """`contestant.wait(result)` waits until a result is there; `contestant.driver` has events, or is None."""
    if mode == "device" and contestant.driver is None:
        return median(lambda count: queued(call, contestant.wait, count), seconds)
    if mode == "device":
        return median(lambda count: contestant.driver.seconds(call, count), seconds)
    sample = {"ready": ready, "submit": submit}[mode]
    return median(lambda count: sample(call, contestant.wait, count), seconds)
