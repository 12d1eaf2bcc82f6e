"""What runs a captured graph: the native compiler, NumPy operation by operation, or a callable of yours.

A backend of yours is ``backend(graph, example_inputs) -> callable``. `graph` is a `Graph`; `example_inputs` are the values of
``graph.symbols`` at this call (ints), followed by those of ``graph.inputs``. The callable gets such values for each call and
returns the values of ``graph.outputs`` as fresh arrays of the dtype, shape and memory order that the graph says.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import CodeType
from typing import Any

import numpy as np

from .errors import ArgumentError

__all__ = ["Graph", "evaluate", "list_backends"]

_BACKENDS = {
    "native": "one compiled kernel",
    "numpy": "NumPy, operation by operation: slow, for comparing capture with compiled code",
}

Kernel = Callable[[list[int], list[Any]], tuple[int, Sequence[Any]]]


def list_backends() -> list[str]:
    """Return the names that ``accel.compile(backend=...)`` accepts."""
    return list(_BACKENDS)


def check_backend(backend: object) -> None:
    """Raise ArgumentError unless `backend` is a name or a callable."""
    if not callable(backend) and not (isinstance(backend, str) and backend in _BACKENDS):
        names = ", ".join(map(repr, _BACKENDS))
        raise ArgumentError(f"backend cannot be {backend!r}: use one of {names}, or a callable (graph, example_inputs)")


def backend_name(backend: str | Callable[..., Any]) -> str:
    """Return the name of a backend, for people."""
    return backend if isinstance(backend, str) else getattr(backend, "__qualname__", repr(backend))


class Graph:
    """A captured function as plain data.

    Attributes
    ----------
    symbols : list of str
        Names of the symbols s0, s1, ...: sizes, strides and numbers that differ from call to call.
    inputs : list of dict
        value (int), name, kind, dtype, shape, order, layout ("dense" or "strided"), slot (the symbol with a number's bits).
    nodes : list of dict
        In program order: op (as NumPy spells it), class, operands and results (ints), types (of the results: kind, dtype,
        shape, order), axes, dims, steps, ufunc, buffered, literal, file, line. Sizes are expressions over the symbols.
    outputs : list of int
    """

    def __init__(self, data: dict[str, Any]) -> None:
        self.symbols: list[str] = data["symbols"]
        self.inputs: list[dict[str, Any]] = data["inputs"]
        self.nodes: list[dict[str, Any]] = data["nodes"]
        self.outputs: list[int] = data["outputs"]

    def __repr__(self) -> str:
        lines = [f"%{i['value']} = input {i['name']!r} : {_type_text(i)}" for i in self.inputs]
        for node in self.nodes:
            results = ", ".join(f"%{r}" for r in node["results"])
            operands = ", ".join(f"%{o}" for o in node["operands"])
            types = ", ".join(map(_type_text, node["types"]))
            lines.append(f"{results} = {node['op']}({operands}) : {types}  # line {node['line']}")
        lines.append("return " + ", ".join(f"%{o}" for o in self.outputs))
        return "\n".join(lines)


def _type_text(type_: dict[str, Any]) -> str:
    return f"{type_['kind']} {type_['dtype']}[{', '.join(type_['shape'])}]"


class adapt:  # noqa: N801
    """A backend as the core calls it: ``(data, symbols, inputs) -> kernel(symbols, inputs) -> (status, outputs)``."""

    def __init__(self, source: str | Callable[..., Any]) -> None:
        self.source = source

    def __call__(self, data: dict[str, Any], symbols: list[int], inputs: list[Any]) -> Kernel:
        """Compile one graph."""
        graph = Graph(data)
        if not callable(self.source):
            return _Evaluator(graph).run
        run = self.source(graph, [*symbols, *inputs])
        if not callable(run):
            raise ArgumentError(f"the backend returned {run!r}: it has to return a callable")
        return lambda symbols, inputs: (0, run(*symbols, *inputs))


def evaluate(graph: Graph, values: Sequence[Any]) -> list[Any]:
    """Evaluate a graph in NumPy, operation by operation.

    Parameters
    ----------
    graph : Graph
    values : sequence
        Values of the symbols, then of the inputs.

    Returns
    -------
    list
        The values of the outputs: arrays, or NumPy scalars for numbers.
    """
    count = len(graph.symbols)
    return _Evaluator(graph)._outputs([*values[:count]], [*values[count:]])


class _Evaluator:
    """Runs a graph in NumPy. Each value is laid out in memory as the graph says, so sums add up in the same order."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.sizes: dict[str, CodeType] = {}

    def run(self, symbols: list[int], inputs: list[Any]) -> tuple[int, list[Any]]:
        """Return the floating-point events (bits) and the outputs."""
        events = 0

        def record(name: str, flags: int) -> None:
            nonlocal events
            events |= flags

        with np.errstate(all="call", call=record):
            outputs = self._outputs(symbols, inputs)
        return events, outputs

    def _outputs(self, symbols: list[int], inputs: list[Any]) -> list[Any]:
        self.names = {f"s{k}": value for k, value in enumerate(symbols)} | {"min": min, "max": max}
        values: dict[int, Any] = {}
        kinds: dict[int, str] = {}
        for spec, given in zip(self.graph.inputs, inputs, strict=True):
            values[spec["value"]] = np.asarray(given, dtype=spec["dtype"])
            kinds[spec["value"]] = spec["kind"]
        for node in self.graph.nodes:
            results = self._node(node, [values[o] for o in node["operands"]])
            for id_, type_, result in zip(node["results"], node["types"], results, strict=True):
                values[id_] = result if node["class"] == "view" else _lay_out(result, type_)
                kinds[id_] = type_["kind"]
        return [values[o].copy(order="K") if kinds[o] == "array" else values[o][()] for o in self.graph.outputs]

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
        result = getattr(np, node["op"])(*operands)
        return result if isinstance(result, tuple) else (result,)

    # Operations that are no functions of NumPy, or take their parameters from the node.

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

    def _op_concatenate(self, node: dict[str, Any], *parts: Any) -> Any:
        return np.concatenate(parts, axis=node["axes"][0])

    def _op_astype(self, node: dict[str, Any], x: Any) -> Any:
        return x.astype(node["types"][0]["dtype"])

    def _op_reduce(self, node: dict[str, Any], x: Any, initial: Any = None) -> Any:
        options = {} if initial is None else {"initial": initial[()]}
        ufunc = getattr(np, node["ufunc"])
        return ufunc.reduce(x, axis=tuple(node["axes"]), dtype=node["types"][0]["dtype"], **options)

    def _op_argmax(self, node: dict[str, Any], x: Any) -> Any:
        return np.argmax(x, axis=node["axes"][0])

    def _op_argmin(self, node: dict[str, Any], x: Any) -> Any:
        return np.argmin(x, axis=node["axes"][0])


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
    return np.ascontiguousarray(array.transpose(order)).transpose(np.argsort(order))
