#pragma once
// Dtypes of numbers, and their types as graph values.

#include <optional>

#include "capture/domain/value.h"

namespace accel {

// The dtype of a Python or NumPy number, also where the value does not fit it; nullopt for other objects.
std::optional<DType> number_dtype(PyObject* object);

// The type of a block parameter for a number; nullopt if a graph cannot hold the value.
std::optional<Type> number_type(const AbstractValue& value);

}  // namespace accel
