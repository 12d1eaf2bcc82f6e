"""What a loop computes again in each iteration is computed once before it, where that is worth memory."""

import re

import numpy as np
import pytest
from support.compiled import facts
from support.differential import check, check_at_exits, sample
from support.outcome import assert_same, copied

import accel


def ops_in_loops(call, *arguments):
    """The names of the operations in the blocks from which the graph comes back to them."""
    text = accel.explain(call)(*arguments).graph
    blocks = {}
    for number, body in re.findall(r"^  b(\d+)\b.*?:\n(.*?)(?=^  b\d|^})", text, re.M | re.S):
        end = body.rstrip().splitlines()[-1]
        to = re.findall(r"\bb(\d+)\(", end) if end.split("(")[0].split()[0] in ("jump", "branch") else []
        blocks[number] = re.findall(r"^    %.*? = (\w+)\(", body, re.M), to

    def reached(start):
        seen, left = set(), list(blocks[start][1])
        while left:
            if (b := left.pop()) not in seen:
                seen.add(b)
                left.extend(blocks[b][1])
        return seen

    return {op for b, (ops, _) in blocks.items() if b in reached(b) for op in ops}


def check_hoisted(function, *arguments, out, inside=()):
    """Compiled, NumPy's results, and `out` are computed in no loop, `inside` are."""
    arguments = [copied(a) for a in arguments]
    call = check_at_exits(function, *arguments, most=12)
    found = ops_in_loops(call, *arguments)
    assert not found & set(out) and found >= set(inside), found
    return call


# --- what is worth it ---------------------------------------------------------------------------------------------------------


def scaled_matrix(a, x, limit):
    while True:
        new = 0.5 * a @ x + 1
        if np.abs(new - x).sum() < limit:
            return new
        x = new


def product(a, b, x, steps):
    for _ in range(steps):
        x = x + a @ b
    return x


def transcendental(a, x, steps):
    for _ in range(steps):
        x = x * np.exp(a)
    return x


def two_for_one(a, b, x, steps):
    for _ in range(steps):
        x = x + a * b
    return x


def reduced(a, x, steps):
    for _ in range(steps):
        x = x + (a * a).sum() + a.max()
    return x


def divided(a, x, steps):
    for _ in range(steps):
        x = x + a / 3.0
    return x


def sums_of_rows(a, x, steps):
    for _ in range(steps):
        x = x - a.sum(axis=1)
    return x


def accumulated(a, x, steps):
    for _ in range(steps):
        x = x - a.cumsum()
    return x


def looked_up(a, where, x, steps):
    for _ in range(steps):
        x = x + np.sqrt(a[where])
    return x


def of_a_part(a, b, x, steps):
    for _ in range(steps):
        x = x + a[1:-1] * np.exp(b[1:-1])
    return x


def rows(a, w, out):
    for i in range(len(a)):
        out[i] = (a[i] * np.exp(w)).sum()
    return out


def nested(a, x, n):
    for _ in range(n):
        for _ in range(n):
            x = x + np.log(a)
        x = x * 0.5
    return x


def nested_row(a, x, n):
    for i in range(n):
        for _ in range(n):
            x = x + np.sin(a[i])
        x = x * 0.5
    return x


def after_a_branch(a, x, n, way):
    if way > 0:
        x = x + 1
    k = 0
    while k < n:
        x = x + np.tanh(a)
        k += 1
    return x


A, B, X = np.abs(sample(40, seed=1)), np.abs(sample(40, seed=2)), sample(40, seed=3)
M, N = sample((30, 30), seed=4) / 200, sample((30, 30), seed=5)
POSITIONS = np.arange(40)[::-1].copy()


@pytest.mark.parametrize(
    ("function", "arguments", "out", "inside"),
    [
        (scaled_matrix, (M, X[:30].copy(), 1e-8), ["multiply"], ["matmul"]),
        (product, (M, N, np.ones((30, 30)), 5), ["matmul"], ["add"]),
        (transcendental, (A, X, 5), ["exp"], ["multiply"]),
        (two_for_one, (A, B, X, 5), ["multiply"], ["add"]),
        (reduced, (A, X, 5), ["reduce", "multiply"], ["add"]),
        (divided, (A, X, 5), ["divide"], ["add"]),
        (sums_of_rows, (M, X[:30].copy(), 5), ["reduce"], ["subtract"]),
        (accumulated, (A, X, 5), ["accumulate"], ["subtract"]),
        (of_a_part, (A, B, X[1:-1].copy(), 5), ["exp", "multiply"], ["add"]),
        (rows, (M, X[:30].copy(), np.zeros(30)), ["exp"], ["reduce"]),
        (nested, (A, X, 4), ["log"], ["add"]),
        (after_a_branch, (A, X, 5, 1), ["tanh"], ["add"]),
        (after_a_branch, (A, X, 5, -1), ["tanh"], ["add"]),
    ],
)
def test_computed_once(function, arguments, out, inside):
    check_hoisted(function, *arguments, out=out, inside=inside)


def test_indices_are_checked_once():
    check(looked_up, A, POSITIONS, X, 5)
    call = accel.compile(looked_up)
    for where in (POSITIONS, POSITIONS + 1, POSITIONS - 41, POSITIONS):
        for steps in (0, 1, 4):
            assert_same(looked_up, call, A, where, X, steps, times=1)


def test_out_of_the_inner_loop():
    check_at_exits(nested_row, np.abs(M[:4]), X[:30].copy(), 4, most=12)
    call = accel.compile(nested_row)
    for n in (4, 0, 1, 5):  # the last one raises
        assert_same(nested_row, call, np.abs(M[:4]), X[:30].copy(), n, times=2)


# --- what stays ---------------------------------------------------------------------------------------------------------------


def cheap(a, x, steps):
    for _ in range(steps):
        x = x + 2.0 * a
    return x


def read_anyway(a, b, x, steps):
    for _ in range(steps):
        x = (x + a * b) * a - b
    return x


def outer(a, b, x, steps):
    total = 0.0
    for k in range(steps):
        total += (x[:, None] * k + a[:, None] / b).sum()
    return total


def in_a_branch(a, x, steps):
    for k in range(steps):
        if x[0] > 100.0:
            x = x + np.exp(a)
        x = x + 1.0
    return x


def own_copy(a, x, steps):
    for k in range(steps):
        own = a * 2.0
        own[k] = 7.0
        x = x + own
    return x


@pytest.mark.parametrize(
    ("function", "arguments", "inside"),
    [
        (cheap, (A, X, 5), ["multiply"]),
        (read_anyway, (A, B, X, 5), ["multiply"]),
        (outer, (A, B, X, 5), ["divide"]),
        (in_a_branch, (A, X, 5), ["exp"]),
        (own_copy, (A, X, 5), ["multiply"]),
    ],
)
def test_stays(function, arguments, inside):
    check_hoisted(function, *arguments, out=[], inside=inside)


# --- order of effects ---------------------------------------------------------------------------------------------------------


def operand_written(a, x, steps):
    before = a.copy()
    for k in range(steps):
        x = x + np.exp(before)
        a[k] = np.sin(x[k])
    return x, a


def operand_written_later(a, x, steps):
    for k in range(steps):
        x = x + np.exp(a)
        a[k] = x[k] / 100
    return x


def result_written_after(a, b, x, steps):
    t = a * b
    for k in range(steps):
        x = x + a * b
    t[0] = 5.0
    return x, t


def result_written_before(a, b, x, steps):
    t = np.exp(a)
    t[0] = 5.0
    for k in range(steps):
        x = x + np.exp(a)
    return x, t


def parts_written(a, x, steps):
    for k in range(steps):
        t = np.exp(a[:10]) + np.exp(a[:10]).sum()
        a[10:20] = t * x[:10]
        x = x * 0.5
    return a, x


def swapped(a, b, x, steps):
    for k in range(steps):
        x = x + np.exp(a) * np.exp(b)
        a, b = b, a
    return x


def handed_over(a, x, steps):
    t = None
    for k in range(steps):
        t = np.exp(a)
        x = x + t
    return x, t


def all_kept(a, x, steps):
    kept = []
    for k in range(steps):
        t = np.exp(a)
        kept.append(t)
        x = x + t
    kept[0][0] = 9.0
    return x, kept


def given_away(a, x, steps, sink):
    for k in range(steps):
        t = np.exp(a)
        sink(t)
        x = x + np.exp(a)
    return x


def two_results(a, x, steps):
    for k in range(steps):
        fraction, whole = np.modf(a)
        x = x + fraction * whole
    return x


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (operand_written, (A, X, 5)),
        (operand_written_later, (A, X, 5)),
        (result_written_after, (A, B, X, 5)),
        (result_written_before, (A, B, X, 5)),
        (parts_written, (A, X, 5)),
        (swapped, (A, B, X, 5)),
        (two_results, (A, X, 5)),
    ],
)
def test_memory(function, arguments):
    arguments = [copied(a) for a in arguments]
    check_at_exits(function, *arguments, most=12)
    for steps in (0, 1, 2):
        check(function, *arguments[:-1], steps)


@pytest.mark.parametrize("function", [handed_over, all_kept])
def test_objects(function):
    call = accel.compile(function)
    for steps in (3, 1, 2, 6):
        assert_same(function, call, A, X, steps, times=2)
    assert facts(call)["compiled"] > 0
    kept = call(A, X, 3)[1]
    if isinstance(kept, list):
        assert not np.shares_memory(kept[0], kept[1])


def test_given_away():
    """What code that is not compiled gets may be kept and changed there."""
    for function in (given_away,):
        seen = [[], []]

        def change(t, log):
            log.append(t.sum())
            t[0] = 0.0

        call = accel.compile(function)
        for _ in range(3):
            got = call(A, X, 4, lambda t: change(t, seen[0]))
            want = function(A, X, 4, lambda t: change(t, seen[1]))
            assert got.tobytes() == want.tobytes()
        assert seen[0] == seen[1]


# --- loops that end early -----------------------------------------------------------------------------------------------------


def breaks(a, x, steps, limit):
    for k in range(steps):
        if x.sum() > limit:
            break
        x = x + np.exp(a)
    else:
        x = -x
    return x, k if steps > 0 else None


def continues(a, x, steps, limit):
    for k in range(steps):
        x = x + np.exp(a)
        if k % 2:
            continue
        x = x * limit
    return x


def returns(a, x, steps, limit):
    for k in range(steps):
        y = np.log(a)
        if k == limit:
            return y, x
        x = x + y
    return x


def raises(a, x, steps, limit):
    for k in range(steps):
        x = x + np.log(a)
        if k == limit:
            raise ValueError(k)
    return x


def caught(a, where, x, steps):
    try:
        for k in range(steps):
            x = x + np.exp(a)[where[k]]
    except IndexError:
        x = x - 1
    return x


@pytest.mark.parametrize("function", [breaks, continues, returns, raises])
@pytest.mark.parametrize("limit", [-1, 0, 2, 1000])
def test_ways_out(function, limit):
    call = accel.compile(function)
    for steps in (4, 0, 1, 7):
        assert_same(function, call, A, X, steps, limit, times=2)
    assert facts(call)["compiled"] > 0


def test_caught():
    call = accel.compile(caught)
    for where in ([1, 2, 3], [0, 99, 1], [50, 1, 2], [39, 0, 0]):
        assert_same(caught, call, A, np.array(where), X, 3, times=2)


# --- events -------------------------------------------------------------------------------------------------------------------


def maybe_never(a, x, limit):
    while x.sum() < limit:
        x = x + 1.0 / a + np.log(a).sum()
    return x


def never_reached(a, x, steps):
    for k in range(steps):
        if x[0] > 0:
            return x
        x = x + np.log(a)
    return x


def sometimes_ignored(a, x, steps):
    for k in range(steps):
        with np.errstate(all="ignore"):
            x = x + np.log(a)
        x = x + 1.0
    return x


def masked(a, x, steps):
    for k in range(steps):
        x = x + np.log(a, where=a > 0, out=np.zeros(len(a)))
    return x


def some(a, x, steps):
    for k in range(steps):
        x = x + np.sqrt(a[a > 0]).sum()
    return x


BAD = [np.where(np.arange(40) == 7, special, A) for special in (0.0, -1.0, np.inf, np.nan)]


@pytest.mark.parametrize("a", [A, *BAD])
@pytest.mark.parametrize("limit", [-np.inf, 100.0])
def test_no_warning_without_iteration(a, limit):
    call = accel.compile(maybe_never)
    outcome = assert_same(maybe_never, call, a, np.abs(X), limit, times=3)
    assert limit > 0 or not outcome.warned
    assert_same(maybe_never, call, A, np.abs(X), limit)
    assert facts(call)["compiled"] > 0


@pytest.mark.parametrize("function", [transcendental, never_reached, sometimes_ignored, masked, some, nested, reduced])
@pytest.mark.parametrize("a", [A, *BAD])
def test_events(function, a):
    """Warnings, or exceptions, come at NumPy's lines and as often."""
    call = accel.compile(function)
    for steps in (3, 0, 1):
        for x in (X, np.abs(X)):
            assert_same(function, call, a, x, steps, times=1)
    for how in ("raise", "ignore"):
        with np.errstate(all=how):
            for steps in (3, 0):
                assert_same(function, call, a, X, steps, times=2)
    assert_same(function, call, A, X, 3, times=1)
    assert facts(call)["compiled"] > 0


# --- what is only defined after a check --------------------------------------------------------------------------------------


def part(a, x, n, k):
    i = 0
    while i < n:
        if k < len(a):  # noqa: SIM108
            x = x + np.exp(a[k:]).sum()
        else:
            x = x + a[:k].max()
        i += 1
    return x


def extreme(a, x, n):
    for i in range(n):
        x = x + a[a.shape[0] - n :].max() + np.argmin(a)
    return x


def row_of_outer(a, x, n):
    for i in range(n):
        for j in range(n):
            x = x + np.exp(a[i]).sum() + a[i, 1:].max()
    return x


def whole_numbers(a, x, n, k):
    for i in range(n):
        x = x + a.sum() * (n // k) + (7 % k) + 2**k
    return x


def shifted(a, x, n, k):
    for i in range(n):
        if i > k:
            x = x + np.zeros(n - k).sum() + (a[: n - k] * 2).sum()
    return x


@pytest.mark.thorough
def test_after_checks():
    call = accel.compile(part)
    for k in (3, 39, 40, 41, -3, -60):
        for n in (0, 1, 3):
            assert_same(part, call, A, X, n, k, times=1)
    call = accel.compile(extreme)
    for a, n in ((A, 3), (A, 40), (A, 41), (A, 0), (A[:0], 0), (A[:0], 1), (A[:1], 2)):
        assert_same(extreme, call, a, X, n, times=2)
    call = accel.compile(row_of_outer)
    for a, n in ((M, 3), (M, 31), (M[:2], 3), (M[:, :1].copy(), 2), (M[:, :0].copy(), 2), (M[:0], 1), (M[:0], 0)):
        assert_same(row_of_outer, call, a, X, n, times=2)
    call = accel.compile(whole_numbers)
    for n, k in ((3, 2), (3, 0), (0, 0), (2, -1), (0, -1), (3, 1)):
        assert_same(whole_numbers, call, A, X, n, k, times=2)
    call = accel.compile(shifted)
    for n, k in ((5, 2), (5, 9), (5, -1), (45, 2), (0, 3), (0, -3)):
        assert_same(shifted, call, A, X, n, k, times=2)


def pairs(a, m):
    total = 0.0
    for i in range(m):
        for j in range(i + 1, len(a)):
            total += np.exp(a[i]).sum() * j
    return total


def test_counter_known_by_another_counter():
    """That the outer counter is in range follows from the inner one, which it has none of where it is not."""
    check(pairs, M, 10)
    call = accel.compile(pairs)
    for a, m in ((M, 30), (M[:3], 100_000), (M[:1], 100_000), (M[:0], 100_000)):
        assert_same(pairs, call, a, m, times=2)
    assert facts(call)["interpreted"] == 0
