"""Ten nested loops and sixty array statements in one function."""

import numpy as np
from support.whole_programs import Program


def deep(data, steps):
    a, b, c, d, e, f, g, h = [row.copy() for row in data]
    for i in range(2):
        d = e[::-1] * 0.75
        h = 0.5 * (f + e)
        h = np.abs(c - e)
        for j in range(steps):
            h = e - e.mean() + g.max() * 0.1
            c = b - b.mean() + f.max() * 0.1
            a = np.minimum(f, 1.0 - h)
            for k in range(steps):
                e[j:] = g[j:] * 0.5
                g[j] = f[j] + 0.5 * d[-j - 1]
                c = np.where(h > a, h, c)
                for l in range(2):
                    h = np.clip(b * c + h, 0.0, 1.0)
                    g = g * (1.0 - 0.01 * k)
                    d[::2] -= 0.25 * c[::2]
                    for m in range(steps):
                        c += 0.1 * (f - c)
                        d = np.clip(f * e + d, 0.0, 1.0)
                        b[1:] = 0.5 * (a[:-1] + d[1:])
                        for n in range(steps):
                            f = np.where(g > a, g, f)
                            a += 0.1 * (c - a)
                            a = e - e.mean() + g.max() * 0.1
                            for o in range(2):
                                f = np.sqrt(np.abs(e * c))
                                a += 0.1 * (c - a)
                                a[::2] -= 0.25 * b[::2]
                                for p in range(steps):
                                    c, f = f, c
                                    f[o] = b[o] + 0.5 * d[-o - 1]
                                    g[::2] -= 0.25 * f[::2]
                                    for q in range(steps):
                                        g = np.clip(f * h + g, 0.0, 1.0)
                                        g, c = c, g
                                        a = 0.5 * (g + d)
                                        for r in range(2):
                                            g = np.minimum(e, 1.0 - h)
                                            f[::2] -= 0.25 * d[::2]
                                            h = 0.5 * (a + e)
                                            f = np.clip(c * h + f, 0.0, 1.0)
                                            f, b = b, f
                                            f = np.clip(g * e + f, 0.0, 1.0)
                                        g = np.clip(a * h + g, 0.0, 1.0)
                                        d, f = f, d
                                        c += 0.1 * (f - c)
                                    f[l] = c[l] + 0.5 * h[-l - 1]
                                    c[l] = a[l] + 0.5 * h[-l - 1]
                                    e = np.abs(b - a)
                                f[::2] -= 0.25 * g[::2]
                                f = g[::-1] * 0.75
                                c[::2] -= 0.25 * d[::2]
                            h = np.clip(c * f + h, 0.0, 1.0)
                            g = g * (1.0 - 0.01 * i)
                            c = c * (1.0 - 0.01 * l)
                        d = np.clip(a * f + d, 0.0, 1.0)
                        f = np.clip(b * a + f, 0.0, 1.0)
                        b = np.minimum(g, 1.0 - h)
                    d = 0.5 * (h + e)
                    h = np.clip(f * a + h, 0.0, 1.0)
                    d = np.minimum(f, 1.0 - a)
                b[j:] = c[j:] * 0.5
                a += 0.1 * (c - a)
                b = np.where(h > g, h, b)
            a = np.minimum(d, 1.0 - f)
            e = np.minimum(b, 1.0 - c)
            h = np.where(c > a, c, h)
        a[i:] = h[i:] * 0.5
        a[i:] = g[i:] * 0.5
        f = b[::-1] * 0.75
    return a, b, c, d, e, f, g, h


def data(rng, length, steps):
    return rng.random((8, length)), steps


PROGRAMS = [Program(deep, data, (6, 1), (50, 2), (100_000, 2))]
