#pragma once
// Arguments of boxed calls that devices have kernels for (DeviceForm).

#include <optional>

#include "capture/numpy/calls/callbacks.h"

namespace accel {

// A constant argument, a borrowed reference; `when_missing` where there is none, and null for what is no constant.
PyObject* constant_of(const Ref& given, PyObject* when_missing);

// The operand that an argument is. `arguments`: those that the call was made of.
std::optional<int> operand_of(const BoxedCall& call, const CallArguments& arguments, const Ref& given);

// Casts an argument that is an array to the dtype that NumPy casts it to, in `arguments` as well. Returns it, or others
// unchanged.
Result<Ref> cast_argument(Capture& capture, CallArguments& arguments, const Ref& given, DType dtype);

}  // namespace accel
