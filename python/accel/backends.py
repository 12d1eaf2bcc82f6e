"""Backends, which run captured graphs: the native compiler, NumPy operation by operation, or your own callable.

Your own backend is ``backend(graph, example_inputs) -> callable``. `graph` is a `Graph`; `example_inputs` are the values of
``graph.symbols`` at this call (ints), followed by those of ``graph.inputs``. The callable takes such values for each call and
returns the values of ``graph.outputs`` as fresh arrays with the dtype, shape and memory order in the graph. For a graph
with control flow (``len(graph.blocks) > 1``) it returns the number of the exit and the values for this exit. It makes the
stores to inputs itself. When it cannot run to an exit, it raises and leaves the inputs unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from types import CodeType
from typing import Any

import numpy as np
from numpy.linalg import _umath_linalg

from ._numbers import operation
from .errors import ArgumentError

__all__ = ["Graph", "evaluate", "list_backends"]

_BACKENDS = {
    "native": "one compiled kernel",
    "numpy": "NumPy, operation by operation: slow, for comparing capture with compiled code",
}

Kernel = Callable[[list[int], list[Any]], tuple[int, int, Sequence[Any] | None]]


def list_backends() -> list[str]:
    """Return the names that ``accel.compile(backend=...)`` accepts."""
    return list(_BACKENDS)


def check_backend(backend: object) -> None:
    """Raise ArgumentError unless `backend` is a name or a callable."""
    if not callable(backend) and not (isinstance(backend, str) and backend in _BACKENDS):
        names = ", ".join(map(repr, _BACKENDS))
        raise ArgumentError(f"backend cannot be {backend!r}: use one of {names}, or a callable (graph, example_inputs)")


def backend_name(backend: str | Callable[..., Any]) -> str:
    """Return the name of a backend, for messages."""
    return backend if isinstance(backend, str) else getattr(backend, "__qualname__", repr(backend))


class Graph:
    """A captured function as plain data.

    Attributes
    ----------
    symbols : list of str
        Names of the symbols s0, s1, ...: sizes, strides and numbers that differ from call to call.
    inputs : list of dict
        value (int), name, kind, dtype, shape, order, layout ("dense" or "strided"), slot (the symbol with a number's bits).
    blocks : list of dict
        params (value, kind, dtype, shape, order), nodes, and end: its kind is "ret" or "leave", which return the values
        `operands` at the exit numbered `exit`, or "jump" or "branch", which go to block ``targets[0]``, or to ``targets[1]``
        when the value ``operands[0]`` is false, with ``arguments`` for the parameters there. The first block is the entry;
        the inputs are its parameters.
    nodes : list of dict
        In program order: op (as NumPy spells it), class, operands and results (ints), types (of the results: kind, dtype,
        shape, order), axes, dims, steps, ufunc, buffered, literal, file, line. Sizes are expressions over the symbols.
    outputs : list of int
        The values that a graph of one block returns.
    ignored_events, reported_events : int
        Floating-point events that a `numpy.errstate` in the code itself ignores or reports, regardless of the caller's.
        Bits: 1 for divide, 2 for overflow, 4 for underflow, 8 for invalid.
    """

    def __init__(self, data: dict[str, Any]) -> None:
        self.symbols: list[str] = data["symbols"]
        self.inputs: list[dict[str, Any]] = data["inputs"]
        self.blocks: list[dict[str, Any]] = data["blocks"]
        self.ignored_events: int = data.get("ignored_events", 0)
        self.reported_events: int = data.get("reported_events", 0)

    @property
    def nodes(self) -> list[dict[str, Any]]:
        """The operations of all blocks."""
        return [node for block in self.blocks for node in block["nodes"]]

    @property
    def outputs(self) -> list[int]:
        """The values that a graph of one block returns; empty with control flow."""
        outputs: list[int] = self.blocks[0]["end"]["operands"] if len(self.blocks) == 1 else []
        return outputs

    def __repr__(self) -> str:
        lines = [f"%{i['value']} = input {i['name']!r} : {_type_text(i)}" for i in self.inputs]
        for number, block in enumerate(self.blocks):
            if number > 0:
                params = ", ".join(f"%{p['value']} : {_type_text(p)}" for p in block["params"])
                lines.append(f"block {number}({params}):")
            lines += [_node_text(node) for node in block["nodes"]]
            lines.append(_end_text(block["end"]))
        return "\n".join(lines)


def _names(values: Sequence[int]) -> str:
    return ", ".join(f"%{value}" for value in values)


def _node_text(node: dict[str, Any]) -> str:
    types = ", ".join(map(_type_text, node["types"]))
    return f"{_names(node['results'])} = {node['op']}({_names(node['operands'])}) : {types}  # line {node['line']}"


def _end_text(end: dict[str, Any]) -> str:
    ways = [f"block {to}({_names(given)})" for to, given in zip(end["targets"], end["arguments"], strict=True)]
    if end["kind"] == "branch":
        return f"branch({_names(end['operands'])}) {ways[0]} else {ways[1]}"
    if end["kind"] == "jump":
        return f"jump {ways[0]}"
    return ("return " if end["kind"] == "ret" else f"leave at exit {end['exit']} ") + _names(end["operands"])


def _type_text(type_: dict[str, Any]) -> str:
    return f"{type_['kind']} {type_['dtype']}[{', '.join(type_['shape'])}]"


class adapt:  # noqa: N801
    """Adapts a backend to the core: ``(data, symbols, inputs) -> kernel(symbols, inputs) -> (status, exit, outputs)``."""

    def __init__(self, source: str | Callable[..., Any]) -> None:
        self.source = source

    def __call__(self, data: dict[str, Any], symbols: list[int], inputs: list[Any]) -> Kernel:
        """Compile one graph."""
        graph = Graph(data)
        if not callable(self.source):
            evaluator = _Evaluator(graph)
            if evaluator.calls_python:  # callees may run the graph again during a run
                return lambda symbols, inputs: _Evaluator(graph).run(symbols, inputs)
            return evaluator.run
        run = self.source(graph, [*symbols, *inputs])
        if not callable(run):
            raise ArgumentError(f"the backend returned {run!r}: it has to return a callable")
        if len(graph.blocks) > 1:
            return lambda symbols, inputs: (0, *_left(run(*symbols, *inputs)))
        return lambda symbols, inputs: (0, 0, run(*symbols, *inputs))


def _left(results: Any) -> tuple[int, Sequence[Any]]:
    if not isinstance(results, tuple) or len(results) != 2:
        kind = type(results).__name__
        raise ArgumentError(f"a graph with control flow returns the exit and what it hands over, not {kind}")
    return results


def evaluate(graph: Graph, values: Sequence[Any]) -> Any:
    """Evaluate a graph in NumPy, operation by operation.

    Parameters
    ----------
    graph : Graph
    values : sequence
        Values of the symbols, then of the inputs. The graph's stores to inputs are made.

    Returns
    -------
    list, or (int, list)
        The values of the outputs: arrays, or NumPy scalars for numbers. With control flow: the exit and its values.
    """
    count = len(graph.symbols)
    evaluator = _Evaluator(graph)
    exit_, outputs = evaluator.evaluate([*values[:count]], [*values[count:]])
    evaluator.write_back()
    return (exit_, outputs) if len(graph.blocks) > 1 else outputs


def _solver(name: str) -> Callable[..., Any]:
    """Return a gufunc of numpy.linalg that raises LinAlgError where there is no solution."""
    ufunc = getattr(_umath_linalg, name)

    def solve(*operands: Any) -> Any:
        try:
            with np.errstate(all="raise", under="ignore"):
                return ufunc(*operands)
        except FloatingPointError as error:
            raise np.linalg.LinAlgError(str(error)) from None

    return solve


_EVENTS = {"divide": 1, "over": 2, "under": 4, "invalid": 8}
_ERROR = 16  # a condition for which NumPy raises


class _Stopped(Exception):  # noqa: N818
    """The run had events that the caller does not accept."""


class _Evaluator:
    """Runs a graph in NumPy. Each value has the memory layout that the graph specifies, so that sums have NumPy's order.

    Values are immutable: a store copies its base. Inputs get their last version at the end of the run.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.sizes: dict[str, CodeType] = {}
        self.producers = {result: node for node in graph.nodes for result in node["results"]}
        self.ignored, self.events = sum(_EVENTS.values()), 0
        self.calls_python = any(node["op"] == "python_call" for node in graph.nodes)

    def run(self, symbols: list[int], inputs: list[Any]) -> tuple[int, int, list[Any] | None]:
        """Return the floating-point events (bits), the exit and the outputs.

        Inputs do not change when the run had events that errstate does not ignore.
        """
        caller = sum(_EVENTS[name] for name, mode in np.geterr().items() if mode == "ignore")
        self.ignored = caller & ~self.graph.reported_events | self.graph.ignored_events
        self.events = 0
        try:
            return self._run_recorded(symbols, inputs)
        finally:
            self._forget()

    def _run_recorded(self, symbols: list[int], inputs: list[Any]) -> tuple[int, int, list[Any] | None]:
        try:
            with nullcontext() if self.calls_python else self._recording():
                exit_, outputs = self.evaluate(symbols, inputs)
        except _Stopped:
            return self.events, 0, None
        except np.linalg.LinAlgError:
            return self.events | _ERROR, 0, None
        if self.events & ~self.ignored == 0:
            self.write_back()
        return self.events, exit_, outputs

    def _forget(self) -> None:
        """Drop the values of the run, which hold arrays of the caller."""
        for name in ("values", "kinds", "lanes", "memory", "given", "versions", "inputs"):
            self.__dict__.pop(name, None)

    def _recording(self) -> Any:
        def record(name: str, flags: int) -> None:
            self.events |= flags

        return np.errstate(all="call", call=record)

    def evaluate(self, symbols: list[int], inputs: list[Any]) -> tuple[int, list[Any]]:
        """Return the exit and its values. The inputs only change with write_back()."""
        self.names = {f"s{k}": value for k, value in enumerate(symbols)} | {"min": min, "max": max}
        self.values: dict[int, Any] = {}
        self.kinds: dict[int, str] = {}
        self.lanes: dict[int, Any] = {}  # value: mask of the selected elements
        self.memory: dict[int, int] = {}  # value: the input that it is a version of
        self.given: dict[int, tuple[Any, ...]] = {}  # results of calls
        self.versions: dict[int, Any] = {}  # input: its last version
        self.inputs = inputs
        for number, (spec, given) in enumerate(zip(self.graph.inputs, inputs, strict=True)):
            self._define(spec["value"], spec["kind"], np.asarray(given, dtype=spec["dtype"]))
            if spec["kind"] == "array":
                self.memory[spec["value"]] = number
        block = self.graph.blocks[0]
        while True:
            for node in block["nodes"]:
                self._run_node(node)
            end = block["end"]
            if not end["targets"]:
                return end["exit"], [self._handed_over(value) for value in end["operands"]]
            way = 0 if end["kind"] == "jump" or self.values[end["operands"][0]] else 1
            block = self._enter(end["targets"][way], end["arguments"][way])

    def write_back(self) -> None:
        """Write the last versions to the inputs."""
        for number, version in self.versions.items():
            self.inputs[number][...] = version

    def _handed_over(self, value: int) -> Any:
        array = self.values[value]
        return _copied(array) if self.kinds[value] == "array" else array[()]

    def _define(self, value: int, kind: str, array: Any, mask: Any = None) -> None:
        self.values[value], self.kinds[value] = array, kind
        self.memory.pop(value, None)
        self.lanes.pop(value, None)
        if mask is not None:
            self.lanes[value] = mask

    def _enter(self, number: int, arguments: list[int]) -> dict[str, Any]:
        block = self.graph.blocks[number]
        given = [(self.values[a], self.lanes.get(a), self.memory.get(a)) for a in arguments]
        for param, (array, mask, memory) in zip(block["params"], given, strict=True):
            self._define(param["value"], param["kind"], array, mask)
            if memory is not None:
                self.memory[param["value"]] = memory
        return block

    def _run_node(self, node: dict[str, Any]) -> None:
        operands = [self.values[o] for o in node["operands"]]
        masks = [self.lanes[o] for o in node["operands"] if o in self.lanes] if node["class"] == "pointwise" else []
        mask = np.logical_and.reduce(masks) if masks else None
        apart = self.calls_python and node["op"] != "python_call"  # callees run under the caller's errstate
        with self._recording() if apart else nullcontext():
            results = self._node(node, operands) if mask is None else self._in_lanes(node, operands, mask)
        if node["op"] == "lanes":
            mask = operands[1] if mask is None else mask & operands[1]
        for value, type_, result in zip(node["results"], node["types"], results, strict=True):
            array = result if node["class"] == "view" else _lay_out(result, type_)
            self._define(value, type_["kind"], array, mask)
        base = node["operands"][0] if node["class"] == "update" else None
        if base in self.memory:
            self.memory[node["results"][0]] = self.memory[base]
            if node["op"] != "reload":  # a reload is the memory's content already
                self.versions[self.memory[base]] = self.values[node["results"][0]]

    def _in_lanes(self, node: dict[str, Any], operands: list[Any], mask: Any) -> list[Any]:
        """Compute a pointwise operation for the elements that the mask selects; the others become one."""
        shape = mask.shape
        chosen = [np.broadcast_to(x, shape)[mask] if x.ndim or not shape else x for x in operands]
        full = [np.ones(shape, type_["dtype"]) for type_ in node["types"]]
        for array, result in zip(full, self._node(node, chosen), strict=True):
            array[mask] = result
        return full

    def _size(self, text: str) -> int:
        """Value of a size such as ``s0*s1 + 4``."""
        code = self.sizes.get(text)
        if code is None:
            code = self.sizes[text] = compile(text, "<size>", "eval")
        return int(eval(code, {"__builtins__": {}}, self.names))

    def _shape(self, sizes: list[str]) -> tuple[int, ...]:
        return tuple(map(self._size, sizes))

    def _node(self, node: dict[str, Any], operands: list[Any]) -> Sequence[Any]:
        special = getattr(self, "_op_" + node["op"], None)
        if special is not None:
            return (special(node, *operands),)
        python = node["types"][0]["kind"] == "py_scalar"
        name = "scalar_multiply" if python and node["op"] == "multiply" else node["op"]  # Python's products are not fused
        function = operation(name, operands) or getattr(np, name, None) or _solver(name)
        with np.errstate(all="ignore") if python else nullcontext():
            result = function(*operands)
        return result if isinstance(result, tuple) else (result,)

    # Operations that NumPy has no function for, or that take parameters from the node.

    def _op_constant(self, node: dict[str, Any]) -> Any:
        return np.asarray(node["literal"], dtype=node["types"][0]["dtype"])

    def _op_dim(self, node: dict[str, Any]) -> Any:
        return np.asarray(self._size(node["dims"][0]), dtype=np.int64)

    def _op_full(self, node: dict[str, Any], fill: Any) -> Any:
        return np.full(self._shape(node["types"][0]["shape"]), fill)

    def _op_arange(self, node: dict[str, Any], start: Any, delta: Any) -> Any:
        (count,) = self._shape(node["types"][0]["shape"])
        return start + np.arange(count).astype(start.dtype) * delta

    def _op_transpose(self, node: dict[str, Any], x: Any) -> Any:
        return np.transpose(x, node["axes"])

    def _op_expand_dims(self, node: dict[str, Any], x: Any) -> Any:
        return np.expand_dims(x, tuple(node["axes"]))

    def _op_squeeze(self, node: dict[str, Any], x: Any) -> Any:
        return np.squeeze(x, tuple(node["axes"]))

    def _op_broadcast_to(self, node: dict[str, Any], x: Any) -> Any:
        return np.broadcast_to(x, self._shape(node["types"][0]["shape"]))

    def _op_slice(self, node: dict[str, Any], x: Any) -> Any:
        shape = self._shape(node["types"][0]["shape"])
        parts = zip(self._shape(node["dims"]), self._shape(node["steps"]), shape, strict=True)
        return x[tuple(_slice(start, step, extent) for start, step, extent in parts)]

    def _op_reshape(self, node: dict[str, Any], x: Any) -> Any:
        return np.reshape(x, self._shape(node["types"][0]["shape"]))

    def _op_real(self, node: dict[str, Any], x: Any) -> Any:
        return x.real

    def _op_imag(self, node: dict[str, Any], x: Any) -> Any:
        return x.imag

    def _op_parts(self, node: dict[str, Any], x: Any) -> Any:
        return x.view((node["types"][0]["dtype"], (2,)))

    def _op_concatenate(self, node: dict[str, Any], *parts: Any) -> Any:
        return np.concatenate(parts, axis=node["axes"][0])

    def _op_astype(self, node: dict[str, Any], x: Any) -> Any:
        return x.astype(node["types"][0]["dtype"])

    def _op_reduce(self, node: dict[str, Any], x: Any, *given: Any) -> Any:
        options: dict[str, Any] = {"where" if np.ndim(value) else "initial": value[()] for value in given}
        ufunc = np.multiply if node["ufunc"] == "fused_multiply" else getattr(np, node["ufunc"])
        return ufunc.reduce(x, axis=tuple(node["axes"]), dtype=node["types"][0]["dtype"], **options)

    def _op_argmax(self, node: dict[str, Any], x: Any) -> Any:
        return np.argmax(x, axis=node["axes"][0])

    def _op_argmin(self, node: dict[str, Any], x: Any) -> Any:
        return np.argmin(x, axis=node["axes"][0])

    def _op_bind(self, node: dict[str, Any], x: Any) -> Any:
        self.names[node["dims"][0]] = int(x)
        return x

    def _op_lanes(self, node: dict[str, Any], x: Any, mask: Any) -> Any:
        return np.where(mask, x, np.ones((), x.dtype))

    def _op_add_overflows(self, node: dict[str, Any], x: Any, y: Any) -> Any:
        return _leaves(x.dtype, x.astype(object) + y.astype(object))

    def _op_subtract_overflows(self, node: dict[str, Any], x: Any, y: Any) -> Any:
        return _leaves(x.dtype, x.astype(object) - y.astype(object))

    def _op_multiply_overflows(self, node: dict[str, Any], x: Any, y: Any) -> Any:
        return _leaves(x.dtype, x.astype(object) * y.astype(object))

    def _op_call(self, node: dict[str, Any], *operands: Any) -> Any:
        kinds = [self.kinds[operand] for operand in node["operands"]]
        objects = [
            x if kind == "array" else x[()] if kind == "numpy_scalar" else x.item()
            for x, kind in zip(operands, kinds, strict=True)
        ]
        self.given[node["results"][0]] = node["function"](*objects)
        return np.int64(0)

    def _op_python_call(self, node: dict[str, Any], *operands: Any) -> Any:
        if self.events & ~self.ignored:
            raise _Stopped
        self.write_back()
        self.versions.clear()
        return self._op_call(node, *operands)

    def _op_reload(self, node: dict[str, Any], base: Any) -> Any:
        number = self.memory[node["operands"][0]]
        return np.array(self.versions.get(number, self.inputs[number]))

    def _op_draw(self, node: dict[str, Any], *operands: Any) -> Any:
        self._op_call(node, *operands)
        return np.asarray(self.given[node["results"][0]][0], node["types"][0]["dtype"])

    def _op_interrupted(self, node: dict[str, Any]) -> Any:
        return np.bool_(False)  # this runs in the interpreter, which handles signals itself

    def _op_extent(self, node: dict[str, Any], call: Any) -> Any:
        result, axis = node["axes"]
        return np.int64(self.given[node["operands"][0]][result].shape[axis])

    def _op_received(self, node: dict[str, Any], call: Any) -> Any:
        result = np.asarray(self.given[node["operands"][0]][node["axes"][0]], node["types"][0]["dtype"])
        if result.shape != self._shape(node["types"][0]["shape"]):
            raise ValueError("a result of another shape")
        return result

    def _op_take(self, node: dict[str, Any], base: Any, *indices: Any) -> Any:
        return base[indices]

    def _op_true_indices(self, node: dict[str, Any], x: Any) -> Any:
        return np.flatnonzero(x)

    def _op_accumulate(self, node: dict[str, Any], x: Any) -> Any:
        return getattr(np, node["ufunc"]).accumulate(x, axis=node["axes"][0])

    def _op_update_at(self, node: dict[str, Any], base: Any, value: Any, *indices: Any) -> Any:
        version = _lay_out(base.copy(order="K"), node["types"][0])
        getattr(np, node["ufunc"]).at(version, indices, value)
        return version

    def _op_put(self, node: dict[str, Any], base: Any, value: Any, *indices: Any) -> Any:
        version = _lay_out(base.copy(order="K"), node["types"][0])
        version[indices] = value
        return version

    def _op_add_row(self, node: dict[str, Any], base: Any, row: Any) -> Any:
        return np.concatenate([base, row[np.newaxis]])

    def _op_drop_row(self, node: dict[str, Any], base: Any) -> Any:
        return base[:-1]

    def _op_store(self, node: dict[str, Any], base: Any, view: Any, value: Any, mask: Any = True) -> Any:
        version = _lay_out(base.copy(order="K"), node["types"][0])
        part = self._same_view(node["operands"][1], node["operands"][0], version)
        if part.size > 0 and not np.may_share_memory(part, version):
            raise ValueError("a store through a reshape that has no strides")
        np.copyto(part, value, where=mask)
        return version

    def _same_view(self, value: int, base: int, version: Any) -> Any:
        """Return the view of `version` that corresponds to the view `value` of `base`."""
        if value == base:
            return version
        node = self.producers[value]
        (part,) = self._node(node, [self._same_view(node["operands"][0], base, version)])
        return part


def _leaves(dtype: Any, exact: Any) -> Any:
    bounds = np.iinfo(dtype)
    return (np.less(exact, bounds.min) | np.greater(exact, bounds.max)).astype(bool)


def _slice(start: int, step: int, extent: int) -> slice:
    stop = start + step * extent
    return slice(start, None if stop < 0 else stop, step) if extent > 0 else slice(0, 0)


def _lay_out(result: Any, type_: dict[str, Any]) -> Any:
    """Return `result` as an array without gaps whose axes from slowest to fastest are type_["order"]."""
    array = np.asarray(result)
    if array.dtype != type_["dtype"]:
        array = array.astype(type_["dtype"])
    if array.ndim < 2:
        return array
    order = type_["order"]
    if array.strides == _gapless(array, order).strides:
        return array
    return _copied(array, order)


def _gapless(array: Any, order: Sequence[int]) -> Any:
    """Return an empty array like `array` whose axes from slowest to fastest are `order`."""
    made = np.empty([array.shape[axis] for axis in order], array.dtype)
    return made if list(order) == sorted(order) else made.transpose(np.argsort(order))


def _copied(array: Any, order: Sequence[int] | None = None) -> Any:
    """Return a gapless copy with the axis order of `array`. NumPy's order "K" would move axes of extent 1."""
    if order is None:
        order = sorted(range(array.ndim), key=lambda axis: (-array.strides[axis], array.shape[axis] == 1))
    made = _gapless(array, order)
    if made.base is not None and made.size:
        made = np.ndarray(array.shape, array.dtype, strides=made.strides)  # owns its memory
    made[...] = array
    return made
