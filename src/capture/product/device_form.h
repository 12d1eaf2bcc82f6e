#pragma once
// DeviceForm: what a call of NumPy computes, for calls that have kernels on devices. Operands are those of the call's op.

#include <cstdint>
#include <optional>
#include <variant>

#include "cpython/py_ref.h"

namespace accel {

// ndarray.sort and ndarray.argsort of operand 0, an array with axes.
struct SortForm {
  int axis = 0;
  bool gives_positions = false;  // argsort
  bool is_stable = false;        // else NumPy leaves the order of equal elements open: it has one of its own
};

// ndarray.searchsorted of operand 0, in the dtype of that operand. What is searched for is an array of this dtype, a number of
// any dtype, or a constant.
struct SearchForm {
  std::optional<int> wanted;  // the operand
  PyRef constant;             // without an operand
  bool is_right = false;
};

// bincount of operand 0, a one-dimensional array of int64. Weights are a one-dimensional array of float64.
struct CountForm {
  std::optional<int> weights;        // the operand
  std::optional<int> least_operand;  // minlength, an int64
  int64_t least = 0;                 // without that operand
};

// A gufunc of numpy.fft: transforms operand 0 along an axis and multiplies by a factor. Floats, or those of complex numbers,
// have 4 or 8 bytes, on both sides as many. The result has the shape and order of the last operand.
struct FourierForm {
  enum class Kind { forward, backward, real_forward, real_backward } kind = Kind::forward;
  bool is_odd = false;     // real_forward: the number of points
  bool is_single = false;  // computes in floats of 4 bytes, else in those of 8
  int axis = 0;
  std::optional<int> factor_operand;
  double factor = 1;  // without that operand
};

using DeviceForm = std::variant<std::monostate, SortForm, SearchForm, CountForm, FourierForm>;
inline bool has_device_form(const DeviceForm& form) { return !std::holds_alternative<std::monostate>(form); }

}  // namespace accel
