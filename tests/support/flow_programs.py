"""Random programs with loops, branches, element access, views, masks and mutation: valid by trial in NumPy.

A program is a list of statements, with nested statements inside them. A statement with which the function raises or warns in
NumPy is (mostly) dropped. All choices come from a random.Random, so a seed determines a program and Hypothesis can shrink one.
"""

import dataclasses
import warnings

from support.programs import Argument, define

# Sizes of the dims i and j: for the captured call and two later ones.
SIZES = [
    [(5, 4), (7, 3), (2, 6)],
    [(4, 4), (9, 9), (1, 1)],
    [(3, 2), (1, 5), (0, 3)],
    [(0, 2), (4, 3), (6, 0)],
    [(20, 3), (3, 20), (25, 2)],
]
LAYOUTS = ["C", "C", "C", "C", "F", "stepped", "reversed", "padded", "readonly"]
FAMILIES = [
    ["f8"],
    ["f8"],
    ["f8", "f8", "i8"],
    ["f8", "i8", "?"],
    ["f4", "f8"],
    ["f4"],
    ["i8", "i4"],
    ["c16", "f8"],
    ["c8", "f4"],
]
MOST_LINES = 60


@dataclasses.dataclass
class FlowProgram:
    arguments: dict  # name -> Argument, or the text of a number
    lines: list
    results: str
    sizes: list

    @property
    def source(self):
        body = "".join(f"    {line}\n" for line in self.lines)
        return f"def program({', '.join(self.arguments)}):\n{body}    return {self.results}\n"

    def inputs(self, sizes):
        """The values differ from call to call, so that later calls take other branches."""
        shift = self.sizes.index(sizes) * 1000
        made = (dataclasses.replace(a, seed=a.seed + shift) for a in self.arguments.values())
        return [a.make((*sizes, 2, 2)) for a in made]


class FlowWriter:
    """Writes a program. Arrays have a name and letters for their dims; a view or selection of unknown length has new dims."""

    def __init__(self, random):
        self.random = random
        self.arrays = {}  # name -> dims
        self.numbers = []  # floats and integers
        self.integers = []  # small, not negative
        self.indices = []  # (name, dim): at least 0 and below the dim's size
        self.loops = 0
        self.made = 0
        self.program = FlowProgram({}, [], "None", list(random.choice(SIZES)))
        self.draw_arguments()

    def draw_arguments(self):
        r = self.random
        family = r.choice(FAMILIES)
        for name in "abcd"[: r.randint(2, 4)]:
            dims = r.choice(["i", "i", "i", "j", "ij", "ij"])
            layout = r.choice(LAYOUTS) if r.random() < 0.3 else "C"
            self.program.arguments[name] = Argument(dims, r.choice(family), layout, r.randint(0, 999))
            self.arrays[name] = dims
        for name, texts, names in (
            ("s", ["0.5", "2.5", "-1.25", "np.float64(0.75)", "1"], self.numbers),
            ("k", ["2", "3", "5"], self.integers),
        ):
            self.program.arguments[name] = Argument("", "", "", 0, r.choice(texts))
            names.append(name)

    # --- expressions ------------------------------------------------------------------------------------------------

    def pick(self, *kinds):
        """Calls a function chosen at random; a number before a function is its weight."""
        return self.random.choice(kinds)()

    def name(self, *dims):
        """The name of an array, with one of the dims if they are given; None when there is none."""
        names = [n for n, d in self.arrays.items() if not dims or d in dims]
        return self.random.choice(names[-4:] if self.random.random() < 0.5 else names) if names else None

    def constant(self):
        return self.random.choice(["0.5", "2", "1", "-1.5", "0.25", "3", "0.0", "np.float32(0.5)", "1e-3"])

    def whole(self):
        r = self.random
        simple = [*self.integers, *(n for n, _ in self.indices), "1", "2", "3"]
        kinds = [r.choice(simple)] * 3
        kinds += [f"({r.choice(simple)} + {r.choice(simple)}) % 7", f"{r.choice(simple)} // 2", f"len({self.name()})"]
        kinds += [
            f"({r.choice(simple)} * 5 + 1) & 3",
            f"{self.name()}.shape[0]",
            f"min({r.choice(simple)}, {r.choice(simple)})",
        ]
        return r.choice(kinds)

    def index(self, dim):
        """An index that is in bounds, unless the dim is empty."""
        r = self.random
        known = [n for n, d in self.indices if d == dim]
        kinds = ["0", "-1", f"({self.whole()}) % {self.length(dim)}"]
        if known:
            i = r.choice(known)
            kinds += [i] * 6 + [f"{i} // 2", f"-{i} - 1", f"{i} - 1"]
        return r.choice(kinds)

    def length(self, dim):
        for name, dims in self.arrays.items():
            if dim in dims:
                return f"len({name})" if dims[0] == dim else f"{name}.shape[1]"
        return "1"

    def element(self):
        name = self.name("i", "j", "ij", "ij")
        if name is None:
            return self.constant()
        dims = self.arrays[name]
        return f"{name}[{', '.join(self.index(d) for d in dims)}]"

    def number(self):
        r = self.random
        kinds = [lambda: r.choice(self.numbers)] * 4 + [self.element] * 4 + [self.constant] * 2 + [self.whole]
        kinds += [lambda: f"{r.choice(self.numbers)} {r.choice('+-*')} {self.element()}"]
        kinds += [lambda: f"abs({self.element()})", lambda: f"0.5 * ({r.choice(self.numbers)} + {self.element()})"]
        kinds += [lambda: f"{r.choice(['min', 'max'])}({r.choice(self.numbers)}, {self.element()})", self.reduced]
        return self.pick(*kinds)

    def reduced(self):
        r, name = self.random, self.name()
        return r.choice(
            [
                f"{name}.sum()",
                f"{name}.mean()",
                f"np.max({name})",
                f"np.abs({name}).sum()",
                f"{name}.sum() * 0.1",
                f"np.sqrt(np.sum({name} * {name}))",
            ]
        )

    def condition(self):
        r = self.random
        compare = ["<", ">", "<=", ">=", "==", "!="]
        kinds = [lambda: f"{self.element()} {r.choice(compare)} {self.number()}"] * 4
        kinds += [lambda: f"{r.choice(self.numbers)} {r.choice(compare)} {self.number()}"] * 2
        kinds += [lambda: f"{self.whole()} {r.choice(compare)} {self.whole()}", lambda: f"{self.whole()} % 2"]
        kinds += [lambda: f"np.any({self.name()} > {self.constant()})", lambda: f"({self.name()} < {self.number()}).all()"]
        kinds += [lambda: f"-1 < {self.element()} < {self.constant()}", lambda: f"{r.choice(self.numbers)}"]
        text = self.pick(*kinds)
        if r.random() < 0.15:
            text = f"{text} {r.choice(['and', 'or'])} {self.pick(*kinds)}"
        return f"not {text}" if r.random() < 0.05 else text

    def operand(self, dims):
        """Something that broadcasts to the dims."""
        r = self.random
        fits = [d for d in dict.fromkeys((dims, dims[-1:])) if self.name(d)]
        if not fits or r.random() < 0.3:
            return self.number()
        name = self.name(*fits)
        return name if r.random() < 0.8 else f"{name}[::-1]"

    def expression(self, dims):
        r = self.random
        x, y, z = (self.operand(dims) for _ in range(3))
        kinds = [f"{x} {r.choice('+-*')} {y}"] * 4 + [f"0.5 * ({x} + {y}) - {z}"] * 2
        kinds += [f"np.where({x} > {y}, {x}, {z})", f"np.{r.choice(['maximum', 'minimum', 'hypot'])}({x}, {y})"]
        kinds += [
            f"np.{r.choice(['abs', 'sqrt', 'floor', 'sin', 'tanh', 'square'])}({x})",
            f"np.sqrt(np.abs({x}))",
            f"{x} ** 2",
        ]
        kinds += [f"{x} / ({y} * {y} + 1)", f"-{x}", f"({x} - {y}) * 0.25", f"np.clip({x}, -1, 2)", f"({x} > {y}) & ({x} < 2)"]
        return r.choice(kinds)

    # --- simple statements ------------------------------------------------------------------------------------------

    def simple(self):
        kinds = [self.accumulate] * 4 + [self.store_element] * 4 + [self.new_array] * 3 + [self.update_array] * 3
        kinds += [self.store_slice] * 2 + [self.store_mask] * 2 + [self.new_view, self.count, self.swap, self.append]
        kinds += [self.new_number] * 2 + [self.gather]
        return [self.pick(*kinds)]

    def fresh(self):
        self.made += 1
        return f"v{self.made}"

    def target(self):
        """The dims of some existing array."""
        return self.arrays[self.name()]

    def accumulate(self):
        return f"{self.random.choice(self.numbers)} {self.random.choice(['+=', '-=', '+=', '=', '*='])} {self.number()}"

    def new_number(self):
        name = self.random.choice(["t", "p", "q"])
        line = f"{name} = {self.number()}"
        if self.random.random() < 0.2:
            line += f" if {self.condition()} else {self.number()}"
        if name not in self.numbers:
            self.numbers.append(name)
        return line

    def count(self):
        return self.random.choice(
            [f"n += {self.whole()}", f"n = (n * 3 + {self.whole()}) % 11", f"n ^= {self.whole()}", "n += 1"]
        )

    def store_element(self):
        target = self.element()
        if not target.endswith("]"):
            return "n += 1"
        return f"{target} {self.random.choice(['=', '=', '+=', '-=', '*='])} {self.number()}"

    def new_array(self):
        dims = self.target()
        old = [n for n, d in self.arrays.items() if d == dims]
        kinds = [self.expression(dims)] * 4 + [f"{self.random.choice(old)}.copy()", f"np.zeros_like({self.random.choice(old)})"]
        text = self.random.choice(kinds)
        name = self.random.choice(old) if self.random.random() < 0.4 else self.fresh()
        self.arrays[name] = dims
        return f"{name} = {text}"

    def update_array(self):
        dims = self.target()
        return f"{self.name(dims)} {self.random.choice(['+=', '-=', '*='])} {self.operand(dims)}"

    def store_slice(self):
        r = self.random
        name, other = self.name("i"), self.name("i")
        table = self.name("ij")
        kinds = []
        if name:
            i = self.index("i")
            kinds += [
                f"{name}[1:] = {other}[:-1]",
                f"{name}[1:-1] = 0.5 * ({other}[2:] + {other}[:-2])",
                f"{name}[{i}:] {r.choice(['=', '+='])} {self.number()}",
            ]
            kinds += [
                f"{name}[: {self.whole()}] = {self.number()}",
                f"{name}[::2] *= {self.number()}",
                f"{name}[...] = {self.operand('i')}",
            ]
        if table:
            i, j = self.index("i"), self.index("j")
            kinds += [
                f"{table}[{i}] {r.choice(['=', '+=', '*='])} {self.operand('j')}",
                f"{table}[:, {j}] = {self.operand('i')}",
            ]
            kinds += [
                f"{table}[1:, 1:] = {table}[:-1, :-1]",
                f"{table}[{i}, {j}:] -= {self.number()}",
                f"{table}[:] = {self.expression('ij')}",
            ]
        return r.choice(kinds) if kinds else "n += 2"

    def store_mask(self):
        r, dims = self.random, self.target()
        name, other = self.name(dims), self.name(dims)
        mask = f"{other} {r.choice(['<', '>', '=='])} {self.number()}"
        return r.choice(
            [
                f"{name}[{mask}] = {self.number()}",
                f"{name}[{mask}] {r.choice(['+=', '*='])} {self.number()}",
                f"{name}[{mask}] = {other}[{mask}] * 0.5",
            ]
        )

    def new_view(self):
        r, name = self.random, self.name()
        dims, made = self.arrays[name], self.fresh()
        kinds = [(f"{name}[::-1]", dims), (f"{name}[::2]", f"?{made}"), (f"{name}[{self.whole()}:]", f"?{made}")]
        if dims == "ij":
            kinds += [(f"{name}[{self.index('i')}]", "j"), (f"{name}[:, {self.index('j')}]", "i"), (f"{name}.T", "ji")] * 2
        text, self.arrays[made] = r.choice(kinds)
        return f"{made} = {text}"

    def swap(self):
        r = self.random
        one = self.name()
        two = self.name(self.arrays[one])
        dims = self.arrays[one]
        if r.random() < 0.5 or dims not in ("i", "j"):
            return f"{one}, {two} = {two}, {one}"
        i, j = self.index(dims), self.index(dims)
        return f"{one}[{i}], {one}[{j}] = {one}[{j}], {one}[{i}]"

    def append(self):
        return f"found.append({self.number()})"

    def gather(self):
        name, made = self.name("i", "j"), self.fresh()
        if not name:
            return "n += 3"
        text = self.random.choice([f"np.arange(len({name})) // 2", f"np.argsort({name}, kind='stable')", "[0, -1]"])
        line = f"{made} = {name}[{text}]"
        self.arrays[made] = self.arrays[name] if text[0] != "[" else f"?{made}"
        return line

    # --- compound statements ----------------------------------------------------------------------------------------

    def statement(self, depth):
        r = self.random
        if depth < 3 and r.random() < (0.65 if depth == 0 else 0.35):
            return r.choice([self.branch, self.loop, self.loop, self.while_loop, self.own_places])(depth)
        if self.loops and r.random() < 0.1:
            return [f"if {self.condition()}:", f"    {r.choice(['break', 'continue'])}"]
        if depth and r.random() < 0.03:
            return [f"if {self.condition()}:", f"    return {self.random.choice(self.numbers)}, n"]
        return self.simple()

    def block(self, depth):
        """An indented block; names that it defines are not available outside."""
        kept = dict(self.arrays), list(self.numbers), list(self.integers), list(self.indices)
        lines = []
        for _ in range(self.random.choice([1, 1, 2, 2, 3])):
            lines += self.statement(depth + 1)
        self.arrays, self.numbers, self.integers, self.indices = kept
        return [f"    {line}" for line in lines]

    def branch(self, depth):
        lines = [f"if {self.condition()}:", *self.block(depth)]
        if self.random.random() < 0.3:
            lines += [f"elif {self.condition()}:", *self.block(depth)]
        if self.random.random() < 0.5:
            lines += ["else:", *self.block(depth)]
        return lines

    def loop(self, depth):
        r, i = self.random, "xyzw"[self.loops]
        name, other = self.name("i", "j", "ij"), self.name("i")
        if name is None:
            return self.simple()
        dim, kept = self.arrays[name][0], (list(self.numbers), list(self.integers), list(self.indices), dict(self.arrays))
        size = f"len({name})"
        kinds = ["range", "range", "range", "part", "times", "enumerate", "each", "zip", "constants", "reversed"]
        kind = r.choice(kinds)
        flat = self.arrays[name] in ("i", "j")
        if kind in ("range", "reversed"):
            text = f"for {i} in reversed(range({size})):" if kind == "reversed" else f"for {i} in range({size}):"
            self.indices.append((i, dim))
        elif kind == "part":
            outer = [n for n, d in self.indices if d == dim]
            begin = r.choice([*(f"{n} + 1" for n in outer), *outer, "1", "2"])
            text = r.choice(
                [
                    f"for {i} in range({begin}, {size}):",
                    f"for {i} in range({size} - 1, 0, -1):",
                    f"for {i} in range(0, {size}, 2):",
                ]
            )
            self.indices.append((i, dim))
        elif kind == "times":
            text = f"for {i} in range({r.choice([*self.integers, '3', '4'])}):"
            self.integers.append(i)
        elif kind == "enumerate" and flat:
            text = f"for {i}, e{i} in enumerate({name}):"
            self.indices.append((i, dim))
            self.numbers.append(f"e{i}")
        elif kind == "zip" and flat and other:
            text = f"for e{i}, f{i} in zip({name}, {other}):"
            self.numbers += [f"e{i}", f"f{i}"]
        elif kind == "constants":
            text = f"for e{i} in {r.choice(['(0.5, 1.5)', '[1, 2, 3]', '(1, -0.5, 2)'])}:"
            self.numbers.append(f"e{i}")
        elif flat:
            text = f"for e{i} in {name}:"
            self.numbers.append(f"e{i}")
        else:
            text = f"for e{i} in {name}:"
            self.arrays[f"e{i}"] = "j"
        self.loops += 1
        lines = [text, *self.block(depth)]
        self.loops -= 1
        self.numbers, self.integers, self.indices, self.arrays = kept
        return lines + (["else:", *self.block(depth)] if r.random() < 0.1 else [])

    def own_places(self, depth):
        """A loop that stores at its counter; many of these have independent iterations."""
        r, i = self.random, "xyzw"[self.loops]
        name = self.name("i", "j", "ij")
        if name is None:
            return self.simple()
        dim, kept = self.arrays[name][0], (list(self.numbers), list(self.indices))
        size = f"len({name})"
        head = r.choice(
            [f"range({size})", f"range({size})", f"range(1, {size})", f"range({size} - 1, -1, -1)", f"range(0, {size}, 3)"]
        )
        self.indices.append((i, dim))
        self.loops += 1
        lines = []
        for _ in range(r.randint(1, 3)):
            if r.random() < 0.4:
                lines.append(f"p = {r.choice(self.numbers[:1] + [self.element(), self.element()])} * {self.constant()}")
                self.numbers.append("p")
            target = r.choice([n for n, d in self.arrays.items() if d[0] == dim])
            row = self.arrays[target] == "ij" and r.random() < 0.4
            place = f"{target}[{i}]" if row or self.arrays[target] != "ij" else f"{target}[{i}, {self.index('j')}]"
            store = f"{place} {r.choice(['=', '=', '+=', '*='])} {self.operand('j') if row else self.number()}"
            lines += [f"if {self.condition()}:", f"    {store}"] if r.random() < 0.3 else [store]
        self.loops -= 1
        self.numbers, self.indices = kept
        return [f"for {i} in {head}:", *(f"    {line}" for line in lines)]

    def while_loop(self, depth):
        """A while loop, ended by a new counter."""
        r, c = self.random, f"c{self.loops}"
        if self.loops > 2:
            return self.simple()
        most = r.choice(["3", "5", "k", "8"])
        head = r.choice([f"while {c} < {most} and ({self.condition()}):", f"while {c} < {most}:", "while True:"])
        kept = list(self.integers)
        self.integers.append(c)
        self.loops += 1
        lines = [f"{c} = 0", head, f"    {c} += 1"]
        if head == "while True:":
            lines += [f"    if {c} > {most} or {self.condition()}:", "        break"]
        lines += self.block(depth)
        self.loops -= 1
        self.integers = kept
        return lines + (["else:", *self.block(depth)] if r.random() < 0.15 else [])

    # --- programs ---------------------------------------------------------------------------------------------------

    def works(self, lines, results):
        """Whether the program runs in NumPy for all sizes without an error, a warning or too many steps."""
        trial = dataclasses.replace(self.program, lines=lines, results=results)
        if len(lines) > MOST_LINES:
            return False
        try:
            function = define(trial.source)
            for sizes in self.program.sizes:
                with warnings.catch_warnings():
                    warnings.simplefilter("error")
                    function(*trial.inputs(sizes))
        except Exception:  # the program is not a valid one
            return False
        return True

    def write(self, statements):
        r = self.random
        lines = ["t = 0.0", "n = 0", "found = []"]
        self.numbers.append("t")
        self.integers.append("n")
        for _ in range(3 * statements):
            if statements <= 0:
                break
            kept = dict(self.arrays), list(self.numbers)
            more = self.statement(0)
            if self.works(lines + more, "t") or r.random() < 0.03:
                lines += more
                statements -= 1
            else:
                self.arrays, self.numbers = kept
        made = [n for n in self.arrays if n not in self.program.arguments][-2:]
        self.program.lines = lines
        self.program.results = ", ".join(["t", "n", *made, *(["found"] if r.random() < 0.3 else [])])
        return self.program


def write_flow_program(random, statements=None):
    return FlowWriter(random).write(statements or random.randint(1, 5))
