"""Writes the text of graphs with control flow, as capture would build them."""


class Value(str):
    """Name of a value, with its type."""

    kind: str

    def __new__(cls, name, kind):
        made = super().__new__(cls, name)
        made.kind = kind
        return made


def dtype_of(kind):
    return kind.replace("[", " ").split()[1]


class GraphText:
    """A graph under construction: methods append to the current block and give names of values."""

    def __init__(self):
        self.symbols, self.head, self.blocks, self.symbol_count, self.next, self.exits = [], [], [["  b0:"]], 0, 0, 0
        self.block = 0

    # --- inputs and blocks
    def symbol(self, name="n", hint=10):
        self.symbols.append(f'  symbol s{self.symbol_count} "{name}" = {hint}')
        self.symbol_count += 1
        return f"s{self.symbol_count - 1}"

    def name(self):
        self.next += 1
        return f"%{self.next - 1}"

    def array(self, dtype, dims, layout="dense"):
        name = self.name()
        self.head.append(f'  input {name} "a" : array {dtype}[{dims}] {layout}')
        return Value(name, f"array {dtype}[{dims}]")

    def scalar_input(self, kind, symbol):
        name = self.name()
        self.head.append(f'  input {name} "x" : {kind} slot {symbol[1:]}')
        return Value(name, kind)

    def new_block(self, kinds=()):
        params = [Value(self.name(), kind) for kind in kinds]
        text = ", ".join(f"{p} : {p.kind}" for p in params)
        number = len(self.blocks)
        self.blocks.append([f"  b{number}({text}):" if params else f"  b{number}:"])
        return number, params

    def move_to(self, block):
        self.block = block

    def line(self, text):
        self.blocks[self.block].append("    " + text)

    def node(self, op, operands, kind, attributes=""):
        result = Value(self.name(), kind)
        attributes = f" {{{attributes}}}" if attributes else ""
        self.line(f"{result} = {op}({', '.join(operands)}){attributes} : {kind}")
        return result

    # --- control flow
    def jump(self, block, arguments=()):
        self.line(f"jump b{block}({', '.join(arguments)})")

    def branch(self, condition, then, otherwise, then_arguments=(), otherwise_arguments=()):
        self.line(f"branch({condition}) b{then}({', '.join(then_arguments)}) b{otherwise}({', '.join(otherwise_arguments)})")

    def ret(self, *values):
        self.line(f"ret({', '.join(values)})")

    def require(self, condition, *live):
        """Leaves through an exit of its own unless the condition holds."""
        self.exits += 1
        out, _ = self.new_block()
        on, _ = self.new_block()
        self.branch(condition, on, out)
        self.move_to(out)
        self.line(f"leave {self.exits}({', '.join(live)})")
        self.move_to(on)

    def loop(self, count, carried, body, first=None):
        """for i in range(first, count): carried = body(i's symbol, i, *carried). count: an int64 value. Returns carried."""
        header, params = self.new_block(["py_scalar int64", *[c.kind for c in carried]])
        first = first or self.int(0)
        self.jump(header, [first, *carried])
        self.move_to(header)
        inside, _ = self.new_block()
        after, _ = self.new_block()
        self.branch(self.node("less", [params[0], count], "py_scalar bool"), inside, after)
        self.move_to(inside)
        symbol = self.symbol("i", 0)
        self.node("bind", [params[0]], "py_scalar int64", f"dims = [{symbol}]")
        results = body(symbol, *params) or params[1:]
        self.jump(header, [self.node("add", [params[0], self.int(1)], "py_scalar int64"), *results])
        self.move_to(after)
        return params[1:]

    def when(self, condition, carried, then, otherwise=None):
        """if condition: carried = then(*carried); else: carried = otherwise(*carried)."""
        yes, _ = self.new_block()
        no, _ = self.new_block()
        join, params = self.new_block([c.kind for c in carried])
        self.branch(condition, yes, no)
        for block, make in ((yes, then), (no, otherwise)):
            self.move_to(block)
            self.jump(join, (make(*carried) if make else None) or carried)
        self.move_to(join)
        return params

    # --- values
    def int(self, value):
        return self.node("constant", [], "py_scalar int64", f"literal = {value}")

    def float(self, value, kind="py_scalar float64"):
        return self.node("constant", [], kind, f"literal = {value!r}")

    def dim(self, expression):
        return self.node("dim", [], "py_scalar int64", f"dims = [{expression}]")

    def op(self, op, *operands, kind=None):
        return self.node(op, operands, kind or operands[0].kind)

    def view(self, array, starts, extents, steps=None):
        steps = steps or [1] * len(starts)
        return self.node(
            "slice",
            [array],
            f"array {dtype_of(array.kind)}[{', '.join(map(str, extents))}]",
            f"dims = [{', '.join(map(str, starts))}], steps = [{', '.join(map(str, steps))}]",
        )

    def at(self, array, *index):
        """The element array[index] as a NumPy scalar."""
        one = self.view(array, index, [1] * len(index))
        return self.node(
            "squeeze", [one], f"numpy_scalar {dtype_of(array.kind)}", f"axes = [{', '.join(map(str, range(len(index))))}]"
        )

    def row(self, array, index, start, extent):
        """array[index, start : start + extent]."""
        one = self.view(array, [index, start], [1, extent])
        return self.node("squeeze", [one], f"array {dtype_of(array.kind)}[{extent}]", "axes = [0]")

    def column(self, array, start, extent, index):
        one = self.view(array, [start, index], [extent, 1])
        return self.node("squeeze", [one], f"array {dtype_of(array.kind)}[{extent}]", "axes = [1]")

    def set_at(self, array, index, value):
        one = self.view(array, index, [1] * len(index))
        place = self.node(
            "squeeze", [one], f"array {dtype_of(array.kind)}[]", f"axes = [{', '.join(map(str, range(len(index))))}]"
        )
        return self.store(array, place, value)

    def store(self, array, view, value, *mask):
        return self.node("store", [array, view, value, *mask], array.kind)

    def spread(self, value, like):
        return self.node("broadcast_to", [value], f"array {dtype_of(value.kind)}{like.kind[like.kind.index('[') :]}")

    def total(self, array):
        rank = array.kind.count(",") + 1
        return self.node(
            "reduce",
            [array],
            f"numpy_scalar {dtype_of(array.kind)}",
            f"axes = [{', '.join(map(str, range(rank)))}], ufunc = add",
        )

    def text(self):
        return "\n".join(["graph {", *self.symbols, *self.head, *["\n".join(b) for b in self.blocks], "}", ""])
