"""PageRank and other walks over graphs."""

import numpy as np
from support.whole_programs import Program


def pagerank(links, damping, tolerance):
    """Power iteration on a dense matrix of links."""
    n = links.shape[0]
    out = links.sum(axis=1)
    out[out == 0] = 1
    transition = (links / out[:, None]).T
    rank = np.ones(n) / n
    iterations = 0
    while True:
        new = (1 - damping) / n + damping * transition @ rank
        iterations += 1
        if np.abs(new - rank).sum() < tolerance:
            return new, iterations
        rank = new


def pagerank_sparse(starts, targets, damping, iterations):
    """Links in compressed rows."""
    n = len(starts) - 1
    rank = np.full(n, 1.0 / n)
    for _ in range(iterations):
        new = np.full(n, (1.0 - damping) / n)
        dangling = 0.0
        for i in range(n):
            degree = starts[i + 1] - starts[i]
            if degree == 0:
                dangling += rank[i]
                continue
            share = damping * rank[i] / degree
            for e in range(starts[i], starts[i + 1]):
                new[targets[e]] += share
        new += damping * dangling / n
        rank = new
    return rank


def sparse_times_vector(values, columns, starts, x):
    y = np.zeros(len(starts) - 1, dtype=values.dtype)
    for i in range(len(starts) - 1):
        row = slice(starts[i], starts[i + 1])
        y[i] = values[row] @ x[columns[row]]
    return y


def breadth_first(adjacency, source):
    """Level of each node, -1 for those that are not reached."""
    levels = np.full(len(adjacency), -1)
    frontier = np.zeros(len(adjacency), dtype=bool)
    frontier[source] = True
    level = 0
    while frontier.any():
        levels[frontier] = level
        frontier = adjacency[frontier].any(axis=0) & (levels < 0)
        level += 1
    return levels


def triangles(adjacency):
    n = len(adjacency)
    count = 0
    for i in range(n):
        for j in range(i + 1, n):
            if not adjacency[i, j]:
                continue
            for k in range(j + 1, n):
                if adjacency[i, k] and adjacency[j, k]:
                    count += 1
    return count


def dense(rng, n):
    return rng.integers(0, 2, (n, n)).astype(float), 0.85, 1e-9


def sparse(rng, n, most, iterations):
    starts = np.concatenate(([0], np.cumsum(rng.integers(0, most, n))))
    return starts, rng.integers(0, n, starts[-1]), 0.85, iterations


def rows(rng, n, most):
    starts, columns, _, _ = sparse(rng, n, most, 0)
    return rng.random(len(columns)), columns, starts, rng.random(n)


def adjacency(rng, n, chance):
    a = np.triu(rng.random((n, n)) < chance, 1)
    return a | a.T


PROGRAMS = [
    Program(pagerank, dense, (6,), (100,), (2000,)),
    Program(pagerank_sparse, sparse, (6, 4, 3), (60, 6, 10), (5000, 10, 20)),
    Program(sparse_times_vector, rows, (6, 4), (200, 10), (20_000, 20)),
    Program(breadth_first, lambda rng, n: (adjacency(rng, n, 2 / n), 0), (10,), (100,), (2000,)),
    Program(triangles, lambda rng, n: (adjacency(rng, n, 0.3),), (8,), (30,), (150,)),
]
