#pragma once
// Materialisation: decides which values get memory.

#include "base/result.h"
#include "schedule/memory/segment_state.h"

namespace accel {

// Finds the placement of a segment's values. Memory is for results, for what several loops need, for what costs much to compute
// again, and for what NumPy's functions read.
Result<bool> place_values(SegmentState& state);

}  // namespace accel
