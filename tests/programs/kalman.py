"""Filters and models of time series: a small state that is carried from step to step."""

import numpy as np
from support.whole_programs import Program


def kalman(measurements, f, h, q, r, x, p):
    """Estimates after each measurement, and their covariances."""
    n = len(measurements)
    states = np.zeros((n, x.shape[0]))
    covariances = np.zeros((n, *p.shape))
    identity = np.eye(len(x))
    for k, z in enumerate(measurements):
        x = f @ x
        p = f @ p @ f.T + q
        innovation = z - h @ x
        s = h @ p @ h.T + r
        gain = p @ h.T @ np.linalg.inv(s)
        x = x + gain @ innovation
        p = (identity - gain @ h) @ p
        states[k] = x
        covariances[k] = p
    return states, covariances


def kalman_scalar(measurements, process, noise):
    estimate, variance = measurements[0], 1.0
    result = np.empty_like(measurements)
    result[0] = estimate
    for i in range(1, len(measurements)):
        variance += process
        gain = variance / (variance + noise)
        estimate = estimate + gain * (measurements[i] - estimate)
        variance = (1 - gain) * variance
        result[i] = estimate
    return result


def viterbi(start, transition, emission, observations):
    """The most likely path through the states of a hidden Markov model."""
    steps, states = len(observations), len(start)
    score = np.zeros((steps, states))
    back = np.zeros((steps, states), dtype=int)
    score[0] = np.log(start) + np.log(emission[:, observations[0]])
    for t in range(1, steps):
        for s in range(states):
            candidates = score[t - 1] + np.log(transition[:, s])
            back[t, s] = np.argmax(candidates)
            score[t, s] = candidates[back[t, s]] + np.log(emission[s, observations[t]])
    path = np.zeros(steps, dtype=int)
    path[-1] = score[-1].argmax()
    for t in range(steps - 2, -1, -1):
        path[t] = back[t + 1, path[t + 1]]
    return path, score[-1].max()


def forward_backward(start, transition, emission, observations):
    """Chances of each state, scaled at every step."""
    n = len(observations)
    alpha = np.empty((n, len(start)))
    scale = np.empty(n)
    a = start * emission[:, observations[0]]
    for t in range(n):
        if t > 0:
            a = (a @ transition) * emission[:, observations[t]]
        scale[t] = a.sum()
        a = a / scale[t]
        alpha[t] = a
    b = np.ones(len(start))
    gamma = alpha.copy()
    for t in range(n - 2, -1, -1):
        b = transition @ (emission[:, observations[t + 1]] * b) / scale[t + 1]
        gamma[t] *= b
    return gamma, np.log(scale).sum()


def garch(returns, omega, alpha, beta):
    """Log likelihood and the conditional variances."""
    variance = np.empty(len(returns))
    variance[0] = returns.var()
    likelihood = 0.0
    for t in range(1, len(returns)):
        variance[t] = omega + alpha * returns[t - 1] ** 2 + beta * variance[t - 1]
        likelihood -= 0.5 * (np.log(2 * np.pi) + np.log(variance[t]) + returns[t] ** 2 / variance[t])
    return likelihood, variance


def binomial_option(spot, strike, years, rate, volatility, steps):
    """An American put by backward induction through a tree."""
    dt = years / steps
    up = np.exp(volatility * np.sqrt(dt))
    down = 1 / up
    chance = (np.exp(rate * dt) - down) / (up - down)
    discount = np.exp(-rate * dt)
    prices = spot * up ** np.arange(steps, -steps - 1, -2.0)
    values = np.maximum(strike - prices, 0)
    for i in range(steps - 1, -1, -1):
        values = discount * (chance * values[:-1] + (1 - chance) * values[1:])
        prices = spot * up ** np.arange(i, -i - 1, -2.0)
        values = np.maximum(values, strike - prices)
    return values[0]


def track(rng, n):
    f = np.array([[1.0, 0.1], [0.0, 1.0]])
    h = np.array([[1.0, 0.0]])
    z = np.cumsum(rng.standard_normal((n, 1)), axis=0)
    return z, f, h, 0.01 * np.eye(2), np.array([[0.5]]), np.zeros(2), np.eye(2)


def model(rng, states, symbols, steps):
    def rows(*shape):
        a = rng.random(shape) + 0.1
        return a / a.sum(axis=-1, keepdims=True)

    return rows(states), rows(states, states), rows(states, symbols), rng.integers(0, symbols, steps)


PROGRAMS = [
    Program(kalman, track, (6,), (100,), (5000,)),
    Program(kalman_scalar, lambda rng, n: (rng.standard_normal(n), 1e-3, 0.1), (8,), (300,), (100_000,)),
    Program(viterbi, model, (3, 4, 8), (5, 6, 60), (20, 10, 2000)),
    Program(forward_backward, model, (3, 4, 8), (5, 6, 100), (20, 10, 5000)),
    Program(garch, lambda rng, n: (rng.standard_normal(n), 0.1, 0.1, 0.8), (8,), (300,), (100_000,)),
    Program(binomial_option, lambda rng, n: (100.0, 95.0, 1.0, 0.05, 0.2, n), (6,), (150,), (3000,)),
]
