"""Random straight-line NumPy programs, valid by construction: each statement is run in NumPy when it is written.

All choices come from a random.Random, so a seed determines a program and Hypothesis can shrink one.
"""

import contextlib
import dataclasses
import itertools
import linecache
import warnings

import numpy as np

BOOL, SIGNED, UNSIGNED = ["?"], ["i1", "i2", "i4", "i8"], ["u1", "u2", "u4", "u8"]
REAL, COMPLEX = ["f2", "f4", "f8"], ["c8", "c16"]
DTYPES = BOOL * 2 + SIGNED + UNSIGNED + ["f2", "f4", "f4", "f8", "f8", "f8", "f8"] + COMPLEX
LAYOUTS = ["C", "C", "C", "C", "F", "permuted", "stepped", "reversed", "padded", "repeated", "readonly"]
SCALARS = ["2", "3", "-1", "0", "0.5", "-2.5", "1e3", "True", "1j", "np.float32(1.5)", "np.int8(3)", "np.uint8(200)"]
SCALARS += ["np.float64(-0.0)", "np.int64(7)", "np.float16(0.3)", "np.complex64(1+2j)", "np.bool_(True)", "np.inf", "np.pi"]
ARITHMETIC = ["+", "-", "*", "/", "//", "%", "**", "<", "<=", ">", ">=", "==", "!=", "&", "|", "^", "<<", ">>"]
COMMON = ["+", "-", "*", "+", "-", "*", "/", "<", ">="]
BINARY = """add subtract multiply divide floor_divide remainder fmod power float_power maximum minimum fmax fmin copysign
    hypot arctan2 logaddexp nextafter heaviside ldexp gcd lcm logical_and logical_or logical_xor bitwise_and bitwise_or
    bitwise_xor left_shift right_shift equal not_equal less greater less_equal greater_equal""".split()
UNARY = """negative positive absolute fabs sign conjugate reciprocal square sqrt cbrt exp exp2 expm1 log log2 log10 log1p
    sin cos tan arcsin arctan sinh cosh tanh arcsinh degrees radians deg2rad logical_not invert floor ceil trunc rint isnan
    isinf isfinite signbit spacing bitwise_count real imag angle abs""".split()
REDUCTIONS = "sum prod max min any all mean var std argmin argmax count_nonzero ptp".split()

# Sizes of the dims i, j, k, l: for the captured call and two later ones.
SIZES = {
    "small": [(3, 4, 2, 5), (5, 2, 3, 4), (1, 3, 4, 2)],
    "ones": [(1, 4, 1, 3), (2, 1, 3, 1), (1, 1, 1, 1)],
    "empty": [(2, 3, 2, 2), (0, 3, 2, 1), (2, 0, 1, 3)],
    "empty first": [(0, 3, 2, 2), (4, 3, 2, 1), (0, 0, 1, 3)],
    "vector": [(1500, 2, 3, 2), (7, 3, 2, 2), (9001, 2, 2, 1)],
    "pairwise": [(150, 7, 2, 1), (1030, 3, 2, 2), (129, 8, 1, 2)],
    "inner": [(3, 200, 2, 2), (2, 1200, 3, 1), (5, 9, 2, 2)],
    "buffers": [(10000, 2, 2, 1), (8193, 1, 2, 2), (2, 9, 2, 3)],
    "square": [(40, 40, 3, 2), (33, 65, 2, 2), (8, 16, 2, 3)],
}
MOST_ELEMENTS = 120_000


@dataclasses.dataclass
class Argument:
    """An array of dims named by letters (or 1), or the text of a scalar."""

    dims: str
    dtype: str
    layout: str
    seed: int
    scalar: str = ""

    def make(self, sizes):
        if self.scalar:
            return eval(self.scalar, {"np": np})
        shape = tuple(1 if d == "1" else sizes["ijkl".index(d)] for d in self.dims)
        return laid_out(elements(shape, self.dtype, self.seed), self.layout)


def elements(shape, dtype, seed):
    """Numbers that rarely overflow, some of them equal, some zero."""
    rng, dtype = np.random.default_rng(seed), np.dtype(dtype)
    if dtype.kind == "b":
        return rng.random(shape) < 0.6
    if dtype.kind in "iu":
        return rng.integers(0 if dtype.kind == "u" else -9, 10, shape).astype(dtype)
    values = np.asarray(np.round(rng.uniform(-3, 3, shape), rng.integers(1, 17)))
    if dtype.kind == "c":
        values = values + 1j * rng.uniform(-2, 2, shape)
    if seed % 7 == 0 and values.size:
        values.flat[rng.integers(values.size)] = rng.choice([np.nan, np.inf, -np.inf, -0.0])
    with np.errstate(all="ignore"):
        return values.astype(dtype)


def laid_out(array, layout):
    if layout == "F":
        return np.asfortranarray(array)
    if layout == "permuted" and array.ndim:
        axes = list(range(1, array.ndim)) + [0][: array.ndim]
        return np.ascontiguousarray(array.transpose(axes)).transpose(np.argsort(axes))
    if layout == "stepped" and array.ndim:
        wide = np.repeat(np.repeat(array, 2, axis=-1), 3, axis=0)
        return wide[::3, ..., ::2] if array.ndim > 1 else wide[::6]
    if layout == "reversed" and array.ndim:
        cut = (slice(None, None, -1),) * array.ndim if array.size % 2 else (..., slice(None, None, -1))
        return np.ascontiguousarray(array[cut])[cut]
    if layout == "padded" and array.ndim:
        wide = np.zeros([n + 2 for n in array.shape], array.dtype)[tuple(slice(1, n + 1) for n in array.shape)]
        wide[...] = array
        return wide
    if layout == "repeated" and array.ndim and array.size:
        return np.broadcast_to(array[..., :1] if array.size % 2 else array[:1], array.shape)
    array = np.array(array, order="C")
    array.flags.writeable = layout != "readonly"
    return array


@dataclasses.dataclass
class Program:
    arguments: list
    lines: list
    results: list
    sizes: list  # one per call
    single: bool = False  # the only result is not returned in a tuple

    @property
    def source(self):
        body = "".join(f"    {line}\n" for line in self.lines)
        names = ", ".join("abcd"[: len(self.arguments)])
        end = "" if self.single and len(self.results) == 1 else ","
        return f"def program({names}):\n{body}    return {', '.join(self.results)}{end}\n"

    def inputs(self, sizes):
        return [argument.make(sizes) for argument in self.arguments]


counter = itertools.count()


def define(source, **names):
    """Defines the function, with its source in linecache for tracebacks and inspect."""
    name = f"<random {next(counter)}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    space = {"np": np, **names}
    exec(compile(source, name, "exec"), space)
    return space["program"]


class Writer:
    """Writes statements and runs each for all sizes; one that fails, (mostly) warns or grows too large is dropped."""

    def __init__(self, random):
        self.random = random
        self.fresh = set()  # names of arrays that the program made and no view shares
        self.program = Program(self.arguments(), [], [], self.draw_sizes())
        names = "abcd"[: len(self.program.arguments)]
        self.spaces = []
        for sizes in self.program.sizes:
            self.spaces.append({"np": np, **dict(zip(names, self.program.inputs(sizes), strict=True))})
        self.names = list(names)

    def draw_sizes(self):
        found = [*SIZES[self.random.choice(list(SIZES))]]
        if self.random.random() < 0.3:
            found = [found[1], found[2], found[0]]
        return found

    def arguments(self):
        random, found = self.random, []
        family = random.choice([DTYPES, DTYPES, ["f8"], ["f8", "f4"], ["f8", "i8", "?"], COMPLEX + ["f8"], SIGNED + UNSIGNED])
        for _ in range(random.randint(1, 4)):
            if random.random() < 0.15:
                found.append(Argument("", "", "", 0, random.choice(SCALARS)))
                continue
            dims = "ijkl"[: random.choice([0, 1, 1, 2, 2, 2, 3, 3, 4])]
            if random.random() < 0.25:
                dims = "".join(d for d in dims if random.random() < 0.7)
            dims = "".join("1" if random.random() < 0.08 else d for d in dims)
            layout = random.choice(LAYOUTS)
            found.append(Argument(dims, random.choice(family), layout, random.randint(0, 999)))
        if all(argument.scalar for argument in found):
            found[0] = Argument("ij", "f8", "C", 1)
        return found

    # --- operands ---------------------------------------------------------------------------------------------------

    def array(self, fresh=False):
        """The name of a value; recent ones are more likely."""
        names = [n for n in self.names if n in self.fresh] if fresh else self.names
        return self.random.choice(names[-3:] if self.random.random() < 0.5 else names)

    def operand(self):
        if self.random.random() < 0.2:
            return self.random.choice(SCALARS)
        return self.aligned(self.array()) if self.random.random() < 0.25 else self.array()

    def aligned(self, name):
        """A view that may broadcast."""
        return name + self.random.choice(["[..., None]", "[None]", ".T", "[..., :1]", "[:1]", "[..., ::-1]", "[::-1]"])

    def rank(self, name):
        return getattr(self.spaces[0].get(name), "ndim", 0)

    def axis(self, name, many=True):
        rank = self.rank(name)
        if not rank:
            return "None"
        kinds = ["None", str(self.random.randrange(rank)), str(-self.random.randrange(rank) - 1)]
        if many and rank > 1:
            kinds.append(str(tuple(self.random.sample(range(rank), self.random.randint(2, rank)))))
        return self.random.choice(kinds)

    def shift(self):
        return self.random.choice(["1", "2", "3", "-1"])

    def a_slice(self):
        r = self.random
        text = [
            r.choice(["", "", "1", "-2", "2"]),
            r.choice(["", "", "-1", "3", "7"]),
            r.choice(["", "", "2", "-1", "-2", "3"]),
        ]
        return ":".join(text)

    # --- statements -------------------------------------------------------------------------------------------------

    def expression(self):
        kinds = [self.infix] * 6 + [self.unary] * 4 + [self.binary] * 3 + [self.reduction] * 4 + [self.view] * 5
        kinds += [self.select] * 2 + [self.cast] * 2 + [self.join, self.product, self.creation, self.scan, self.index]
        return self.random.choice(kinds)()

    def infix(self):
        text = f"{self.operand()} {self.random.choice(COMMON if self.random.random() < 0.7 else ARITHMETIC)} {self.operand()}"
        if self.random.random() < 0.25:
            text = f"({text}) {self.random.choice(COMMON)} {self.operand()}"
        return text

    def unary(self):
        name = self.random.choice(UNARY)
        return f"np.{name}({self.operand()})" if self.random.random() < 0.8 else f"-{self.array()}"

    def binary(self):
        dtype = f", dtype=np.{self.random.choice(['float32', 'float64'])}" if self.random.random() < 0.1 else ""
        return f"np.{self.random.choice(BINARY)}({self.operand()}, {self.operand()}{dtype})"

    def reduction(self):
        r, name, what = self.random, self.array(), self.random.choice(REDUCTIONS)
        single = what in ("argmin", "argmax")
        text = f"axis={self.axis(name, not single)}"
        if r.random() < 0.3:
            text += ", keepdims=True"
        if what in ("sum", "prod", "mean", "var") and r.random() < 0.2:
            text += ", dtype=" + r.choice(["np.float64", "np.float32", "np.int64", "np.complex128", "np.int8", "np.float16"])
        if what in ("sum", "prod", "max", "min") and r.random() < 0.2:
            text += ", initial=" + r.choice(["0", "1", "2.5", "-3"])
        if what in ("var", "std") and r.random() < 0.3:
            text += ", ddof=1"
        if r.random() < 0.15:
            return (
                f"np.{r.choice(['add', 'multiply', 'maximum', 'minimum', 'logical_and', 'bitwise_or'])}.reduce({name}, {text})"
            )
        return f"np.{what}({name}, {text})" if r.random() < 0.6 or what == "count_nonzero" else f"{name}.{what}({text})"

    def view(self):
        r, name = self.random, self.array()
        rank = self.rank(name)
        cut = ", ".join(self.a_slice() for _ in range(r.randint(1, max(1, rank))))
        kinds = [f"{name}[{cut}]", f"{name}[{cut}]", f"{name}[..., {self.a_slice()}]", f"{name}.T", f"{name}.reshape(-1)"]
        kinds += [f"{name}[None]", f"{name}[:, None]", f"{name}[..., None]", f"{name}.ravel()", f"{name}.real", f"{name}.imag"]
        kinds += [f"np.squeeze({name})", f"np.expand_dims({name}, {r.choice(['0', '-1', '(0, 2)'])})", f"np.flip({name})"]
        kinds += [f"np.atleast_2d({name})", f"{name}.flatten()", f"{name}.copy()", f"np.ascontiguousarray({name})"]
        kinds += [f"{name}.reshape({name}.shape)", f"np.asfortranarray({name})", f"{name}.copy(order='{r.choice('CFAK')}')"]
        if rank:
            axes = r.sample(range(rank), rank)
            kinds += [f"{name}.transpose({axes})", f"np.swapaxes({name}, 0, {-r.randrange(rank) - 1})"]
            kinds += [f"np.moveaxis({name}, 0, -1)", f"np.broadcast_to({name}, ({r.choice('123')}, *{name}.shape))"]
            kinds += [f"{name}.reshape({name}.shape[0], -1)", f"{name}.reshape((-1, {name}.shape[-1]))"]
            kinds += [f"{name}.reshape({name}.shape[::-1])", f"{name}.reshape(*{name}.shape, 1)"]
            kinds += [f"{name}.reshape(-1, order='F')", f"np.rollaxis({name}, -1)", f"np.roll({name}, {self.shift()})"]
        return r.choice(kinds)

    def select(self):
        r, name = self.random, self.array()
        condition = r.choice([f"{name} > {self.operand()}", f"{name} == {self.operand()}", name, f"np.isnan({name})"])
        kinds = [f"np.where({condition}, {self.operand()}, {self.operand()})"] * 3
        kinds += [f"np.clip({name}, {self.operand()}, {self.operand()})", f"np.clip({name}, {r.choice(SCALARS)}, None)"]
        kinds += [f"{name}.clip(-1, 1)", f"np.nan_to_num({name})", f"np.diff({name})", f"np.outer({name}, {self.array()})"]
        return r.choice(kinds)

    def cast(self):
        r, name = self.random, self.array()
        dtype = np.dtype(r.choice(DTYPES)).name
        order = r.choice(["", "", "", ", order='C'", ", order='F'", ", copy=False"])
        return r.choice(
            [f"{name}.astype(np.{dtype}{order})"] * 3 + [f"{name}.astype({r.choice(['float', 'int', 'bool', 'complex'])})"]
        )

    def join(self):
        r, first = self.random, self.array()
        second = r.choice([first, first, self.array(), f"{first} * 2", f"{first}[:1]"])
        axis = r.choice(["0", "-1", "1"])
        kinds = [f"np.concatenate(({first}, {second}), axis={axis})", f"np.stack([{first}, {second}], axis={axis})"]
        kinds += [
            f"np.vstack(({first}, {second}))",
            f"np.hstack(({first}, {second}))",
            f"np.concatenate([{first}, {second}, {first}])",
        ]
        return r.choice(kinds)

    def product(self):
        r, first = self.random, self.array()
        second = r.choice([self.array(), f"{first}.T", first])
        return r.choice(
            [f"{first} @ {second}", f"np.dot({first}, {second})", f"{first}.dot({second})", f"np.matmul({first}, {second})"]
        )

    def creation(self):
        r, name = self.random, self.array()
        kinds = [f"np.zeros_like({name})", f"np.ones({name}.shape)", f"np.full_like({name}, 3)", f"np.arange({name}.shape[-1])"]
        kinds += [
            f"np.zeros({name}.shape, dtype={name}.dtype)",
            f"np.full({name}.shape, {r.choice(SCALARS)})",
            "np.arange(5) * 0.5",
        ]
        kinds += [f"np.arange({name}.size).reshape({name}.shape)", f"np.linspace(0, 1, {name}.shape[0])", "np.eye(3)"]
        return r.choice(kinds)

    def scan(self):
        name = self.array()
        return f"np.{self.random.choice(['cumsum', 'cumprod', 'sort', 'ptp'])}({name}, axis={self.axis(name, False)})"

    def index(self):
        name = self.array()
        cut = self.random.choice(
            ["0", "-1", "..., 0", "..., -1", "0, ...", ":, 0", "-1, None", "0, 0", "1", "()", "...", "None, 0"]
        )
        return self.random.choice(
            [f"{name}[{cut}]"] * 3 + [f"{name}.shape[0]", f"len({name})", f"float({name}.sum())", f"{name}.size"]
        )

    def update(self):
        """An update in place of an array that the program made."""
        r, name = self.random, self.array(fresh=True)
        kinds = [f"{name} {r.choice(['+', '-', '*', '/', '//', '|', '&'])}= {self.operand()}"] * 3
        kinds += [f"{name}[{self.a_slice()}] = {self.operand()}", f"{name}[..., {self.a_slice()}] = {self.operand()}"]
        kinds += [f"{name}[...] = {self.operand()}", f"{name}[{self.a_slice()}] += {self.operand()}", f"{name}.fill(2)"]
        kinds += [f"np.{r.choice(BINARY)}({self.operand()}, {self.operand()}, out={name})", f"{name}[0] = {self.operand()}"]
        kinds += [f"np.{r.choice(UNARY)}({self.operand()}, out={name})", f"{name}[{name} > 1] = 0"]
        return r.choice(kinds)

    def two(self):
        r = self.random
        return r.choice(
            [f"np.divmod({self.operand()}, {self.operand()})", f"np.modf({self.array()})", f"np.frexp({self.array()})"]
        )

    def statement(self):
        """Appends one statement; False when the drawn one was dropped."""
        kind = self.random.random()
        number = len(self.program.lines)
        made = []
        if kind < 0.15 and self.fresh:
            line = self.update()
        elif kind < 0.2:
            made = [f"v{number}", f"w{number}"]
            line = f"v{number}, w{number} = {self.two()}"
        else:
            made = [f"v{number}"]
            line = f"v{number} = {self.expression()}"
        if not self.perform(line, made):
            return False
        self.program.lines.append(line)
        self.names += made
        self.fresh.update(n for n in made if self.owns(n))
        return True

    def owns(self, name):
        value = self.spaces[0][name]
        others = (v for n, v in self.spaces[0].items() if n != name)
        return isinstance(value, np.ndarray) and value.base is None and not any(v is value for v in others)

    def perform(self, line, made):
        code, pattern = compile(line, "<statement>", "exec"), []
        warns = self.random.random() < 0.08
        before = [{n: v.copy() for n, v in space.items() if n in self.fresh} for space in self.spaces]
        try:
            for space in self.spaces:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore" if warns else "error")
                    exec(code, space)
                values = [space[n] for n in made]
                if any(np.size(v) > MOST_ELEMENTS or np.ndim(v) > 6 for v in values):
                    return False
                pattern.append([(type(v), getattr(v, "ndim", 0)) for v in values])
        except Exception:  # the statement is not a valid one
            for space, kept in zip(self.spaces, before, strict=True):
                for name, value in kept.items():
                    with contextlib.suppress(Exception):
                        space[name][...] = value
            return False
        return pattern.count(pattern[0]) == len(pattern)

    def write(self, statements):
        for _ in range(8 * statements):
            if len(self.program.lines) >= statements:
                break
            self.statement()
        r, made = self.random, self.names[len(self.program.arguments) :] or self.names
        self.program.results = [r.choice(made) for _ in range(r.choice([1, 1, 2, 3, 5]))]
        if r.random() < 0.1:
            self.program.results.append(r.choice(self.names))
        if made and made[-1] not in self.program.results:
            self.program.results.append(made[-1])
        self.program.single = r.random() < 0.5
        return self.program


def write_program(random, statements=None):
    """A program of 1 to 12 statements, with sizes for the captured call and two later ones."""
    with np.errstate(all="warn"):
        return Writer(random).write(statements or random.randint(1, 12))


# --- comparison -----------------------------------------------------------------------------------------------------


def describe(value, passed, seen):
    """A comparable form of a result: bits, type, shape, strides, flags, and identity or shared memory with other values."""
    if isinstance(value, np.ndarray):
        same = [i for i, other in enumerate([*passed, *seen]) if other is value]
        shares = [i for i, other in enumerate([*passed, *seen]) if shares_memory(other, value)]
        owner = [i for i, other in enumerate([*passed, *seen]) if owner_of(other) is owner_of(value)]
        flags = (value.flags.writeable, value.flags.c_contiguous, value.flags.f_contiguous)
        strides = tuple(s if n > 1 else None for s, n in zip(value.strides, value.shape, strict=True)) if value.size else ()
        start, first = (address(array) for array in (value, [*passed, *seen][owner[0]] if owner else value))
        offset = start - first if value.size else 0
        return ("array", value.dtype.str, value.shape, strides, flags, same, shares, owner, offset, value.tobytes())
    if isinstance(value, np.generic):
        return (type(value), value.tobytes())
    if isinstance(value, (float, complex)):
        return (type(value), repr(value), np.array(value).tobytes())
    if isinstance(value, (tuple, list)):
        found = []
        for item in value:
            found.append(describe(item, passed, [*seen, *value[: len(found)]]))
        return (type(value), found)
    return (type(value), repr(value))


def owner_of(value):
    """The array at the end of the chain of bases, which is one longer in NumPy when a reshape copies."""
    while isinstance(getattr(value, "base", None), np.ndarray):
        value = value.base
    return value


def address(array):
    return array.__array_interface__["data"][0]


def shares_memory(first, second):
    return isinstance(first, np.ndarray) and isinstance(second, np.ndarray) and np.may_share_memory(first, second)


def called(call, passed):
    """Result, error and warnings of a call of a generated function."""
    result, error = None, None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = call(*passed)
        except Exception as raised:
            error = (type(raised), str(raised), line_in_program(raised))
    warned = [(w.category, str(w.message), w.filename, w.lineno) for w in caught]
    return result, error, warned


def line_in_program(error):
    """The line of the generated function in the error's traceback."""
    trace, line = error.__traceback__, 0
    while trace is not None:
        line, trace = trace.tb_lineno if trace.tb_frame.f_code.co_name == "program" else line, trace.tb_next
    return line


def outcome(call, passed):
    """The result, warnings and exception of a call, and the arguments afterwards."""
    result, error, warned = called(call, passed)
    after = [describe(a, [], []) for a in passed]
    return {"error": error, "result": describe(result, passed, []), "warned": warned, "arguments": after}


def difference(program, call, function, sizes):
    """A text with the difference from NumPy for one call; None when there is none."""
    expected = outcome(function, program.inputs(sizes))
    found = outcome(call, program.inputs(sizes))
    for part, want in expected.items():
        if found[part] != want:
            return f"{part} differs for sizes {sizes}: {first_difference(found[part], want)}"
    return None


def first_difference(found, want, path=""):
    """The first difference between two descriptions."""
    if isinstance(found, (tuple, list)) and isinstance(want, (tuple, list)) and len(found) == len(want):
        for k, (a, b) in enumerate(zip(found, want, strict=True)):
            if a != b:
                dtype = found[1] if k and found[0] == "array" else "u1"
                return first_difference(a, b, f"{path}/{k}") if not isinstance(a, bytes) else f"{path} " + bits(a, b, dtype)
    return f"{path}\n  accel: {found!r:.1200}\n  NumPy: {want!r:.1200}"


def bits(found, want, dtype):
    if len(found) != len(want):
        return f"{len(found)} and {len(want)} bytes"
    step = np.dtype(dtype).itemsize
    at = next(k for k in range(0, len(found), step) if found[k : k + step] != want[k : k + step])
    count = sum(found[k : k + step] != want[k : k + step] for k in range(0, len(found), step))
    accel, numpy = (np.frombuffer(data[at : at + step], dtype)[0] for data in (found, want))
    return f"{count} of {len(found) // step} elements, the first is {at // step}: {accel!r} instead of {numpy!r}"
