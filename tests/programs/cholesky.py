"""Cholesky decomposition, in place and element by element."""

import numpy as np
from support.whole_programs import Program


def cholesky(a):
    a[0, 0] = np.sqrt(a[0, 0])
    for i in range(1, a.shape[0]):
        for j in range(i):
            a[i, j] -= np.dot(a[i, :j], a[j, :j])
            a[i, j] /= a[j, j]
        a[i, i] -= np.dot(a[i, :i], a[i, :i])
        a[i, i] = np.sqrt(a[i, i])


def cholesky_by_elements(a):
    n = a.shape[0]
    factor = np.zeros_like(a)
    for i in range(n):
        for j in range(i + 1):
            s = 0.0
            for k in range(j):
                s += factor[i, k] * factor[j, k]
            if i == j:
                if a[i, i] - s <= 0:
                    raise ValueError("the matrix is not positive definite")
                factor[i, j] = np.sqrt(a[i, i] - s)
            else:
                factor[i, j] = 1.0 / factor[j, j] * (a[i, j] - s)
    return factor


def gram_schmidt(a):
    """QR by the modified Gram-Schmidt process."""
    rows, columns = a.shape
    q = np.zeros_like(a)
    r = np.zeros((columns, columns))
    for k in range(columns):
        r[k, k] = np.sqrt(np.dot(a[:, k], a[:, k]))
        q[:, k] = a[:, k] / r[k, k]
        for j in range(k + 1, columns):
            r[k, j] = np.dot(q[:, k], a[:, j])
            a[:, j] -= q[:, k] * r[k, j]
    return q, r


def matrix(rng, n):
    a = rng.random((n, n))
    return (a @ a.T + n * np.eye(n),)


PROGRAMS = [
    Program(cholesky, matrix, (6,), (40,), (400,)),
    Program(cholesky_by_elements, matrix, (6,), (24,), (200,), bad=lambda rng: (-np.eye(4),)),
    Program(gram_schmidt, lambda rng, m, n: (rng.random((m, n)),), (7, 5), (50, 30), (400, 200)),
]
