#pragma once
// The order of loops over single elements: what lies side by side in memory is gone over by the innermost loop.

#include "base/result.h"
#include "schedule/graph/graph_state.h"

namespace accel {

// Permutes loops with nothing between them that count from and to numbers which are known before all of them, where each
// iteration changes memory in such a way that any order gives the same bits. Decisions are appended to `notes`.
Result<bool> order_loops(GraphState& state);

}  // namespace accel
