#pragma once
// Scalar promotion: an element that a loop reads and writes at one place all the time is a number of the loop. It is read in
// front of the loop, and stored on each way out of it.

#include "base/result.h"
#include "schedule/graph/graph_state.h"

namespace accel {

// Inner loops first. Decisions are appended to `notes`.
Result<bool> promote_scalars(GraphState& state);

}  // namespace accel
