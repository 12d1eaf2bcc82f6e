"""Loops of different kinds that run until interrupted: functions of an array and of the number of iterations."""

import numpy as np

ENDLESS = 10**12


def while_loop(x, n):
    y = 0.0
    while y < n:
        y += 0.5
    return y


def counted_loop(x, n):
    s = 0.0
    for i in range(n):
        s = s * 0.5 + i
    return s


def loop_of_loops(x, n):
    s = 0.0
    for i in range(n):
        for j in range(5):
            s = s * 0.25 + i * j
    return s


def loop_over_elements(x, n):
    for _ in range(n):
        for i in range(len(x)):
            x[i] = x[i] * 0.5 + 1.0


def loop_of_stores(x, n):
    for _ in range(n):
        x += 1.0


def loop_of_stencils(x, n):
    for _ in range(n):
        x[1:-1] = (x[:-2] + x[2:]) * 0.5


def loop_of_arrays(x, n):
    for _ in range(n):
        x = x * 0.5 + 1.0
    return x


def loop_of_chains(x, n):
    for _ in range(n):
        x = np.sin(x)[::-1] + x
        x = x / np.sqrt(np.sum(x * x))
    return x


def loop_of_boxed_calls(x, n):
    s = 0.0
    for _ in range(n):
        s += np.sort(x)[0]
    return s


CALLS = []


def loop_of_python_calls(x, n):
    s = 0.0
    for i in range(n):
        s = s * 0.5 + 1.0
        if i % 1000 == 0:
            CALLS.append(1)
            CALLS.clear()
    return s


RNG = np.random.default_rng(1)


def loop_of_draws(x, n):
    s = 0.0
    for _ in range(n):
        s += RNG.random()
    return s


def loop_of_products(x, n):
    a = np.outer(x, x)
    for _ in range(n):
        x = a @ x
        x = x / np.max(np.abs(x))
    return x


def shared_loop(x, n):
    b = np.zeros(len(x))
    for i in range(len(x)):
        y = x[i]
        for _ in range(n):
            y = y * 0.5 + 1.0
        b[i] = y
    return b


def loop_within_errstate(x, n):
    with np.errstate(all="ignore"):
        for _ in range(n):
            x += 1.0


LOOPS = [
    while_loop,
    counted_loop,
    loop_of_loops,
    loop_over_elements,
    loop_of_stores,
    loop_of_stencils,
    loop_of_arrays,
    loop_of_chains,
    loop_of_boxed_calls,
    loop_of_python_calls,
    loop_of_draws,
    loop_of_products,
    shared_loop,
    loop_within_errstate,
]
