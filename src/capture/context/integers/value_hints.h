#pragma once
// What numbers that compiled code computes are at the call that is captured, as far as capture can tell: hints, never facts.

#include <cstdint>
#include <optional>

#include "ir/analysis/flow.h"
#include "ir/graph.h"

namespace accel {

// The value of a number that depends on arguments of the call, sizes and constants alone; in a loop that of the first
// iteration.
std::optional<int64_t> likely_integer(const Graph& graph, ValueId value);

}  // namespace accel
