"""Stencils on grids, updated in place or from one grid to another."""

import numpy as np

from benchmarks.loops import prange


def sweep(old, new):
    for i in prange(1, old.shape[0] - 1):
        for j in range(1, old.shape[1] - 1):
            new[i, j] = 0.25 * (old[i - 1, j] + old[i + 1, j] + old[i, j - 1] + old[i, j + 1])


def jacobi(u, sweeps):
    other = u.copy()
    for k in range(sweeps):
        if k % 2 == 0:
            sweep(u, other)
        else:
            sweep(other, u)
    if sweeps % 2:
        u[:] = other


def star(old, new):
    for i in prange(1, old.shape[0] - 1):
        for j in range(1, old.shape[1] - 1):
            new[i, j] = 0.2 * (old[i, j] + old[i, j - 1] + old[i, j + 1] + old[i + 1, j] + old[i - 1, j])


def jacobi_two_grids(steps, a, b):
    for _ in range(1, steps):
        star(a, b)
        star(b, a)


def jacobi_to_tolerance(u, tolerance, most):
    change, sweeps = np.inf, 0
    old = u.copy()
    while change > tolerance and sweeps < most:
        change = 0.0
        for i in prange(1, u.shape[0] - 1):
            for j in range(1, u.shape[1] - 1):
                old[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
                change = max(change, abs(old[i, j] - u[i, j]))
        u[1:-1, 1:-1] = old[1:-1, 1:-1]
        sweeps += 1
    return sweeps, change


def red_black(u, f, sweeps):
    for _ in range(sweeps):
        for colour in range(2):
            for i in prange(1, u.shape[0] - 1):
                for j in range(1 + (i + colour) % 2, u.shape[1] - 1, 2):
                    u[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - f[i, j])
    return u


def fdtd_2d(steps, ex, ey, hz, source):
    rows, columns = hz.shape
    for t in range(steps):
        for i in prange(rows):
            for j in range(columns):
                if i == 0:
                    ey[0, j] = source[t]
                else:
                    ey[i, j] -= 0.5 * (hz[i, j] - hz[i - 1, j])
                if j > 0:
                    ex[i, j] -= 0.5 * (hz[i, j] - hz[i, j - 1])
        for i in prange(rows - 1):
            for j in range(columns - 1):
                hz[i, j] -= 0.7 * (ex[i, j + 1] - ex[i, j] + ey[i + 1, j] - ey[i, j])


def wave(u, speed, dt, steps, every):
    kept = np.empty((steps // every, *u.shape))
    courant = (speed * dt) ** 2
    previous, current, following = u.copy(), u.copy(), np.zeros_like(u)
    for n in range(steps):
        for i in prange(1, u.shape[0] - 1):
            for j in range(1, u.shape[1] - 1):
                laplace = current[i + 1, j] + current[i - 1, j] + current[i, j + 1] + current[i, j - 1] - 4 * current[i, j]
                following[i, j] = 2 * current[i, j] - previous[i, j] + courant * laplace
        previous, current, following = current, following, previous
        if (n + 1) % every == 0:
            kept[n // every] = current
    return kept


def life(board, generations):
    rows, columns = board.shape
    other = np.zeros_like(board)
    for _ in range(generations):
        for i in prange(1, rows - 1):
            for j in range(1, columns - 1):
                n = board[i - 1, j - 1] + board[i - 1, j] + board[i - 1, j + 1] + board[i, j - 1]
                n += board[i, j + 1] + board[i + 1, j - 1] + board[i + 1, j] + board[i + 1, j + 1]
                other[i, j] = 1 if n == 3 or (n == 2 and board[i, j] == 1) else 0
        board[:] = other
    return board


def life_on_a_torus(board, generations):
    rows, columns = board.shape
    board, other = board.copy(), np.empty_like(board)
    for _ in range(generations):
        for i in prange(rows):
            for j in range(columns):
                n = 0
                for di in range(-1, 2):
                    for dj in range(-1, 2):
                        if di != 0 or dj != 0:
                            n += board[(i + di) % rows, (j + dj) % columns]
                other[i, j] = n == 3 or (board[i, j] and n == 2)
        board, other = other, board
    return board


def sandpile(heights, most):
    rows, columns = heights.shape
    other = heights.copy()
    for step in range(most):
        moved = 0
        for i in prange(rows):
            for j in range(columns):
                h = heights[i, j]
                if h >= 4:
                    h -= 4
                    moved += 1
                h += i > 0 and heights[i - 1, j] >= 4
                h += i + 1 < rows and heights[i + 1, j] >= 4
                h += j > 0 and heights[i, j - 1] >= 4
                h += j + 1 < columns and heights[i, j + 1] >= 4
                other[i, j] = h
        if moved == 0:
            return step
        heights[:] = other
    return most


def react(big_u, big_v, new_u, new_v, du, dv, f, k):
    for i in prange(1, big_u.shape[0] - 1):
        for j in range(1, big_u.shape[1] - 1):
            u, v = big_u[i, j], big_v[i, j]
            lu = big_u[i - 1, j] + big_u[i, j - 1] - 4 * u + big_u[i, j + 1] + big_u[i + 1, j]
            lv = big_v[i - 1, j] + big_v[i, j - 1] - 4 * v + big_v[i, j + 1] + big_v[i + 1, j]
            uvv = u * v * v
            new_u[i, j] = u + (du * lu - uvv + f * (1 - u))
            new_v[i, j] = v + (dv * lv + uvv - (f + k) * v)


def wrap(z):
    z[0, :], z[-1, :] = z[-2, :], z[1, :]
    z[:, 0], z[:, -1] = z[:, -2], z[:, 1]


def gray_scott(big_u, big_v, steps, du, dv, f, k):
    other_u, other_v = big_u.copy(), big_v.copy()
    for step in range(steps):
        if step % 2 == 0:
            react(big_u, big_v, other_u, other_v, du, dv, f, k)
            wrap(other_u)
            wrap(other_v)
        else:
            react(other_u, other_v, big_u, big_v, du, dv, f, k)
            wrap(big_u)
            wrap(big_v)
    if steps % 2:
        big_u[:], big_v[:] = other_u, other_v
    return big_u[1:-1, 1:-1]


def floyd_warshall(path):
    n = path.shape[0]
    for k in range(n):
        for i in prange(n):
            for j in range(n):
                path[i, j] = min(path[i, j], path[i, k] + path[k, j])


def lattice_boltzmann(f, cylinder, steps, tau):
    rows, columns, _ = f.shape
    cxs = np.array([0, 0, 1, 1, 1, 0, -1, -1, -1])
    cys = np.array([0, 1, 1, 0, -1, -1, -1, 0, 1])
    weights = np.array([4 / 9, 1 / 9, 1 / 36, 1 / 9, 1 / 36, 1 / 9, 1 / 36, 1 / 9, 1 / 36])
    opposite = np.array([0, 5, 6, 7, 8, 1, 2, 3, 4])
    ux, uy = np.empty((rows, columns)), np.empty((rows, columns))
    moved = np.empty_like(f)
    for _ in range(steps):
        for y in prange(rows):
            for x in range(columns):
                rho = sx = sy = 0.0
                for i in range(9):
                    value = f[(y - cys[i]) % rows, (x - cxs[i]) % columns, i]
                    moved[y, x, i] = value
                    rho += value
                    sx += value * cxs[i]
                    sy += value * cys[i]
                ux[y, x], uy[y, x] = sx / rho, sy / rho
                if not cylinder[y, x]:
                    a, b = ux[y, x], uy[y, x]
                    for i in range(9):
                        c = cxs[i] * a + cys[i] * b
                        equilibrium = rho * weights[i] * (1 + 3 * c + 9 * c * c / 2 - 3 * (a * a + b * b) / 2)
                        moved[y, x, i] += -(1.0 / tau) * (moved[y, x, i] - equilibrium)
        for y in prange(rows):
            for x in range(columns):
                for i in range(9):
                    f[y, x, i] = moved[y, x, opposite[i]] if cylinder[y, x] else moved[y, x, i]
    curl = np.empty((rows, columns))
    for y in range(rows):
        for x in range(columns):
            if cylinder[y, x]:
                ux[y, x] = uy[y, x] = 0
    for y in range(rows):
        for x in range(columns):
            along = ux[(y + 1) % rows, x] - ux[y - 1, x]
            curl[y, x] = along - (uy[y, (x + 1) % columns] - uy[y, x - 1])
    return curl


SOURCES = {
    "jacobi": jacobi,
    "jacobi_two_grids": jacobi_two_grids,
    "jacobi_to_tolerance": jacobi_to_tolerance,
    "red_black": red_black,
    "fdtd_2d": fdtd_2d,
    "wave": wave,
    "life": life,
    "life_on_a_torus": life_on_a_torus,
    "sandpile": sandpile,
    "gray_scott": gray_scott,
    "floyd_warshall": floyd_warshall,
    "lattice_boltzmann": lattice_boltzmann,
}
