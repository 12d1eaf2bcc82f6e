"""Files that reproduce a difference between compiled code and NumPy: the function and its arguments as text."""

from __future__ import annotations

import base64
import dis
import importlib
import io
import marshal
import os
import pickle
import platform
import tempfile
import types
import zlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _accel
from .config import config

if TYPE_CHECKING:
    from ._verify import Check

__all__ = ["reproduce", "write"]

_TEMPLATE = '''"""accel and NumPy gave different results for {place}.

{difference}

accel {version}, NumPy {numpy}, Python {python}, {machine}. Run this file to see it again.
"""

from accel._reproduction import reproduce

# The function and its arguments, by pickle and zlib.
DATA = """
{data}
"""

if __name__ == "__main__":
    raise SystemExit(reproduce(DATA))
'''


def write(check: Check, place: str, difference: str) -> str:
    """Write the file for a check that failed; return a sentence with its path, or why there is none."""
    call = {
        "function": check.function,
        "values": check.before,
        "names": check.names,
        "errstate": np.geterr(),
        "settings": {row["name"]: row_value for row in _accel.settings_table() if (row_value := _changed(row)) is not None},
    }
    try:
        data = _encoded(call, check.function.__module__)
    except Exception as error:  # an argument that cannot be pickled
        return f"There is no file that reproduces it ({type(error).__name__}: {error})"
    text = _TEMPLATE.format(
        place=place,
        difference=difference.replace("\\", "\\\\").replace('"""', "'''"),
        version=_accel.__version__,
        numpy=np.__version__,
        python=platform.python_version(),
        machine=platform.machine(),
        data=data,
    )
    try:
        return _save(text, check.function.__name__) + " reproduces it"
    except OSError as error:
        return f"There is no file that reproduces it ({error})"


def _changed(row: dict[str, Any]) -> Any:
    """Return the value of a setting that affects compiled code, None when it is the default or another setting."""
    if row["name"] not in ("extra_flags", "compiler", "parallel_threshold", "threads"):
        return None
    value = _accel.get_setting(row["name"])
    return value if value not in (0, "") else None


def _save(text: str, name: str) -> str:
    folder = config.dump_dir or os.path.join(tempfile.gettempdir(), "accel-differences")
    os.makedirs(folder, mode=0o700, exist_ok=True)
    letters = "".join(c if c.isalnum() else "_" for c in name)
    descriptor, path = tempfile.mkstemp(".py", letters + "-", folder)
    with os.fdopen(descriptor, "w") as file:
        file.write(text)
    return path


def reproduce(data: str) -> int:
    """Call the compiled function twice and compare: 1 when a call differs from NumPy, else 0."""
    from ._compile import compile
    from ._verify import Check

    call = pickle.loads(zlib.decompress(base64.b64decode(data)))
    function, names = call["function"], call["names"]
    compiled = compile(function)
    with np.errstate(**call["errstate"]), config(verify=0.0, **call["settings"]):
        for _ in range(2):
            check = Check(function, call["values"], names)
            check.found = _call(compiled, check.copies, names)
            expected, error = None, None
            try:
                expected = _call(function, check.values, names)
            except Exception as raised:
                error = raised
            difference = check._difference(expected, error)
            call["values"] = check.before
            if difference:
                print(difference)
                return 1
    print("no difference here")
    return 0


def _call(function: Any, values: tuple[Any, ...], names: tuple[str, ...]) -> Any:
    count = len(values) - len(names)
    return function(*values[:count], **dict(zip(names, values[count:], strict=True)))


def _encoded(call: dict[str, Any], module: str) -> str:
    file = io.BytesIO()
    _Pickler(file, module).dump(call)
    lines = base64.b64encode(zlib.compress(file.getvalue())).decode()
    return "\n".join(lines[start : start + 100] for start in range(0, len(lines), 100))


class _Pickler(pickle.Pickler):
    """Pickles the functions and classes of one module, and of ``__main__``, by value, and arrays with their layout."""

    def __init__(self, file: Any, module: str) -> None:
        super().__init__(file, protocol=5)
        self.by_value = {module, "__main__"}

    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, types.ModuleType):
            return importlib.import_module, (value.__name__,)
        if isinstance(value, _accel.CompiledFunction):
            return _compiled, (value.__wrapped__,)
        if isinstance(value, types.FunctionType) and value.__module__ in self.by_value:
            return self._function(value)
        if isinstance(value, type) and value.__module__ in self.by_value:
            return self._class(value)
        if isinstance(value, types.MappingProxyType):
            return _proxy, (dict(value),)
        if isinstance(value, types.CellType):
            return _empty_cell, (), _contents(value), None, None, _set_contents
        if type(value) is np.ndarray and type(value.base) is np.ndarray and value.base.dtype == np.uint8:
            offset = value.__array_interface__["data"][0] - value.base.__array_interface__["data"][0]
            writeable = value.flags.writeable
            return _array, (value.base, value.shape, value.dtype, offset, value.strides, writeable)
        return NotImplemented

    def _function(self, function: types.FunctionType) -> Any:
        code = function.__code__
        used = {name: function.__globals__[name] for name in _global_names(code) if name in function.__globals__}
        state = (used, function.__defaults__, function.__kwdefaults__)
        made = (marshal.dumps(code), function.__name__, function.__closure__)
        return _new_function, made, state, None, None, _set_function

    def _class(self, kind: type) -> Any:
        own = {"__dict__", "__weakref__", "__module__", "__doc__", "__annotate_func__", "__annotations_cache__"}
        members = {
            name: value
            for name, value in vars(kind).items()
            if name not in own and not isinstance(value, types.MemberDescriptorType | types.GetSetDescriptorType)
        }
        if "__annotate_func__" in vars(kind):  # it refers to the namespace of the class, which cannot be pickled
            members["__annotations__"] = _annotations(kind)
        slots = members.pop("__slots__", None)
        return _new_class, (type(kind), kind.__name__, kind.__bases__, slots), members, None, None, _set_class


def _global_names(code: types.CodeType) -> Iterator[str]:
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            yield str(instruction.argval)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _global_names(constant)


def _annotations(kind: type) -> dict[str, Any]:
    """Return the annotations of a class, none where evaluating them fails."""
    try:
        return dict(kind.__annotations__)
    except Exception:
        return {}


def _compiled(function: types.FunctionType) -> Any:
    from ._compile import compile

    return compile(function)


def _proxy(mapping: dict[Any, Any]) -> types.MappingProxyType[Any, Any]:
    return types.MappingProxyType(mapping)


def _array(memory: Any, shape: Any, dtype: Any, offset: int, strides: Any, writeable: bool) -> Any:
    array: Any = np.ndarray(shape, dtype, memory, offset, strides)
    array.flags.writeable = writeable
    return array


def _new_function(code: bytes, name: str, closure: Any) -> types.FunctionType:
    return types.FunctionType(marshal.loads(code), {"__builtins__": __builtins__, "__name__": "__main__"}, name, None, closure)


def _set_function(function: types.FunctionType, state: Any) -> None:
    used, function.__defaults__, function.__kwdefaults__ = state
    function.__globals__.update(used)


def _new_class(meta: Any, name: str, bases: Any, slots: Any) -> Any:
    return meta(name, bases, {} if slots is None else {"__slots__": slots})


def _set_class(kind: type, members: dict[str, Any]) -> None:
    for name, value in members.items():
        setattr(kind, name, value)


def _empty_cell() -> types.CellType:
    return types.CellType()


def _contents(cell: types.CellType) -> Any:
    try:
        return (cell.cell_contents,)
    except ValueError:  # empty
        return ()


def _set_contents(cell: types.CellType, contents: Any) -> None:
    if contents:
        (cell.cell_contents,) = contents
