"""Functions whose every step can be observed and made to fail; what happens in them is written to a log."""

import re
import sys
import traceback


class Bomb(Exception):
    pass


class State:
    """Counts operations; operation number `at` raises."""

    def __init__(self):
        self.reset()

    def reset(self, at=-1):
        self.count, self.at, self.log = 0, at, []

    def tick(self, what):
        self.count += 1
        self.log.append(what)
        if self.count == self.at:
            raise Bomb(f"bomb{self.count} {what}")


S = State()
frames_are_visible = True


class X:
    """A number; every operation ticks."""

    def __init__(self, v):
        self.v = v

    def __add__(self, o):
        S.tick("add")
        return X(self.v + (o.v if isinstance(o, X) else o))

    def __mul__(self, o):
        S.tick("mul")
        return X(self.v * (o.v if isinstance(o, X) else o))

    def __neg__(self):
        S.tick("neg")
        return X(-self.v)

    def __lt__(self, o):
        S.tick("lt")
        return self.v < (o.v if isinstance(o, X) else o)

    def __getitem__(self, i):
        S.tick("getitem")
        return X(self.v * 10 + (i if isinstance(i, int) else 0))

    def __setitem__(self, i, v):
        S.tick("setitem")

    def __bool__(self):
        S.tick("bool")
        return bool(self.v)

    def __call__(self, *a, **k):
        S.tick("call")
        return X(self.v + len(a) * 100 + sum(len(s) for s in k))

    def __iter__(self):
        S.tick("iter")
        return Three()

    def __enter__(self):
        S.tick("enter")
        return self

    def __exit__(self, kind, value, tb):
        S.tick("exit")
        S.log.append(("exit", kind and kind.__name__, tb and tb.tb_lineno))
        return self.v == 77

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        S.tick("getattr")
        return X(self.v + 1)

    def __repr__(self):
        return f"X({self.v})"

    def __format__(self, spec):
        S.tick("format")
        return repr(self)


class Three:
    def __init__(self):
        self.n = 3

    def __iter__(self):
        return self

    def __next__(self):
        S.tick("next")
        if self.n == 0:
            raise StopIteration
        self.n -= 1
        return X(self.n)


def where():
    """Logs what the caller's frame shows."""
    if frames_are_visible:
        f = sys._getframe(1)
        S.log.append(("at", f.f_code.co_name, f.f_lineno, sorted(f.f_locals)))


def expression(a, b):
    return (a + b) * (a[1] + b.foo) + (
        -a) * b(1,
                a[2], k=3)  # fmt: skip


def keywords(a, b=X(5), *args, c=X(6), **kw):
    r = a + b
    r = r + c * len(args)
    for k in sorted(kw):
        r = r + kw[k]
    where()
    return r


def loop(a, b):
    s = a
    for x in a:
        if x < 2:
            s = s + x * b
        else:
            s[0] = x
        where()
    return s


def while_loop(a, b):
    i = 0
    while i < 4:
        i += 1
        if i == 3:
            continue
        a = a + i
    return a


def try_except(a, b):
    r = a
    try:
        r = a + b
        r = -r
        where()
        r = r[3](a)
    except Bomb as e:
        S.log.append(("caught", e.__traceback__.tb_lineno, sys.exc_info()[0].__name__))
        where()
        r = a * 2
    finally:
        S.log.append("finally")
        r = r + 1
    return r


def try_nested(a, b):
    try:
        for i in a:
            try:
                -b
                a = a + i
            except ZeroDivisionError:
                S.log.append("no")
            else:
                a = a * 2
            finally:
                S.log.append("fin")
                where()
    except Bomb as e:
        S.log.append(("caught", [t.lineno for t in traceback.extract_tb(e.__traceback__)]))
        return a, e.args
    return a


def with_blocks(a, b):
    with a as p, b(1) as q:
        r = p + q
        where()
        with p.child as z:
            r = -r
        r = r * z
    return r


def with_in_loop(a, b):
    for i in a:
        with b as q:
            if i < 1:
                break
            a = a + q
    return a


def closure(a, b):
    t = a + b

    def inner(z):
        nonlocal t
        t = t + z
        return t * b

    u = inner(a)
    where()
    return u + t, inner


def make_free_variables():
    p, q = X(3), X(4)

    def free_variables(a, b):
        nonlocal p
        p = p + a

        def deep():
            return p, q, b

        return p * q + b, deep()[0]

    return free_variables


def comprehension(a, b):
    values = [x + b for x in a]
    return [y for y in values if y < 100]


class Methods:
    k = X(9)

    def method(self, a, b):
        self.z = a + b
        super().__init__  # noqa: B018
        return self.z * self.k + self.plus(a)

    def plus(self, a):
        return a + 1


def deleted(a, b):
    t = a + b
    del b
    try:
        return t + b  # noqa: F821
    except UnboundLocalError:
        S.log.append("unbound")
        return t


def f_string(a, b):
    return f"{a}-{b!r}:{a + b}"


def unbound_first_in_try(a, b):
    if b.v == 12345:
        zz = 1
    try:
        zz  # noqa: B018
    except UnboundLocalError as e:
        S.log.append(("unbound", e.__traceback__.tb_lineno))
        return a
    return a + zz


def defaults(a, b):
    def inner(x, y=a, *, z=b):
        return x + y * z

    return inner(b) + inner(a, y=b, z=a)


def conditional(a, b):
    r = a if a < b else b
    s = (r and b) or a
    return s + (r if r is not None else a), a in (b, a), not s


def make_many():
    """Needs EXTENDED_ARG for its constants and jumps."""
    lines = ["def many(a, b):", "    x = 0", *(f"    x = x + {i}.5" for i in range(300))]
    lines += ["    for i in range(2):", *(f"        x = x + {i}.25" for i in range(300)), "    return a + x"]
    namespace = {}
    exec(compile("\n".join(lines), "many.py", "exec"), namespace)
    return namespace["many"]


many = make_many()


def plain(function):
    return lambda: function


def two(f):
    return f(X(2), X(3))


def call_closure(f):
    r = f(X(2), X(3))
    return r[0], r[1](X(1)), r[1](X(2))


# name -> (makes the function anew, calls it)
CASES = {
    "expression": (plain(expression), two),
    "keywords": (plain(keywords), lambda f: f(X(2), X(3), 1, 2, c=X(8), y=X(1), x=X(2))),
    "keyword_defaults": (plain(keywords), lambda f: f(X(2))),
    "loop": (plain(loop), two),
    "while_loop": (plain(while_loop), two),
    "try_except": (plain(try_except), two),
    "try_nested": (plain(try_nested), two),
    "with_blocks": (plain(with_blocks), two),
    "with_suppresses": (plain(with_blocks), lambda f: f(X(77), X(3))),
    "with_in_loop": (plain(with_in_loop), two),
    "closure": (plain(closure), call_closure),
    "free_variables": (make_free_variables, two),
    "comprehension": (plain(comprehension), two),
    "method": (plain(Methods.method), lambda f: f(Methods(), X(2), b=X(3))),
    "deleted": (plain(deleted), two),
    "f_string": (plain(f_string), two),
    "unbound_first_in_try": (plain(unbound_first_in_try), two),
    "defaults": (plain(defaults), two),
    "conditional": (plain(conditional), two),
    "many": (plain(many), two),
}


def positions(error):
    """Line and columns of each traceback entry after this module's own."""
    out, tb = [], error.__traceback__.tb_next.tb_next
    while tb:
        where = list(tb.tb_frame.f_code.co_positions())[tb.tb_lasti // 2]
        out.append((tb.tb_frame.f_code.co_name, tb.tb_lineno, where))
        tb = tb.tb_next
    return out


def observe(call, function, at=-1):
    """What one call does: result or exception, log, count of operations, traceback."""
    S.reset(at)
    try:
        result, tb = repr(call(function)), None
    except Exception as e:
        tb = positions(e)
        result = (type(e).__name__, str(e), type(e.__context__).__name__)
    return re.sub("0x[0-9a-f]+", "0x", str(result)), S.log, S.count, tb
