#pragma once
// Likely values of integers that compiled code computes, derived from the captured call: hints, never facts.

#include <cstdint>
#include <optional>

#include "ir/analysis/flow.h"
#include "ir/graph.h"

namespace accel {

// The value of an integer computed from arguments of the call, sizes and constants only; in a loop the value in the first
// iteration.
std::optional<int64_t> likely_integer(const Graph& graph, ValueId value);

}  // namespace accel
