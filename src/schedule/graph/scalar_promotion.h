#pragma once
// Scalar promotion: an array element that a loop accesses at a fixed index becomes a number of the loop, loaded before the loop
// and stored on each exit edge.

#include "base/result.h"
#include "schedule/graph/graph_state.h"

namespace accel {

// Promotes elements of inner loops first. Decisions are appended to `notes`.
Result<bool> promote_scalars(GraphState& state);

}  // namespace accel
