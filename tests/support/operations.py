"""Random single operations over every kind of operand: dtypes, layouts, ranks, empty arrays, numbers of NumPy and of Python.

A group is a set of operand kinds, several inputs of these kinds, and some operations. Operations that raise or warn for an
input, or change an operand, have a function each; all others of the group share one, so that a group needs few compiles.
"""

import dataclasses

import numpy as np
from support.programs import (
    ARITHMETIC,
    COMPLEX,
    DTYPES,
    LAYOUTS,
    REAL,
    SIGNED,
    UNSIGNED,
    Argument,
    Writer,
    called,
    laid_out,
    shares_memory,
)

from accel._describe import _Describer

ALL_DTYPES = ["?", *SIGNED, *UNSIGNED, *REAL, *COMPLEX]
PYTHON_NUMBERS = ["2", "-1", "0", "300", "70000", "0.5", "-2.5", "1e300", "float('nan')", "-0.0", "True", "1j", "2 - 3j"]
NUMBERS = {"b": ["True", "False"], "i": ["3", "-1", "0", "100"], "u": ["3", "0", "200"]}
NUMBERS |= {"f": ["1.5", "-0.0", "0", "np.nan", "np.inf", "3"], "c": ["1 + 2j", "0", "-1.5j", "complex(np.inf, 0)"]}
SHAPES = ["", "1", "i", "i", "i", "ij", "ij", "j", "ijk", "i1", "1j", "ijkl"]
# Sizes of the dims i, j, k, l.
SIZES = [(3, 4, 2, 2), (1, 3, 1, 2), (0, 3, 2, 1), (5, 1, 1, 3), (2, 0, 3, 1), (1, 1, 1, 1), (17, 9, 2, 1), (129, 8, 1, 1)]
UFUNCS = sorted(n for n in dir(np) if isinstance(getattr(np, n), np.ufunc) and getattr(np, n).__name__ == n)
ELEMENTWISE = [n for n in UFUNCS if getattr(np, n).signature is None and n != "isnat"]
FUNCTIONS = """
    np.abs({x}); np.round({x}, 1); np.around({x}, -1); np.fix({x}); np.nan_to_num({x}); np.real_if_close({x}); np.isreal({x});
    np.iscomplex({x}); np.isposinf({x}); np.isneginf({x}); np.angle({x}); np.unwrap({x}); np.sinc({x}); np.i0({x});
    np.diff({x}, n=2); np.ediff1d({x}); np.gradient({x}); np.trapezoid({x}); np.nansum({x}, axis={axis});
    np.nanmean({x}, axis={axis}); np.nanmax({x}, axis={axis}); np.nanmin({x}, axis={axis}); np.nanvar({x}, axis={axis});
    np.nanstd({x}, axis={axis}); np.nanprod({x}, axis={axis}); np.median({x}, axis={axis}); np.percentile({x}, 30);
    np.average({x}, axis={axis}); np.nancumsum({x}); np.tril({x}); np.triu({x}, 1); np.diag({x}); np.trace({x});
    np.diagonal({x}); np.rot90({x}); np.fliplr({x}); np.flipud({x}); np.tile({x}, 2); np.repeat({x}, 2, axis={single});
    np.roll({x}, (1, 2)); np.pad({x}, 1); np.insert({x}, 0, 1); np.delete({x}, 0); np.append({x}, {y}); np.unique({x});
    np.sort({x}, axis={single}); np.argsort({x}, axis={single}); np.searchsorted(np.sort({x}, axis=None), {y});
    np.digitize({x}, [0, 1, 2]); np.bincount({x}); np.histogram({x}, 3); np.take({x}, [0, -1], axis={single});
    np.take_along_axis({x}, np.argsort({x}, axis=-1), axis=-1); np.choose({x} > 0, ({y}, 1)); np.select([{x} > 0], [{y}], 2);
    np.compress([True, False], {x}); np.extract({x} > 0, {x}); np.nonzero({x}); np.flatnonzero({x}); np.argwhere({x});
    np.allclose({x}, {y}); np.isclose({x}, {y}); np.array_equal({x}, {y}); np.array_equiv({x}, {y}); np.cross({x}, {y});
    np.inner({x}, {y}); np.vdot({x}, {y}); np.kron({x}, {y}); np.tensordot({x}, {y}, axes=0); np.convolve({x}, {y});
    np.correlate({x}, {y}); np.interp({x}, [0, 1, 2], [1, 0, 3]); np.polyval([1, 2, 3], {x}); np.cov({x}); np.corrcoef({x});
    np.ptp({x}, axis={axis}); np.broadcast_arrays({x}, {y}); np.meshgrid({x}, {y}); np.column_stack(({x}, {y}));
    np.dstack(({x}, {y})); np.split({x}, [1]); np.array_split({x}, 2); np.atleast_1d({x}); np.atleast_3d({x});
    np.require({x}, requirements='F'); np.asarray({x}, dtype=np.float32); np.array({x}, ndmin=2); np.array([{x}, {y}]);
    np.full((2,), {x}); np.full_like({x}, {y}); np.empty_like({x}).shape; np.ones_like({x}, dtype=np.int8);
    np.linspace({x}, {y}, 3); np.arange({x}); np.arange({x}, {y}); np.isin({x}, {y}); np.setdiff1d({x}, {y});
    np.union1d({x}, {y}); np.ix_({x}); np.shape({x}); np.ndim({x}); np.size({x}); np.result_type({x}, {y});
    np.can_cast({x}.dtype, np.float32); np.min_scalar_type({x}); np.heaviside({x}, 0.5); np.linalg.norm({x});
    np.linalg.norm({x}, axis={single}); np.count_nonzero({x}, axis={axis}); np.apply_along_axis(np.sum, -1, {x});
    np.cumulative_sum({x}, axis={single}); np.copysign({x}, -1.0); np.logspace({x}, {y}, 3); np.geomspace({x}, {y}, 3);
    np.fft.fft({x}); np.einsum('...i,...i', {x}, {y}); np.einsum('i...->...', {x}); np.vander({x}, 3); np.tri(3) * {x};
    np.matrix_transpose({x}); np.permute_dims({x}); np.copy({x}, order='F'); np.concat([{x}, {y}]); np.unstack({x});
    np.astype({x}, np.int16); np.bitwise_count({x}); np.packbits({x}); np.unpackbits({x})
"""
METHODS = """
    {x}.astype(np.int8); {x}.astype(np.float16, order='K'); {x}.astype('f4', casting='safe'); {x}.view(np.uint8);
    {x}.view('i4'); {x}.tobytes(); {x}.tolist(); {x}.item(); {x}.conj(); {x}.conjugate(); {x}.round(1); {x}.clip(0);
    {x}.clip(min=0, max={y}); {x}.cumsum(axis={single}); {x}.cumprod(); {x}.nonzero(); {x}.argsort(); {x}.take(0);
    {x}.repeat(2); {x}.squeeze(); {x}.swapaxes(0, -1); {x}.diagonal(); {x}.trace(); {x}.dot({y}); {x}.byteswap(); {x}.flat[0];
    {x}.T; {x}.mT; {x}.real; {x}.imag; {x}.dtype; {x}.shape; {x}.strides; {x}.ndim; {x}.size; {x}.nbytes; {x}.itemsize;
    {x}.flags.c_contiguous; {x}.flags.writeable; {x}.base is None; len({x}); float({x}); int({x}); complex({x}); bool({x});
    abs({x}); -{x}; +{x}; ~{x}; round({x}); round({x}, 1); divmod({x}, {y}); {x} in [1]; 1 in {x}; str({x}); repr({x});
    hash({x}); {x}.is_integer(); {x} and {y}; {x} or {y}; not {x}; {x} if {x} else {y}; {x} == None; {x} is {x};
    [v for v in {x}]; sum({x}); max({x}); min({x}); sorted({x}); list({x}); any({x}); all({x}); pow({x}, {y}); {x}[{y}];
    {x}[{x} > 0]; {x}[[0, -1]]; {x}[..., None, 0]; {x}[np.newaxis]; {x}[-1:]; {x}[::-2]; {x}[5:]; {x}[True]; {x}[[True]];
    {x}[1, 0]; {x}[:, [0, 0]]; {x}[{x}.argmax()]; {x}.max(initial=0); {x}.min(where={x} > 0, initial=5);
    {x}.sum(where={x} != 1); {x}.mean(keepdims=True); {x}.std(ddof=1); {x}.any(axis={axis}); {x}.argmin(axis={single});
    {x}.searchsorted({y}); {x}.choose(({y}, 1)); {x}.compress([True]); {x}.ravel('K'); {x}.ravel('F'); {x}.flatten('F');
    {x}.transpose(); {x}.reshape(-1, 1); {x}.copy('K')
"""
UPDATES = """
    {x} += {y}; {x} -= {y}; {x} *= {y}; {x} /= {y}; {x} //= {y}; {x} %= {y}; {x} **= 2; {x} &= {y}; {x} |= {y}; {x} ^= {y};
    {x} <<= 1; {x} >>= 1; {x}[...] = {y}; {x}[0] = {y}; {x}[-1] += 1; {x}[::2] = {y}; {x}[1:] = {x}[:-1]; {x}[:-1] += {x}[1:];
    {x}[::-1] = {x}; {x}[{x} > 0] = 0; {x}[{x} > 0] *= 2; {x}[[0, -1]] = 1; {x}[..., 0] = {y}; {x}[()] = {y}; {x}.fill(3);
    {x}.fill({y}); {x}.sort(); {x}.sort(axis=0); {x}.resize((2,)); {x}.put([0], 5); {x}.real = 1; {x}.imag = 2;
    {x}.flat = {y}; {x}.flat[0] = {y}; {x}.shape = (-1,); np.copyto({x}, {y}); np.copyto({x}, {y}, where={x} > 0);
    np.copyto({x}, {y}, casting='unsafe'); np.put({x}, 0, 1); np.putmask({x}, {x} > 0, {y}); np.place({x}, {x} > 0, [1, 2]);
    np.fill_diagonal({x}, 1); np.add.at({x}, 0, {y}); np.add.at({x}, [0, 0], 1); np.maximum.at({x}, [0, -1], {y});
    np.clip({x}, 0, 1, out={x}); np.cumsum({x}, axis={single}, out={x}); np.random.default_rng(0).shuffle({x});
    np.negative({x}, out={x}, where={x} > 0); np.add({x}, {y}, out={x}, casting='unsafe')
"""
CHANGE = "changes"  # in place of a result: the operation is a statement that changes operands


def written_down(text):
    return [row.strip() for row in text.replace("\n", " ").split(";") if row.strip()]


ROWS = {name: written_down(text) for name, text in (("functions", FUNCTIONS), ("methods", METHODS), ("updates", UPDATES))}


@dataclasses.dataclass
class Operand(Argument):
    """An operand. `extreme` values include limits of the dtype, infinities, NaNs and numbers near zero."""

    extreme: bool = False

    def make(self, sizes):
        made = super().make(sizes)
        if not self.extreme or self.scalar or made.size == 0:
            return made
        values = np.array(made)
        rng = np.random.default_rng(self.seed)
        with np.errstate(all="ignore"):
            chosen = rng.choice(extremes(values.dtype), values.shape)
        values = np.where(rng.random(values.shape) < 0.5, chosen, values).astype(made.dtype)
        return laid_out(values, self.layout)


def extremes(dtype):
    if dtype.kind == "b":
        return np.array([True, False])
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return np.array([limits.min, limits.max, limits.max - 1, 0, 1, limits.min + 1], dtype)
    limits = np.finfo(dtype)
    parts = np.array([limits.max, limits.min, limits.tiny, limits.smallest_subnormal, np.inf, -np.inf, np.nan, 0.0, -0.0, 1.0])
    parts = parts.astype(np.dtype(limits.dtype))
    return parts if dtype.kind == "f" else np.concatenate([parts + 1j * p for p in parts[4:]]).astype(dtype)


class OperationWriter(Writer):
    """Draws operands, inputs and operations, including the operations of random programs."""

    def __init__(self, random):
        super().__init__(random)
        self.fresh = {n for n in self.names if isinstance(self.spaces[0][n], np.ndarray)}

    def draw_sizes(self):
        return self.random.sample(SIZES, 5)

    def arguments(self):
        return [self.drawn_operand() for _ in range(self.random.choice([1, 2, 2, 2, 3]))]

    def drawn_operand(self):
        r = self.random
        kind = r.random()
        if kind < 0.12:
            return Operand("", "", "", 0, r.choice(PYTHON_NUMBERS))
        dtype = np.dtype(r.choice(ALL_DTYPES if r.random() < 0.6 else DTYPES))
        if kind < 0.27:
            return Operand("", "", "", 0, f"np.{dtype.name}({r.choice(NUMBERS[dtype.kind])})")
        dims = r.choice(SHAPES)
        return Operand(dims, dtype.str[1:], r.choice(LAYOUTS), r.randint(0, 999), extreme=r.random() < 0.3)

    def inputs(self, number):
        """The operands of input `number`: the first input is as drawn, others have other layouts and values."""
        random = np.random.default_rng([number, len(self.names)])
        made = []
        for operand in self.program.arguments:
            layout = operand.layout if number < 2 else LAYOUTS[random.integers(len(LAYOUTS))]
            twin = dataclasses.replace(operand, layout=layout, seed=operand.seed + 1000 * number)
            made.append(twin.make(self.program.sizes[number]))
        return made

    def row(self, kind):
        name = self.array()
        text = self.random.choice(ROWS[kind])
        return text.format(x=name, y=self.operand(), axis=self.axis(name), single=self.axis(name, False))

    def ufunc(self):
        """A call of a ufunc or of one of its methods, often with keywords."""
        r, name = self.random, self.random.choice(ELEMENTWISE)
        ufunc = getattr(np, name)
        operands, x = [self.operand() for _ in range(ufunc.nin)], self.array()
        if ufunc.nin == 2 and ufunc.nout == 1 and r.random() < 0.25:
            axis = self.axis(x, False)
            keywords = r.choice(["", "", ", keepdims=True", ", dtype=np.float64", ", initial=1", f", where={x} != 0"])
            axes = r.choice(["", f", axis={axis}", ", axis=None", ", axis=-1"])
            kinds = [f"np.{name}.reduce({x}{axes}{keywords})"] * 2 + [f"np.{name}.accumulate({x}{axes.replace('None', '0')})"]
            kinds += [f"np.{name}.outer({', '.join(operands)})", f"np.{name}.reduceat({x}, [0, 1, 0])"]
            return r.choice(kinds)
        keywords = ["", "", "", ", dtype=np.float32", ", dtype=np.int64", ", order='F'", ", casting='unsafe'", ", subok=False"]
        keywords += [
            f", out={x}.copy(), where={x} > 1",
            f", out={x}.copy(), casting='unsafe'",
            ", dtype='D'",
            ", casting='no'",
            ", order='K'",
        ]
        return f"np.{name}({', '.join(operands)}{r.choice(keywords)})"

    def infix(self):
        r = self.random
        return super().infix() if r.random() < 0.5 else f"{self.operand()} {r.choice(ARITHMETIC)} {self.operand()}"

    def operation(self):
        """Lines of code and the text of the result, CHANGE for a statement."""
        r = self.random
        kind = r.random()
        if kind < 0.12:
            return [self.row("updates")], CHANGE
        if kind < 0.18 and self.fresh:
            return [self.update()], CHANGE
        made = [self.ufunc, self.ufunc, self.infix, self.expression, self.expression, self.two]
        made += [lambda: self.row("functions"), lambda: self.row("functions"), lambda: self.row("methods")]
        return [], r.choice(made)()

    def source(self, operations):
        """The source of a function with the operations. A single statement returns all operands."""
        names = ", ".join(self.names)
        body = [f"    {line}\n" for lines, _ in operations for line in lines]
        if len(operations) == 1:
            result = operations[0][1].replace(CHANGE, f"({names},)")
        else:
            body += [f"    v{k} = {text}\n" for k, (_, text) in enumerate(operations)]
            result = ", ".join(f"v{k}" for k in range(len(operations)))
        return f"def program({names}):\n{''.join(body)}    return {result}\n"


class Described(_Describer):
    """Descriptions of values, without the strides of axes of fewer than two elements, unless `all_strides`."""

    def __init__(self, all_strides):
        super().__init__()
        self.all_strides = all_strides

    def _array(self, value):
        name, dtype, shape, strides, *rest = super()._array(value)
        if not self.all_strides:
            strides = tuple(s if n > 1 and value.size else None for s, n in zip(strides, shape, strict=True))
        return (name, dtype, shape, strides, *rest)


def outcome(call, passed, all_strides=False):
    """The result, warnings and exception of a call, shared memory with the arguments, and their values afterwards."""
    result, error, warned = called(call, passed)
    described = Described(all_strides).of
    parts = result if isinstance(result, tuple | list) else (result,)
    shared = [[part is a or shares_memory(part, a) for a in passed] for part in parts]
    return {"error": error, "result": described(result), "warned": warned, "shared": shared, "arguments": described(passed)}
