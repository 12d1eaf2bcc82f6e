"""The Mandelbrot set and other pictures: each point has a loop of its own, which ends when the point has escaped."""

import math

import numpy as np

from benchmarks.loops import prange


def escape(c_re, c_im, steps, limit):
    """The last value of one point, and the last step within the limit: 0 when that is the last of all."""
    re = im = np.float32(0)
    last = 0
    for k in range(steps):
        re2, im2 = re * re, im * im
        if not re2 + im2 < limit:
            break
        re, im = re2 - im2 + c_re, re * im + im * re + c_im
        last = k
    return complex(re, im), 0 if last == steps - 1 else last


def escape_time(real, imag, steps, bound):
    z = np.zeros((len(imag), len(real)), np.complex64)
    count = np.zeros(z.shape, np.int64)
    limit = np.float32(bound * bound)
    for i in prange(len(imag)):
        for j in range(len(real)):
            z[i, j], count[i, j] = escape(real[j], imag[i], steps, limit)
    return z, count


def escape_time_linspace(left, right, bottom, top, columns, rows, steps, bound):
    z = np.zeros((rows, columns), np.complex64)
    count = np.zeros(z.shape, np.int64)
    limit = np.float32(bound * bound)
    for i in prange(rows):
        c_im = np.float32(bottom + i * ((top - bottom) / (rows - 1)))
        for j in range(columns):
            c_re = np.float32(left + j * ((right - left) / (columns - 1)))
            z[i, j], count[i, j] = escape(c_re, c_im, steps, limit)
    return z, count


def escape_step(z, c, count, k, bound):
    for i in prange(z.shape[0]):
        for j in range(z.shape[1]):
            if abs(z[i, j]) < bound:
                count[i, j] = k
                z[i, j] = z[i, j] * z[i, j] + c[i, j]


def escape_time_where(real, imag, steps, bound):
    z = np.zeros((len(imag), len(real), 2), np.float32)
    count = np.zeros((len(imag), len(real)), np.int64)
    limit = np.float32(bound * bound)
    for i in prange(len(imag)):
        for j in range(len(real)):
            x = y = np.float32(0)
            last = 0
            for k in range(steps):
                if not x * x + y * y < limit:
                    break
                x, y = x * x - y * y + real[j], 2 * x * y + imag[i]
                last = k
            z[i, j, 0], z[i, j, 1] = x, y
            count[i, j] = 0 if last == steps - 1 else last
    return z, count


def escape_time_by_points(real, imag, steps, bound):
    count = np.zeros((len(imag), len(real)), np.int64)
    for i in prange(len(imag)):
        for j in range(len(real)):
            c = complex(real[j], imag[i])
            z = 0j
            for k in range(steps):
                if abs(z) >= bound:
                    count[i, j] = k
                    break
                z = z * z + c
    return count


def julia(width, height, c, most):
    image = np.zeros((height, width), np.uint8)
    for i in prange(height):
        for j in range(width):
            z = complex(-1.5 + j * (3.0 / (width - 1)), -1.5 + i * (3.0 / (height - 1)))
            for k in range(most):
                z = z * z + c
                if abs(z) > 2:
                    image[i, j] = k
                    break
    return image


def distance(x, y, z):
    sphere = math.sqrt(x * x + (y - 0.3) * (y - 0.3) + z * z) - 0.7
    across = math.sqrt(x * x + z * z) - 1.2
    ring = math.sqrt(across * across + y * y) - 0.2
    floor = y + 0.6
    h = min(max(0.5 + 0.5 * (ring - sphere) / 0.3, 0.0), 1.0)
    return min(ring * (1 - h) + sphere * h - 0.3 * h * (1 - h), floor)


def ray_march(width, height, steps, far):
    picture = np.zeros((height, width))
    scale = 1 / math.sqrt(1.0 + 4.0 + 2.25)
    for i in prange(height):
        for j in range(width):
            u, v = -1 + j * (2 / (width - 1)), (-1 + (height - 1 - i) * (2 / (height - 1))) * height / width
            length = math.sqrt(u * u + v * v + 2.25)
            dx, dy, dz = u / length, v / length, 1.5 / length
            t, hit = 0.0, False
            for _ in range(steps):
                d = distance(t * dx, 0.6 + t * dy, -3 + t * dz)
                if d < 1e-3:
                    hit = True
                    break
                if t >= far:
                    break
                t += d
            if hit:
                x, y, z, e = t * dx, 0.6 + t * dy, -3 + t * dz, 1e-4
                nx = distance(x + e, y, z) - distance(x - e, y, z)
                ny = distance(x, y + e, z) - distance(x, y - e, z)
                nz = distance(x, y, z + e) - distance(x, y, z - e)
                n = math.sqrt(nx * nx + ny * ny + nz * nz)
                picture[i, j] = 0.1 + 0.9 * max((nx + 2 * ny - 1.5 * nz) / n * scale, 0.0)
    return picture


def bilateral(image, radius, sigma_space, sigma_value):
    rows, columns = image.shape
    result = np.empty_like(image)
    for i in prange(rows):
        for j in range(columns):
            total = weights = 0.0
            for di in range(-radius, radius + 1):
                for dj in range(-radius, radius + 1):
                    value = image[min(max(i + di, 0), rows - 1), min(max(j + dj, 0), columns - 1)]
                    difference = value - image[i, j]
                    w = math.exp(
                        -(di * di + dj * dj) / (2 * sigma_space * sigma_space)
                        - difference * difference / (2 * sigma_value * sigma_value)
                    )
                    total += w * value
                    weights += w
            result[i, j] = total / weights
    return result


def contour(field, level):
    codes = np.zeros((field.shape[0] - 1, field.shape[1] - 1), np.uint8)
    crossed = 0
    for i in prange(codes.shape[0]):
        for j in range(codes.shape[1]):
            code = (field[i, j] > level) | (field[i, j + 1] > level) << 1
            code |= (field[i + 1, j + 1] > level) << 2 | (field[i + 1, j] > level) << 3
            codes[i, j] = code
            crossed += 0 < code < 15
    return codes, crossed


SOURCES = {
    "escape_time": escape_time,
    "escape_time_linspace": escape_time_linspace,
    "escape_step": escape_step,
    "escape_time_by_steps": escape_time,
    "escape_time_where": escape_time_where,
    "escape_time_by_points": escape_time_by_points,
    "julia": julia,
    "ray_march": ray_march,
    "bilateral": bilateral,
    "contour": contour,
}
