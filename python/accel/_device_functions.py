"""What DeviceArrays compute: compiled functions of one operation each, made when they are first needed. Called from C++.

Compiled code runs on the device. When it cannot, the interpreter runs the same operation, which leads here again; then NumPy
computes the result from copies on the host.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from types import FunctionType
from typing import Any, cast

import numpy as np

from . import _accel
from ._accel import DeviceArray

_MOST_FUNCTIONS = 8192  # compiled functions in the cache, which is emptied when full
_NUMBERS = (int, float, complex, np.number, np.bool_)


def _run(compiled: Callable[..., Any], plain: Callable[..., Any], operands: list[Any], written: tuple[int, ...] = ()) -> Any:
    """Call a compiled function, or from within one the function in Python on copies on the host."""
    if _accel.is_in_device_function():
        return _on_host(plain, operands, written)
    return _accel.run_device_function(compiled, operands)


def _on_host(plain: Callable[..., Any], operands: list[Any], written: tuple[int, ...]) -> Any:
    """Call a function with ndarrays; `written` are the numbers of the operands that it changes."""
    copies = {id(x): _host_copy(x) for x in operands if isinstance(x, DeviceArray)}  # one for each array
    hosts = [copies.get(id(x), x) for x in operands]
    result = plain(*hosts)
    for index in written:
        if isinstance(operands[index], DeviceArray):
            _accel.assign_from_host(operands[index], hosts[index])
    number = next((int(x.device.partition(":")[2]) for x in operands if isinstance(x, DeviceArray)), 0)
    same = {id(host): operand for host, operand in zip(hosts, operands, strict=True)}
    return _to_device(result, number, same)


def _host_copy(array: DeviceArray) -> np.ndarray[Any, Any]:
    copy = array.numpy()
    copy.flags.writeable = array.flags.writeable
    return copy


def _to_device(result: Any, number: int, same: dict[int, Any]) -> Any:
    """Return a result with its ndarrays on the device; operands, by their ids on the host, are returned themselves."""
    if id(result) in same:
        return same[id(result)]
    if type(result) is np.ndarray and result.dtype.kind in "biufc" and result.dtype.itemsize <= 16:
        return _accel.to_device(np.require(result, requirements=["ALIGNED"]), number)
    if type(result) in (list, tuple):
        return type(result)(_to_device(part, number, same) for part in result)
    if isinstance(result, tuple) and hasattr(result, "_fields"):
        return type(result)(*(_to_device(part, number, same) for part in result))
    return result


# ---- Operators

_OPERATORS = {
    **{symbol: f"lambda a, b: a {symbol} b" for symbol in "+ - * / // % @ << >> & ^ | ** < <= == != > >=".split()},
    "divmod": "lambda a, b: divmod(a, b)",
}
_OPERATORS_ON_ONE = {"-": "lambda a: -a", "+": "lambda a: +a", "~": "lambda a: ~a", "abs": "lambda a: abs(a)"}


_MOST_VERSIONS = 64  # of one of these functions, which is for one combination of dtypes and ranks


def _compile(plain: FunctionType) -> Callable[..., Any]:
    return _accel.make_function(plain, False, None, False, None, "native", most_versions=_MOST_VERSIONS)


def _kinds(operands: list[Any]) -> tuple[Any, ...]:
    """Return what decides the operations of a compiled function."""
    return tuple((type(x), x.dtype, x.ndim) if isinstance(x, (DeviceArray, np.ndarray)) else type(x) for x in operands)


@cache
def _operator(text: str, kinds: tuple[Any, ...]) -> tuple[Callable[..., Any], Callable[..., Any]]:
    plain = eval(text)
    return _compile(plain), plain


@cache
def _operator_in_place(symbol: str, kinds: tuple[Any, ...]) -> tuple[Callable[..., Any], Callable[..., Any]]:
    namespace: dict[str, Any] = {"__name__": __name__}
    exec(f"def in_place(a, b):\n    a {symbol} b\n    return a\n", namespace)
    return _compile(namespace["in_place"]), namespace["in_place"]


def compiled_operation(function: str, symbol: str, *operands: Any) -> Callable[..., Any]:
    """Return the compiled function with which `operate`, `operate_in_place` or `operate_on` applies an operator."""
    kinds = _kinds(list(operands))
    if function == "operate_in_place":
        return _operator_in_place(symbol, kinds)[0]
    return _operator((_OPERATORS if function == "operate" else _OPERATORS_ON_ONE)[symbol], kinds)[0]


def _operand(x: object) -> Any:
    """Return what an operator takes for an operand; NotImplemented when it takes none."""
    if isinstance(x, (DeviceArray, np.ndarray, *_NUMBERS)):
        return x
    if isinstance(x, (list, tuple)):
        return np.asarray(x)
    guest = _accel.wrap_guest(x)
    return NotImplemented if guest is None else guest


def operate(symbol: str, left: object, right: object) -> Any:
    """Apply a binary operator."""
    operands = [_operand(left), _operand(right)]
    if any(operand is NotImplemented for operand in operands):
        return NotImplemented
    return _run(*_operator(_OPERATORS[symbol], _kinds(operands)), operands)


def operate_in_place(symbol: str, target: DeviceArray, operand: object) -> Any:
    """Apply an operator such as ``+=``."""
    value = _operand(operand)
    if value is NotImplemented:
        return NotImplemented
    return _run(*_operator_in_place(symbol, _kinds([target, value])), [target, value], written=(0,))


def operate_on(symbol: str, operand: DeviceArray) -> Any:
    """Apply a unary operator."""
    return _run(*_operator(_OPERATORS_ON_ONE[symbol], _kinds([operand])), [operand])


# ---- Single functions


def _assign(target: Any, value: Any) -> None:
    target[...] = value


def _contains(array: Any, value: Any) -> Any:
    return (array == value).any()


def _imaginary_part(array: Any) -> Any:
    return array.imag


@cache
def _compiled(plain: Callable[..., Any], kinds: tuple[Any, ...]) -> Callable[..., Any]:
    assert isinstance(plain, FunctionType)
    return _compile(FunctionType(plain.__code__, plain.__globals__, plain.__name__))


def assign(target: DeviceArray, value: object) -> None:
    """Assign a value of any dtype, broadcast, to all elements."""
    operand = _operand(value)
    operands = [target, np.asarray(value) if operand is NotImplemented else operand]
    _run(_compiled(_assign, _kinds(operands)), _assign, operands, written=(0,))


def contains(array: DeviceArray, value: object) -> Any:
    """Return whether an element equals the value."""
    return _run(_compiled(_contains, _kinds([array, value])), _contains, [array, value])


def imaginary_part(array: DeviceArray) -> Any:
    """Return the imaginary parts of real numbers."""
    return _run(_compiled(_imaginary_part, _kinds([array])), _imaginary_part, [array])


def copied(array: DeviceArray, order: str) -> Any:
    """Return a copy whose elements lie otherwise in memory."""
    return _call_with("a0.copy(k0)", None, [array], [order])


def packed(array: DeviceArray) -> Any:
    """Return a copy without gaps; the array itself from within a compiled function."""
    return array if _accel.is_in_device_function() else copied(array, "K")


# ---- Functions and methods of NumPy, with their arguments

_functions: dict[Any, tuple[Callable[..., Any], Callable[..., Any]]] = {}


class _Structure:
    """The text of a call's arguments: arrays and inexact numbers are parameters, all else are constants of the function."""

    def __init__(self, takes_integers: bool = False) -> None:
        self._takes_integers = takes_integers  # as parameters, when they are arguments themselves
        self.parameters: list[Any] = []
        self.constants: list[Any] = []

    def text(self, value: Any) -> str:
        if value is None or value is ... or type(value) in (bool, int, str):
            return repr(value) if value is not ... else "..."
        if isinstance(value, (DeviceArray, np.ndarray, np.generic)) or type(value) in (float, complex):
            self.parameters.append(value)
            return f"a{len(self.parameters) - 1}"
        if type(value) in (list, tuple):
            inside = "".join(self.text(part) + ", " for part in value)
            return f"[{inside}]" if type(value) is list else f"({inside})"
        guest = None if isinstance(value, _PLAIN) else _accel.wrap_guest(value)
        if guest is not None:
            return self.text(guest)
        self.constants.append(value)
        return f"k{len(self.constants) - 1}"

    def _argument(self, value: Any) -> str:
        if not (self._takes_integers and type(value) is int):
            return self.text(value)
        self.parameters.append(value)
        return f"a{len(self.parameters) - 1}"

    def arguments(self, values: tuple[Any, ...], named: dict[str, Any]) -> str:
        """Return the text between the brackets of a call."""
        texts = [self._argument(value) for value in values]
        texts += [f"{name}={self.text(value)}" for name, value in named.items()]
        return ", ".join(texts)


_PLAIN = (slice, type, np.dtype, np.ufunc)  # which are no guests


def _key_of(constant: Any) -> Any:
    if isinstance(constant, slice):  # unhashable before CPython 3.12
        return slice, constant.start, constant.stop, constant.step
    return type(constant), constant


def _function_of(text: str, names: str, namespace: dict[str, Any]) -> FunctionType:
    """Return a function of these parameters that evaluates an expression, or makes an assignment: a text with " = "."""
    if " = " in text:
        exec(f"def assign({names}):\n    {text}\n", namespace)
        return cast(FunctionType, namespace["assign"])
    return cast(FunctionType, eval(f"lambda {names}: {text}", namespace))


def _call_with(text: str, function: Any, parameters: list[Any], constants: list[Any], written: tuple[int, ...] = ()) -> Any:
    """Run the expression `text` of the parameters a0, a1, ..., the constants k0, k1, ... and `function`, compiled."""
    try:
        key = (text, function, _kinds(parameters), tuple(map(_key_of, constants)))
        found = _functions.get(key)
    except TypeError:  # a constant that cannot be hashed
        key, found = None, None
    if found is None:
        names = ", ".join(f"a{index}" for index in range(len(parameters)))
        namespace = {"function": function, **{f"k{index}": constant for index, constant in enumerate(constants)}}
        plain = _function_of(text, names, namespace)
        if key is None:
            return _on_host(plain, parameters, written)
        if len(_functions) >= _MOST_FUNCTIONS:
            _functions.clear()
        found = _functions[key] = (_compile(plain), plain)
    return _run(*found, parameters, written)


def _selection(array: DeviceArray, key: Any) -> tuple[_Structure, str]:
    """Return the text ``a0[...]`` of indexing with arrays and lists."""
    structure = _Structure(takes_integers=True)
    structure.text(array)
    parts = [np.asarray(part, None if len(part) else np.intp) if isinstance(part, (list, tuple)) else part for part in key]
    return structure, f"a0[{structure.arguments(tuple(parts), {})}]"


def select(array: DeviceArray, key: Any) -> Any:
    """Return the elements that arrays and lists select."""
    structure, text = _selection(array, key if isinstance(key, tuple) else (key,))
    return _call_with(text, None, structure.parameters, structure.constants)


def store_selected(array: DeviceArray, key: Any, value: Any) -> None:
    """Assign to the elements that arrays and lists select."""
    structure, text = _selection(array, key if isinstance(key, tuple) else (key,))
    operand = _operand(value)
    structure.parameters.append(np.asarray(value) if operand is NotImplemented else operand)
    text += f" = a{len(structure.parameters) - 1}"
    _call_with(text, None, structure.parameters, structure.constants, written=(0,))


_CHANGE_THEIR_ARRAY = {"partition", "put", "sort"}  # methods


def method(name: str, array: DeviceArray, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
    """Call a method of ndarrays."""
    structure = _Structure(takes_integers=name == "clip")
    structure.text(array)
    text = f"a0.{name}({structure.arguments(arguments, named)})"
    written = (0,) if name in _CHANGE_THEIR_ARRAY else _outputs(structure, named)
    return _call_with(text, None, structure.parameters, structure.constants, written)


def _outputs(structure: _Structure, named: dict[str, Any]) -> tuple[int, ...]:
    """Return the numbers of the parameters that are passed as `out`."""
    outputs = named.get("out")
    arrays = outputs if isinstance(outputs, tuple) else (outputs,)
    return tuple(i for i, x in enumerate(structure.parameters) if any(x is array for array in arrays))


def _call(
    expression: str, function: Any, arguments: tuple[Any, ...], named: dict[str, Any], changes_first: bool = False
) -> Any:
    structure = _Structure(
        takes_integers=expression == "function" and isinstance(function, np.ufunc) or function in _ON_ELEMENTS
    )
    text = f"{expression}({structure.arguments(arguments, named)})"
    written = _outputs(structure, named)
    if changes_first and arguments and isinstance(arguments[0], DeviceArray):
        written = (0, *written)
    return _call_with(text, function, structure.parameters, structure.constants, written)


# ---- The protocols of NumPy

_VIEW_FUNCTIONS = {
    *(np.array_split, np.broadcast_to, np.diagonal, np.dsplit, np.expand_dims, np.flip, np.fliplr, np.flipud, np.hsplit),
    *(np.matrix_transpose, np.moveaxis, np.permute_dims, np.rollaxis, np.rot90, np.split, np.squeeze, np.swapaxes),
    *(np.transpose, np.unstack, np.vsplit),
}
_FUNCTIONS_OF_EACH = {np.atleast_1d, np.atleast_2d, np.atleast_3d}  # make views of each of their arguments
_RANK_THAT_GIVES_SCALARS = {np.flip: 0, np.unstack: 1}  # of arrays whose elements these functions read
_LAYOUT_FUNCTIONS = {np.iscomplexobj, np.isrealobj, np.ndim, np.shape, np.size}
_SHARING_FUNCTIONS = {np.may_share_memory, np.shares_memory}
_ATTRIBUTE_FUNCTIONS = {np.real: "real", np.imag: "imag"}
_METHOD_FUNCTIONS = {np.copy: "copy", np.ravel: "ravel", np.reshape: "reshape"}
_ON_ELEMENTS = {np.clip, np.copyto, np.full_like, np.isclose, np.where}  # whose arguments are operands, not axes
_CHANGE_THEIR_FIRST = {np.copyto, np.fill_diagonal, np.place, np.put, np.put_along_axis, np.putmask}
_HOST_FUNCTIONS = {
    *(np.array2string, np.array_repr, np.array_str, np.result_type, np.can_cast),
    *(np.save, np.savez, np.savez_compressed, np.savetxt),
}


def _device_arrays(value: Any) -> Iterator[DeviceArray]:
    if isinstance(value, DeviceArray):
        yield value
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from _device_arrays(part)


def _on_the_host(value: Any) -> Any:
    """Return the value with ndarrays in place of DeviceArrays."""
    if isinstance(value, DeviceArray):
        return value.numpy()
    return type(value)(map(_on_the_host, value)) if type(value) in (list, tuple) else value


def _call_with_ndarrays(function: Callable[..., Any], arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
    return function(*map(_on_the_host, arguments), **{name: _on_the_host(value) for name, value in named.items()})


def _view_of(function: Any, value: Any) -> Any:
    return _accel.rearranged(function, value, (), {}) if isinstance(value, DeviceArray) else function(value)


def _array_function(array: DeviceArray, function: Any, types: Any, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
    if not all(issubclass(each, (DeviceArray, np.ndarray)) for each in types):
        return NotImplemented
    is_of_first = len(arguments) > 0 and isinstance(arguments[0], DeviceArray)
    is_alone = is_of_first and next(_device_arrays((*arguments[1:], *named.values())), None) is None
    if function in _FUNCTIONS_OF_EACH and not named:
        views = tuple(_view_of(function, argument) for argument in arguments)
        return views if len(views) > 1 else views[0]
    if is_alone and _RANK_THAT_GIVES_SCALARS.get(function) == arguments[0].ndim:
        return _call_with_ndarrays(function, arguments, named)
    if is_alone and (function in _VIEW_FUNCTIONS or function in _LAYOUT_FUNCTIONS):
        return _accel.rearranged(function, arguments[0], arguments[1:], named)
    if is_alone and function in _ATTRIBUTE_FUNCTIONS:
        return getattr(arguments[0], _ATTRIBUTE_FUNCTIONS[function])
    if is_alone and function in _METHOD_FUNCTIONS:
        return getattr(arguments[0], _METHOD_FUNCTIONS[function])(*arguments[1:], **named)
    if function in _SHARING_FUNCTIONS and len(arguments) == 2:
        first, second = arguments if is_of_first else reversed(arguments)
        return _accel.rearranged(function, first, (second,), named)
    if function in _HOST_FUNCTIONS:
        return _call_with_ndarrays(function, arguments, named)
    return _call("function", function, arguments, named, changes_first=function in _CHANGE_THEIR_FIRST)


def _array_ufunc(array: DeviceArray, function: Any, name: str, *inputs: Any, **named: Any) -> Any:
    outputs = named.pop("out", ())
    if any(output is not None and not isinstance(output, DeviceArray) for output in outputs):
        return _call_with_ndarrays(getattr(function, name), inputs, {**named, "out": outputs})
    if outputs:
        named["out"] = outputs if len(outputs) > 1 else outputs[0]
    expression = "function" if name == "__call__" else f"function.{name}"
    return _call(expression, function, inputs, named, changes_first=name == "at")


def _astype(
    array: DeviceArray, dtype: Any, order: str = "K", casting: str = "unsafe", subok: bool = True, copy: bool = True
) -> Any:
    wanted = np.dtype(dtype)
    if wanted == array.dtype:
        return array.copy(order) if copy else array
    keywords = {} if casting == "unsafe" else {"casting": casting}
    return method("astype", array, (wanted,), keywords if order == "K" else {**keywords, "order": order})


def _reduce(array: DeviceArray) -> Any:
    from ._device import _rebuild

    return _rebuild, (array.numpy(), array.device)


_PROTOCOLS: dict[str, Callable[..., Any]] = {
    "__array_function__": _array_function,
    "__array_ufunc__": _array_ufunc,
    "__copy__": lambda array: array.copy("K"),
    "__deepcopy__": lambda array, memo: array.copy("K"),
    "__format__": lambda array, text: format(array.numpy() if array.ndim > 0 else array[()], text),
    "__reduce__": _reduce,
    "astype": _astype,
    "tobytes": lambda array, order="C": array.numpy().tobytes(order),
}


def protocol(name: str, array: DeviceArray, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
    """Call a method of DeviceArrays that is written in Python."""
    return _PROTOCOLS[name](array, *arguments, **named)


# ---- Texts


class ArrayFlags:
    """How the elements of a DeviceArray lie in memory, as ``numpy.ndarray.flags`` says it. Cannot be set."""

    __slots__ = ("aligned", "c_contiguous", "f_contiguous", "owndata", "writeable")

    def __init__(self, c_contiguous: bool, f_contiguous: bool, owndata: bool, writeable: bool, aligned: bool) -> None:
        for name, value in zip(_FLAG_NAMES, (c_contiguous, f_contiguous, owndata, writeable, aligned), strict=True):
            object.__setattr__(self, name.lower(), bool(value))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"flags of a DeviceArray cannot be set: {name}")

    def __getitem__(self, name: str) -> bool:
        name = _SHORT_NAMES.get(name, name)
        if name not in _FLAG_NAMES:
            raise KeyError("Unknown flag")
        return bool(getattr(self, name.lower()))

    @property
    def contiguous(self) -> bool:
        """Whether the elements lie in C order without gaps."""
        return self["C"]

    def __repr__(self) -> str:
        return "".join(f"  {name} : {self[name]}\n" for name in _FLAG_NAMES)


_FLAG_NAMES = ("C_CONTIGUOUS", "F_CONTIGUOUS", "OWNDATA", "WRITEABLE", "ALIGNED")
_SHORT_NAMES = {"C": "C_CONTIGUOUS", "CONTIGUOUS": "C_CONTIGUOUS", "F": "F_CONTIGUOUS", "FORTRAN": "F_CONTIGUOUS"}
_SHORT_NAMES |= {"O": "OWNDATA", "W": "WRITEABLE", "A": "ALIGNED"}


def array_flags(values: tuple[int, ...]) -> ArrayFlags:
    """Return ``DeviceArray.flags``; `values` are in the order of _FLAG_NAMES."""
    return ArrayFlags(*map(bool, values))


def _edges(array: DeviceArray, axis: int, count: int) -> np.ndarray[Any, Any]:
    """Return the elements at the ends of all axes, `count` at each end, and one more between them on long axes."""
    if axis == array.ndim:
        return array.numpy()
    if array.shape[axis] <= 2 * count + 1:
        return _edges(array, axis + 1, count)
    before = (slice(None),) * axis
    parts = [array[(*before, slice(0, count + 1))], array[(*before, slice(array.shape[axis] - count, None))]]
    return np.concatenate([_edges(part, axis + 1, count) for part in parts], axis)


def _text(array: DeviceArray, separator: str, prefix: str, suffix: str) -> str:
    """Return the elements as NumPy prints them. Of arrays that it prints in part, only these elements are copied."""
    options = np.get_printoptions()
    is_printed_in_part = array.size > options["threshold"]
    shown = _edges(array, 0, options["edgeitems"]) if is_printed_in_part else array.numpy()
    threshold = 0 if is_printed_in_part else options["threshold"]
    return np.array2string(shown, separator=separator, prefix=prefix, suffix=suffix, threshold=threshold)


def array_repr(array: DeviceArray) -> str:
    """Return ``DeviceArray([1., 2.], device='cuda:0')``."""
    is_implied = array.dtype in (np.dtype(bool), np.dtype(int), np.dtype(float), np.dtype(complex)) and array.size > 0
    dtype = "" if is_implied else f", dtype={array.dtype}"
    if array.size == 0:
        values = "[]" if array.shape == (0,) else f"[], shape={array.shape}"
    else:
        values = _text(array, ", ", "DeviceArray(", ",")
    return f"DeviceArray({values}{dtype}, device={array.device!r})"


def array_str(array: DeviceArray) -> str:
    """Return the text that an ndarray has."""
    if array.ndim == 0:
        return str(array[()])
    return _text(array, " ", "", "") if array.size > 0 else "[]"
