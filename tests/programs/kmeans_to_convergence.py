"""Clustering: Lloyd's algorithm until the centres stay, and others that go on until nothing changes."""

import numpy as np
from support.whole_programs import Program


def kmeans(points, centres, most):
    for step in range(most):
        distances = np.linalg.norm(points[:, None, :] - centres[None, :, :], axis=-1)
        labels = np.argmin(distances, axis=1)
        moved = np.array([points[labels == k].mean(axis=0) for k in range(len(centres))])
        if np.allclose(moved, centres):
            break
        centres = moved
    return labels, centres, step


def kmeans_by_sums(points, centres, tolerance):
    """Sums by bincount; empty clusters keep their centre."""
    centres = centres.copy()
    shift = np.inf
    while shift > tolerance:
        labels = np.sum((points[:, np.newaxis] - centres) ** 2, axis=2).argmin(axis=1)
        counts = np.bincount(labels, minlength=len(centres))
        new = centres.copy()
        for d in range(points.shape[1]):
            sums = np.bincount(labels, weights=points[:, d], minlength=len(centres))
            new[counts > 0, d] = sums[counts > 0] / counts[counts > 0]
        shift = np.max(np.abs(new - centres))
        centres = new
    inertia = np.sum((points - centres[labels]) ** 2)
    return centres, labels, inertia


def kmeans_by_points(points, centres, most):
    """With loops over points and centres."""
    n, dims = points.shape
    k = centres.shape[0]
    labels = np.zeros(n, dtype=np.int64)
    for _ in range(most):
        changed = 0
        for i in range(n):
            best, best_distance = 0, np.inf
            for j in range(k):
                distance = 0.0
                for d in range(dims):
                    distance += (points[i, d] - centres[j, d]) ** 2
                if distance < best_distance:
                    best, best_distance = j, distance
            if labels[i] != best:
                labels[i] = best
                changed += 1
        if changed == 0:
            break
        for j in range(k):
            members = points[labels == j]
            if len(members) > 0:
                centres[j] = members.mean(axis=0)
    return labels


def nearest_neighbours(train, classes, test, k):
    """Votes of the k nearest."""
    result = np.empty(len(test), dtype=classes.dtype)
    for i, x in enumerate(test):
        distance = np.sqrt(np.sum((train - x) ** 2, axis=1))
        nearest = np.argsort(distance, kind="stable")[:k]
        votes = np.bincount(classes[nearest])
        result[i] = np.argmax(votes)
    return result


def clusters(rng, n, dims, k, most=100):
    middle = rng.uniform(-10, 10, (k, dims))
    points = middle[rng.integers(0, k, n)] + rng.standard_normal((n, dims))
    return points, points[:k].copy(), most


def to_tolerance(rng, n, dims, k):
    return *clusters(rng, n, dims, k)[:2], 1e-6


def classified(rng, n, dims, tests, k):
    return rng.standard_normal((n, dims)), rng.integers(0, 3, n), rng.standard_normal((tests, dims)), k


PROGRAMS = [
    Program(kmeans, clusters, (60, 2, 2), (1000, 3, 4), (500_000, 2, 4)),
    Program(kmeans_by_sums, to_tolerance, (60, 2, 2), (1000, 3, 4), (500_000, 2, 4)),
    Program(kmeans_by_points, clusters, (20, 2, 2, 5), (100, 3, 3, 10), (5000, 2, 4, 10)),
    Program(nearest_neighbours, classified, (30, 2, 6, 3), (200, 3, 30, 5), (5000, 3, 1000, 5)),
]
