#pragma once
// The dtype of a number, and the type that it has in a graph.

#include <optional>

#include "capture/domain/value.h"

namespace accel {

// Of a Python or NumPy number, whether or not its value fits; nullopt: another object.
std::optional<DType> number_dtype(PyObject* object);

// The type that a block parameter for a number has; nullopt: not a number that a graph can hold.
std::optional<Type> number_type(const AbstractValue& value);

}  // namespace accel
