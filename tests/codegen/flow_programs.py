"""Graphs of whole programs, as capture builds them, and the Python functions that they stand for."""

from graph_text import GraphText

NP = "numpy_scalar float64"


def square():
    """A graph with one array of n x n: the graph, n, the array, n as a count."""
    g = GraphText()
    n = g.symbol()
    array = g.array("float64", f"{n}, {n}")
    return g, n, array, g.dim(n)


def with_steps(arrays):
    """A graph with so many arrays of n x m and a count of steps: the graph, n, m, the arrays, the count."""
    g = GraphText()
    n, m, steps = g.symbol(), g.symbol(), g.symbol()
    inputs = [g.array("float64", f"{n}, {m}") for _ in range(arrays)]
    return g, n, m, inputs, g.scalar_input("py_scalar int64", steps)


def gauss_seidel():
    """for t in range(T): for i in range(1, n - 1): for j in range(1, m - 1): A[i, j] = 0.25 * (up + down + left + right)"""
    g, n, m, [array], count = with_steps(1)
    one, quarter = g.int(1), g.float(0.25)

    def element(i):
        def body(j, _, a):
            total = g.op("add", g.at(a, f"{i} - 1", j), g.at(a, f"{i} + 1", j))
            total = g.op("add", total, g.at(a, i, f"{j} - 1"))
            total = g.op("add", total, g.at(a, i, f"{j} + 1"))
            return [g.set_at(a, [i, j], g.op("multiply", quarter, total, kind=NP))]

        return body

    def sweep(_symbol, _, a):
        return g.loop(g.dim(f"{n} - 1"), [a], lambda i, _, b: g.loop(g.dim(f"{m} - 1"), [b], element(i), one), one)

    g.loop(count, [array], sweep)
    g.ret()
    return g.text()


def floyd_warshall():
    """for k: for i: for j: if d[i, k] + d[k, j] < d[i, j]: d[i, j] = d[i, k] + d[k, j]"""
    g, n, distances, count = square()

    def body(k, i, j, d):
        through = g.op("add", g.at(d, i, k), g.at(d, k, j))
        better = g.op("less", through, g.at(d, i, j), kind="numpy_scalar bool")

        def update(e):
            return [g.set_at(e, [i, j], g.op("add", g.at(e, i, k), g.at(e, k, j)))]

        return g.when(better, [d], update)

    g.loop(
        count,
        [distances],
        lambda k, _k, d: g.loop(count, [d], lambda i, _i, e: g.loop(count, [e], lambda j, _j, f: body(k, i, j, f))),
    )
    g.ret()
    return g.text()


def smith_waterman():
    """H[i, j] = max(0, H[i-1, j-1] + (2 if a[i-1] == b[j-1] else -1), H[i-1, j] - 1, H[i, j-1] - 1);
    best = max(best, H[i, j])
    """
    g = GraphText()
    n, m = g.symbol(), g.symbol()
    first, second = g.array("int64", n), g.array("int64", m)
    table = g.array("int64", f"{n} + 1, {m} + 1")
    one, zero, two, minus = g.int(1), g.int(0), g.int(2), g.int(-1)

    def greater(a, b):
        [out] = g.when(g.op("greater", b, a, kind="py_scalar bool"), [a], lambda _: [b])
        return out

    def element(i):
        def body(j, _, h, best):
            same = g.op("equal", g.at(first, f"{i} - 1"), g.at(second, f"{j} - 1"), kind="numpy_scalar bool")
            [score] = g.when(same, [minus], lambda _: [two])
            value = g.op("add", g.at(h, f"{i} - 1", f"{j} - 1"), score, kind="numpy_scalar int64")
            value = greater(value, g.op("subtract", g.at(h, f"{i} - 1", j), one))
            value = greater(value, g.op("subtract", g.at(h, i, f"{j} - 1"), one))
            [value] = g.when(
                g.op("greater", zero, value, kind="py_scalar bool"),
                [value],
                lambda _: [g.op("astype", zero, kind="numpy_scalar int64")],
            )
            return [g.set_at(h, [i, j], value), greater(best, value)]

        return body

    rows = g.dim(f"{n} + 1")
    columns = g.dim(f"{m} + 1")
    start = g.op("astype", zero, kind="numpy_scalar int64")
    [_, best] = g.loop(rows, [table, start], lambda i, _, h, b: g.loop(columns, [h, b], element(i), one), one)
    g.ret(best)
    return g.text()


def n_body():
    """Pairs of bodies: e -= m[i] * m[j] / sqrt(dx * dx + dy * dy + dz * dz), and velocities."""
    g = GraphText()
    n = g.symbol()
    position, velocity, mass = g.array("float64", f"{n}, 3"), g.array("float64", f"{n}, 3"), g.array("float64", n)
    dt = g.float(0.01)
    count = g.dim(n)

    def pair(i):
        def body(j, _, v):
            d = [g.op("subtract", g.at(position, i, k), g.at(position, j, k)) for k in range(3)]
            squares = [g.op("multiply", x, x) for x in d]
            total = g.op("add", g.op("add", squares[0], squares[1]), squares[2])
            factor = g.op("divide", dt, g.op("multiply", total, g.op("sqrt", total)), kind=NP)
            for k in range(3):
                change = g.op("multiply", g.op("multiply", d[k], g.at(mass, j)), factor)
                v = g.set_at(v, [i, k], g.op("subtract", g.at(v, i, k), change))
                change = g.op("multiply", g.op("multiply", d[k], g.at(mass, i)), factor)
                v = g.set_at(v, [j, k], g.op("add", g.at(v, j, k), change))
            return [v]

        return body

    g.loop(count, [velocity], lambda i, _, v: g.loop(count, [v], pair(i), g.dim(f"{i} + 1")))
    g.ret()
    return g.text()


def cholesky_rows():
    """for i: for j in range(i): A[i, j] = (A[i, j] - A[i, :j] @ A[j, :j]) / A[j, j] ..., as sums of products"""
    g, n, array, count = square()

    def row(i, _, a):
        def column(j, _, b):
            dot = g.node("vecdot", [g.row(b, i, 0, j), g.row(b, j, 0, j)], NP)
            value = g.op("divide", g.op("subtract", g.at(b, i, j), dot), g.at(b, j, j))
            return [g.set_at(b, [i, j], value)]

        [a] = g.loop(g.dim(i), [a], column)
        dot = g.node("vecdot", [g.row(a, i, 0, i), g.row(a, i, 0, i)], NP)
        return [g.set_at(a, [i, i], g.op("sqrt", g.op("subtract", g.at(a, i, i), dot)))]

    g.loop(count, [array], row)
    g.ret()
    return g.text()


def lu_rows():
    """for k: for i in range(k + 1, n): f = A[i, k] / A[k, k]; A[i, k] = f; A[i, k+1:] -= f * A[k, k+1:]"""
    g, n, array, count = square()

    def column(k, _, a):
        def row(i, _, b):
            factor = g.op("divide", g.at(b, i, k), g.at(b, k, k))
            b = g.set_at(b, [i, k], factor)
            start, extent = f"{k} + 1", f"{n} - {k} - 1"
            above = g.row(b, k, start, extent)
            place = g.row(b, i, start, extent)
            change = g.op("multiply", g.spread(factor, above), above, kind=above.kind)
            return [g.store(b, place, g.op("subtract", place, change))]

        return g.loop(count, [a], row, g.dim(f"{k} + 1"))

    g.loop(count, [array], column)
    g.ret()
    return g.text()


def mean_of_neighbours(g, a, base, shape):
    """base[1:-1, 1:-1] = 0.25 * (a up + down + left + right)"""
    total = g.op("add", g.view(a, [0, 1], shape), g.view(a, [2, 1], shape))
    total = g.op("add", total, g.view(a, [1, 0], shape))
    total = g.op("add", total, g.view(a, [1, 2], shape))
    quarter = g.float(0.25)
    return g.store(base, g.view(base, [1, 1], shape), g.op("multiply", g.spread(quarter, total), total))


def jacobi():
    """for t: B[1:-1, 1:-1] = 0.25 * (A up + down + left + right); A, B = B, A"""
    g, n, m, [first], count = with_steps(1)
    shape = [f"{n} - 2", f"{m} - 2"]
    a, b = g.op("copy", first), g.op("copy", first)

    def sweep(_symbol, _, a, b):
        return [mean_of_neighbours(g, a, b, shape), a]

    a, b = g.loop(count, [a, b], sweep)
    g.ret(a)
    return g.text()


def jacobi_in_place():
    """for t: A[1:-1, 1:-1] = 0.25 * (A up + down + left + right)"""
    g, n, m, [first], count = with_steps(1)
    shape = [f"{n} - 2", f"{m} - 2"]

    def sweep(_symbol, _, a):
        return [mean_of_neighbours(g, a, a, shape)]

    g.loop(count, [first], sweep)
    g.ret()
    return g.text()


def fdtd():
    """ey[0, :] = t; ey[1:] -= 0.5 * (hz[1:] - hz[:-1]); ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1]); hz[:-1, :-1] -= ..."""
    g, n, m, [ex, ey, hz], count = with_steps(3)

    def change(base, view, factor, *parts):
        total = parts[0]
        for op, part in zip(("subtract", "add", "subtract"), parts[1:], strict=False):
            total = g.op(op, total, part)
        factor = g.float(factor)
        return g.store(base, view, g.op("subtract", view, g.op("multiply", g.spread(factor, total), total)))

    def step(t, counter, ex, ey, hz):
        top = g.row(ey, 0, 0, m)
        value = g.op("astype", counter, kind="py_scalar float64")
        ey = g.store(ey, top, g.spread(value, top))
        s = [f"{n} - 1", m]
        ey = change(ey, g.view(ey, [1, 0], s), 0.5, g.view(hz, [1, 0], s), g.view(hz, [0, 0], s))
        s = [n, f"{m} - 1"]
        ex = change(ex, g.view(ex, [0, 1], s), 0.5, g.view(hz, [0, 1], s), g.view(hz, [0, 0], s))
        s = [f"{n} - 1", f"{m} - 1"]
        hz = change(
            hz, g.view(hz, [0, 0], s), 0.7,
            g.view(ex, [0, 1], s), g.view(ex, [0, 0], s), g.view(ey, [1, 0], s), g.view(ey, [0, 0], s),
        )  # fmt: skip
        return [ex, ey, hz]

    g.loop(count, [ex, ey, hz], step)
    g.ret()
    return g.text()


PROGRAMS = [gauss_seidel, floyd_warshall, smith_waterman, n_body, cholesky_rows, lu_rows, jacobi, jacobi_in_place, fdtd]
