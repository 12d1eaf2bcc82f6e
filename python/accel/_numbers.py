"""Operations on scalars that NumPy has no functions for, on arrays of rank 0: for evaluating graphs in NumPy."""

from __future__ import annotations

import cmath
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

_COMPARISONS = {
    "equal": operator.eq,
    "not_equal": operator.ne,
    "less": operator.lt,
    "less_equal": operator.le,
    "greater": operator.gt,
    "greater_equal": operator.ge,
}
_LOW, _HIGH = -(2**63), 2**63 - 1


def operation(name: str, operands: list[Any]) -> Callable[..., Any] | None:
    """Return a function that computes the operation `name` of these operands; None when NumPy has one."""
    if name in _COMPARISONS and {x.dtype.kind for x in operands} == {"i", "f"}:
        return lambda x, y: _COMPARISONS[name](x.item(), y.item())  # exact
    if name in _OPERATIONS:
        return _OPERATIONS[name]
    module, _, function = name.partition("_")
    if module in ("math", "cmath"):
        return lambda *values: _library(getattr(cmath if module == "cmath" else math, function), *(x.item() for x in values))
    return None


def _library(function: Callable[..., Any], *values: Any) -> Any:
    """Call a function of math or cmath; NaN or infinity where Python raises because of the result."""
    try:
        return function(*values)
    except ValueError:
        return math.nan
    except OverflowError:
        return math.inf


def _product(x: Any, y: Any) -> Any:
    """Product of two numbers, or of two arrays of one element, without fused operations."""
    product = x.reshape(())[()] * y.reshape(())[()]
    shape = np.broadcast_shapes(x.shape, y.shape)
    return np.full(shape, product) if shape else product


def _fails(result: Any, x: Any, y: Any) -> Any:
    invalid = np.isnan(result) & ~np.isnan(x) & ~np.isnan(y)
    return invalid | (np.isinf(result) & np.isfinite(x) & np.isfinite(y))


def _int_power(x: Any, exponent: Any) -> Any:
    return np.where(exponent >= 0, np.power(x, np.maximum(exponent, 0)), x)


def _int_power_overflows(x: Any, exponent: Any) -> bool:
    base, count = x.item(), exponent.item()
    if count < 0 or abs(base) < 2:
        return False
    return count > 63 or not _LOW <= base**count <= _HIGH


def _unless_zero(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda x, y: function(x.item(), y.item()) if y != 0 else np.nan


def _compose(real: Any, imag: Any) -> Any:
    out = np.empty(np.shape(real), np.result_type(real.dtype, np.complex64))
    out.real, out.imag = real, imag
    return out


def _overflow_event(happens: Any) -> Any:
    np.multiply(np.where(happens, 1e308, 0.0), 10.0)
    return happens


def _hypot(real: Any, imag: Any) -> Any:
    if real.dtype != np.float64:
        return abs(_compose(real, imag)[()])
    try:
        return abs(complex(real, imag))
    except OverflowError:
        return math.inf


_OPERATIONS: dict[str, Callable[..., Any]] = {
    "compose": _compose,
    "c99_divide": _unless_zero(operator.truediv),
    "c99_divide_real": _unless_zero(lambda x, y: x.real / y),
    "c99_multiply": lambda x, y: x.item() * y.item(),
    "complex_divide": _unless_zero(operator.truediv),
    "float_floor_divide": _unless_zero(operator.floordiv),
    "float_remainder": _unless_zero(operator.mod),
    "int_power": _int_power,
    "int_power_overflows": _int_power_overflows,
    "math_fails": _fails,
    "math_exponent": lambda x: math.frexp(x)[1],
    "math_hypot": _hypot,
    "math_isqrt": lambda x: math.isqrt(max(x.item(), 0)),
    "math_mantissa": lambda x: math.frexp(x)[0],
    "math_norm": lambda *values: math.hypot(*values),
    "math_norm_of_three": lambda *values: math.hypot(*values),
    "overflow_event": _overflow_event,
    "scalar_floor_divide": lambda x, y: x[()] // y[()],
    "scalar_multiply": _product,
    "scalar_power": lambda x, y: x[()] ** y[()],
    "scalar_remainder": lambda x, y: x[()] % y[()],
}
