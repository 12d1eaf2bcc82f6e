"""Shortest paths between all pairs of nodes."""

import numpy as np
from support.whole_programs import Program


def floyd_warshall(path):
    for k in range(path.shape[0]):
        path[:] = np.minimum(path[:], np.add.outer(path[:, k], path[k, :]))


def floyd_warshall_by_elements(path):
    n = len(path)
    following = np.full((n, n), -1)
    for k in range(n):
        for i in range(n):
            for j in range(n):
                through = path[i, k] + path[k, j]
                if through < path[i, j]:
                    path[i, j] = through
                    following[i, j] = k
    return following


def bellman_ford(tails, heads, lengths, nodes, source):
    """Stops when nothing changes; a cycle of negative length raises."""
    distance = np.full(nodes, np.inf)
    distance[source] = 0.0
    for _ in range(nodes):
        changed = False
        for e in range(len(tails)):
            through = distance[tails[e]] + lengths[e]
            if through < distance[heads[e]]:
                distance[heads[e]] = through
                changed = True
        if not changed:
            return distance
    raise ValueError("negative cycle")


def distances(rng, n):
    path = rng.integers(1, 1000, (n, n)).astype(float)
    path[rng.random((n, n)) < 0.5] = np.inf
    np.fill_diagonal(path, 0)
    return (path,)


def whole(rng, n):
    return (rng.integers(1, 1000, (n, n)),)


def edges(rng, nodes, count):
    return rng.integers(0, nodes, count), rng.integers(0, nodes, count), rng.integers(1, 9, count).astype(float), nodes, 0


def negative(rng):
    tails, heads, lengths, nodes, source = edges(rng, 5, 20)
    return tails, heads, -lengths, nodes, source


PROGRAMS = [
    Program(floyd_warshall, whole, (7,), (60,), (500,)),
    Program(floyd_warshall_by_elements, distances, (6,), (24,), (150,)),
    Program(bellman_ford, edges, (5, 20), (60, 400), (2000, 20000), bad=negative),
]
