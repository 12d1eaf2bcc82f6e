#pragma once
// Loop interchange: loops over single elements are ordered so that the innermost one walks contiguous memory.

#include "base/result.h"
#include "schedule/graph/graph_state.h"

namespace accel {

// Permutes perfectly nested loops whose bounds are known before the nest and whose iterations give the same bits in any order.
// Decisions are appended to `notes`.
Result<bool> order_loops(GraphState& state);

}  // namespace accel
