#pragma once
// The type that a number has in a graph.

#include <optional>

#include "capture/domain/value.h"

namespace accel {

// The type that a block parameter for a number has; nullopt: not a number that a graph can hold.
std::optional<Type> number_type(const AbstractValue& value);

}  // namespace accel
