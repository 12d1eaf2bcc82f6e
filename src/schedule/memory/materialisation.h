#pragma once
// Materialisation: decides which values get memory.

#include "base/result.h"
#include "schedule/memory/segment_state.h"

namespace accel {

// Decides the placement of a segment's values. Results, values that several loops need, values that are costly to recompute,
// and operands of NumPy's functions get memory.
Result<bool> place_values(SegmentState& state);

}  // namespace accel
