#pragma once
// Arguments of boxed calls that devices have kernels for (DeviceForm).

#include <optional>
#include <string_view>

#include "capture/numpy/calls/callbacks.h"

namespace accel {

// A parameter of a callable: an argument is passed for it by position or by name.
struct Parameter {
  size_t position;
  const char* name;
};

// A constant argument, a borrowed reference; `when_missing` where there is none, and null for what is no constant.
PyObject* constant_of(const Ref& given, PyObject* when_missing);
// The text of an exact str, while that lives. Nothing for other objects, and for texts that have no UTF-8.
std::optional<std::string_view> text_of(PyObject* object);

// The operand that is passed for a parameter. `arguments`: those that the call was made of.
std::optional<int> operand_of(const BoxedCall& call, const CallArguments& arguments, const Parameter& parameter);

// Casts the argument for a parameter, if it is an array, to the dtype that NumPy casts it to.
Status cast_argument(Capture& capture, CallArguments& arguments, const Parameter& parameter, DType dtype);

}  // namespace accel
