"""Pictures: a scene of spheres given by its distance function, and others."""

import numpy as np
from support.whole_programs import Program


def scene(p):
    """Distance to a sphere, a torus and the floor, joined smoothly."""
    sphere = np.linalg.norm(p - np.array([0.0, 0.3, 0.0]), axis=-1) - 0.7
    ring = np.sqrt((np.sqrt(p[..., 0] ** 2 + p[..., 2] ** 2) - 1.2) ** 2 + p[..., 1] ** 2) - 0.2
    floor = p[..., 1] + 0.6
    h = np.clip(0.5 + 0.5 * (ring - sphere) / 0.3, 0.0, 1.0)
    blended = ring * (1 - h) + sphere * h - 0.3 * h * (1 - h)
    return np.minimum(blended, floor)


def normal(p, eps=1e-4):
    n = np.empty_like(p)
    for axis in range(3):
        step = np.zeros(3)
        step[axis] = eps
        n[..., axis] = scene(p + step) - scene(p - step)
    return n / np.linalg.norm(n, axis=-1, keepdims=True)


def ray_march(width, height, steps, far):
    """Sphere tracing; every ray goes on until it hits or is far away."""
    x = np.linspace(-1, 1, width)
    y = np.linspace(-1, 1, height) * height / width
    u, v = np.meshgrid(x, y[::-1])
    origin = np.array([0.0, 0.6, -3.0])
    direction = np.stack([u, v, np.full_like(u, 1.5)], axis=-1)
    direction /= np.linalg.norm(direction, axis=-1, keepdims=True)
    t = np.zeros((height, width))
    hit = np.zeros((height, width), dtype=bool)
    for _ in range(steps):
        p = origin + t[..., None] * direction
        d = scene(p)
        hit |= d < 1e-3
        active = ~hit & (t < far)
        if not np.any(active):
            break
        t[active] += d[active]
    light = np.array([1.0, 2.0, -1.5])
    light = light / np.sqrt(np.sum(light**2))
    shade = np.maximum(np.sum(normal(origin + t[..., None] * direction) * light, axis=-1), 0.0)
    return np.where(hit, 0.1 + 0.9 * shade, 0.0)


def bilateral(image, radius, sigma_space, sigma_value):
    """A filter that keeps edges: every offset of the window is a shifted copy."""
    padded = np.pad(image, radius, mode="edge")
    total = np.zeros_like(image)
    weights = np.zeros_like(image)
    rows, columns = image.shape
    for di in range(-radius, radius + 1):
        for dj in range(-radius, radius + 1):
            shifted = padded[radius + di : radius + di + rows, radius + dj : radius + dj + columns]
            w = np.exp(-(di**2 + dj**2) / (2 * sigma_space**2) - (shifted - image) ** 2 / (2 * sigma_value**2))
            total += w * shifted
            weights += w
    return total / weights


def dither(image):
    """Floyd and Steinberg: the error of each pixel goes to its neighbours."""
    a = image.astype(np.float64)
    rows, columns = a.shape
    for i in range(rows):
        for j in range(columns):
            old = a[i, j]
            new = 255.0 if old > 127 else 0.0
            a[i, j] = new
            error = old - new
            if j + 1 < columns:
                a[i, j + 1] += error * 7 / 16
            if i + 1 < rows:
                if j > 0:
                    a[i + 1, j - 1] += error * 3 / 16
                a[i + 1, j] += error * 5 / 16
                if j + 1 < columns:
                    a[i + 1, j + 1] += error * 1 / 16
    return a.astype(np.uint8)


def contour(field, level):
    """Code of each cell of the grid for marching squares, and how many cells are crossed."""
    above = field > level
    codes = np.zeros((field.shape[0] - 1, field.shape[1] - 1), dtype=np.uint8)
    for bit, (i, j) in enumerate([(0, 0), (0, 1), (1, 1), (1, 0)]):
        codes |= above[i : i + codes.shape[0], j : j + codes.shape[1]].astype(np.uint8) << bit
    return codes, np.count_nonzero((codes > 0) & (codes < 15))


def julia(width, height, c, most):
    """A picture of one byte per pixel; the loop ends when every point has escaped."""
    y, x = np.ogrid[-1.5 : 1.5 : height * 1j, -1.5 : 1.5 : width * 1j]
    z = x + y * 1j
    image = np.zeros(z.shape, dtype=np.uint8)
    inside = np.ones(z.shape, dtype=bool)
    for k in range(most):
        z[inside] = z[inside] * z[inside] + c
        escaped = inside & (np.abs(z) > 2)
        image[escaped] = k
        inside &= ~escaped
        if not inside.any():
            break
    return image


PROGRAMS = [
    Program(ray_march, lambda rng, w, h: (w, h, 60, 8.0), (8, 6), (60, 40), (320, 240)),
    Program(bilateral, lambda rng, m, n, r: (rng.random((m, n)), r, 2.0, 0.2), (6, 7, 1), (60, 50, 3), (1000, 1000, 3)),
    Program(dither, lambda rng, m, n: (rng.uniform(0, 255, (m, n)),), (5, 6), (30, 40), (300, 400)),
    Program(contour, lambda rng, m, n: (rng.random((m, n)), 0.5), (5, 6), (100, 90), (2000, 2000)),
    Program(julia, lambda rng, w, h, k: (w, h, -0.8 + 0.156j, k), (8, 7, 10), (100, 80, 40), (500, 500, 100)),
]
