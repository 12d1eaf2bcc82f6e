"""Generators of random numbers for tests."""

import threading

import numpy as np


def generator(seed=1, bits=np.random.PCG64):
    return np.random.Generator(bits(seed))


def is_free(rng):
    """Whether nobody holds the lock: another thread can have it."""
    lock, taken = rng.bit_generator.lock, []
    thread = threading.Thread(target=lambda: taken.append(lock.acquire(False) and lock.release() is None))
    thread.start()
    thread.join()
    return taken == [True]
