"""Decompositions, pairs of bodies, clusters: matrices by elements."""

import math

import numpy as np

from benchmarks.loops import prange


def eliminate(a, k):
    """Subtracts multiples of row k from the rows below it."""
    for i in prange(k + 1, a.shape[0]):
        a[i, k] /= a[k, k]
        for j in range(k + 1, a.shape[0]):
            a[i, j] -= a[i, k] * a[k, j]


def lu(a):
    for k in range(a.shape[0] - 1):
        eliminate(a, k)


def lu_by_columns(a):
    lu(a)
    return a


def lu_with_pivots(a):
    n = len(a)
    order = np.arange(n)
    for k in range(n):
        p = k
        for i in range(k + 1, n):
            if abs(a[i, k]) > abs(a[p, k]):
                p = i
        if a[p, k] == 0:
            raise ValueError("singular matrix")
        if p != k:
            for j in range(n):
                a[k, j], a[p, j] = a[p, j], a[k, j]
            order[k], order[p] = order[p], order[k]
        eliminate(a, k)
    return order


def cholesky(a):
    n = a.shape[0]
    for k in range(n):
        a[k, k] = math.sqrt(a[k, k])
        for i in prange(k + 1, n):
            a[i, k] /= a[k, k]
        for i in prange(k + 1, n):
            for j in range(k + 1, i + 1):
                a[i, j] -= a[i, k] * a[j, k]


def levinson(r, order):
    a, previous, reflections = np.zeros(order + 1), np.zeros(order + 1), np.empty(order)
    a[0] = 1.0
    error = r[0]
    for m in range(1, order + 1):
        total = 0.0
        for i in range(m):
            total += a[i] * r[m - i]
        k = -total / error
        previous[:] = a
        for i in range(1, m):
            a[i] = previous[i] + k * previous[m - i]
        a[m] = k
        error *= 1 - k * k
        reflections[m - 1] = k
    return a, error, reflections


def pull(position, mass, gravity, softening, acceleration):
    for i in prange(len(mass)):
        ax = ay = az = 0.0
        for j in range(len(mass)):
            dx = position[j, 0] - position[i, 0]
            dy = position[j, 1] - position[i, 1]
            dz = position[j, 2] - position[i, 2]
            r2 = dx * dx + dy * dy + dz * dz + softening * softening
            inverse = gravity * mass[j, 0] / (r2 * math.sqrt(r2)) if r2 > 0 else 0.0
            ax += dx * inverse
            ay += dy * inverse
            az += dz * inverse
        acceleration[i, 0], acceleration[i, 1], acceleration[i, 2] = ax, ay, az


def energies(position, velocity, mass, gravity):
    kinetic = potential = 0.0
    for i in prange(len(mass)):
        for d in range(3):
            kinetic += 0.5 * mass[i, 0] * velocity[i, d] ** 2
        for j in range(i + 1, len(mass)):
            dx = position[j, 0] - position[i, 0]
            dy = position[j, 1] - position[i, 1]
            dz = position[j, 2] - position[i, 2]
            r = math.sqrt(dx * dx + dy * dy + dz * dz)
            if r > 0:
                potential -= gravity * mass[i, 0] * mass[j, 0] / r
    return kinetic, potential


def nbody(mass, position, velocity, steps, dt, gravity, softening):
    for d in range(3):
        velocity[:, d] -= np.mean(mass[:, 0] * velocity[:, d]) / np.mean(mass)
    a = np.empty_like(position)
    pull(position, mass, gravity, softening, a)
    kinetic, potential = np.empty(steps + 1), np.empty(steps + 1)
    kinetic[0], potential[0] = energies(position, velocity, mass, gravity)
    t = 0.0
    for i in range(steps):
        for p in range(len(mass)):
            for d in range(3):
                velocity[p, d] += a[p, d] * dt / 2
                position[p, d] += velocity[p, d] * dt
        pull(position, mass, gravity, softening, a)
        for p in range(len(mass)):
            for d in range(3):
                velocity[p, d] += a[p, d] * dt / 2
        t += dt
        kinetic[i + 1], potential[i + 1] = energies(position, velocity, mass, gravity)
    return kinetic, potential, t


def nearest(points, centres, labels):
    for i in prange(points.shape[0]):
        best = math.inf
        for c in range(centres.shape[0]):
            total = 0.0
            for d in range(points.shape[1]):
                total += (points[i, d] - centres[c, d]) ** 2
            if total < best:
                best = total
                labels[i] = c


def means(points, labels, count):
    sums = np.zeros((count, points.shape[1]))
    counts = np.zeros(count)
    for i in range(len(points)):
        counts[labels[i]] += 1
        for d in range(points.shape[1]):
            sums[labels[i], d] += points[i, d]
    for c in range(count):
        for d in range(points.shape[1]):
            sums[c, d] /= counts[c]
    return sums


def kmeans(points, centres, most):
    labels = np.zeros(len(points), np.int64)
    step = 0
    for step in range(most):  # noqa: B007
        nearest(points, centres, labels)
        moved = means(points, labels, len(centres))
        if np.all(np.abs(moved - centres) <= 1e-8 + 1e-5 * np.abs(centres)):
            break
        centres = moved
    return labels, centres, step


def kmeans_by_sums(points, centres, tolerance):
    labels = np.zeros(len(points), np.int64)
    shift = np.inf
    while shift > tolerance:
        nearest(points, centres, labels)
        new = means(points, labels, len(centres))
        shift = np.max(np.abs(new - centres))
        centres = new
    inertia = 0.0
    for i in prange(len(points)):
        for d in range(points.shape[1]):
            inertia += (points[i, d] - centres[labels[i], d]) ** 2
    return centres, labels, inertia


def pairwise_distances(x):
    n = len(x)
    distance = np.zeros((n, n))
    for i in prange(n):
        for j in range(n):
            total = 0.0
            for d in range(x.shape[1]):
                total += (x[i, d] - x[j, d]) ** 2
            distance[i, j] = math.sqrt(total)
    return distance


def breadth_first(adjacency, source):
    n = len(adjacency)
    levels = np.full(n, -1)
    levels[source] = 0
    queue = np.empty(n, np.int64)
    queue[0] = source
    begin, end = 0, 1
    while begin < end:
        node = queue[begin]
        begin += 1
        for other in range(n):
            if adjacency[node, other] and levels[other] < 0:
                levels[other] = levels[node] + 1
                queue[end] = other
                end += 1
    return levels


def triangles(adjacency):
    n = len(adjacency)
    count = 0
    for i in prange(n):
        for j in range(i + 1, n):
            if adjacency[i, j]:
                for k in range(j + 1, n):
                    if adjacency[i, k] and adjacency[j, k]:
                        count += 1
    return count


def matrix_product(a, b):
    result = np.zeros((a.shape[0], b.shape[1]))
    for i in prange(a.shape[0]):
        for k in range(a.shape[1]):
            for j in range(b.shape[1]):
                result[i, j] += a[i, k] * b[k, j]
    return result


def convolve(image, kernel):
    h, w = kernel.shape
    result = np.zeros((image.shape[0] - h + 1, image.shape[1] - w + 1))
    for i in prange(result.shape[0]):
        for j in range(result.shape[1]):
            total = 0.0
            for k in range(h):
                for m in range(w):
                    total += image[i + k, j + m] * kernel[k, m]
            result[i, j] = total
    return result


def viterbi(start, transition, emission, observations):
    steps, states = len(observations), len(start)
    score, back = np.zeros((steps, states)), np.zeros((steps, states), np.int64)
    logs = np.log(transition)
    score[0] = np.log(start) + np.log(emission[:, observations[0]])
    for t in range(1, steps):
        for s in range(states):
            best = 0
            for k in range(1, states):
                if score[t - 1, k] + logs[k, s] > score[t - 1, best] + logs[best, s]:
                    best = k
            back[t, s] = best
            score[t, s] = score[t - 1, best] + logs[best, s] + math.log(emission[s, observations[t]])
    path = np.zeros(steps, np.int64)
    path[-1] = score[-1].argmax()
    for t in range(steps - 2, -1, -1):
        path[t] = back[t + 1, path[t + 1]]
    return path, score[-1].max()


SOURCES = {
    "lu": lu,
    "lu_by_columns": lu_by_columns,
    "lu_with_pivots": lu_with_pivots,
    "cholesky": cholesky,
    "levinson": levinson,
    "nbody": nbody,
    "kmeans": kmeans,
    "kmeans_by_sums": kmeans_by_sums,
    "pairwise_distances": pairwise_distances,
    "breadth_first": breadth_first,
    "triangles": triangles,
    "matrix_product": matrix_product,
    "convolve": convolve,
    "viterbi": viterbi,
}
