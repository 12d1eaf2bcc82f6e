#pragma once
// What stands around an interchanged loop and belongs to its elements: arrays that are computed for it alone, and what is
// stored over its state right behind it. Each tile does it for itself, so that none of it is an array in memory.

#include "base/result.h"
#include "schedule/graph/graph_state.h"

namespace accel {

// Moves such nodes into the bodies of the loops that run tile by tile and in one go, and says so in their descriptions. A state
// that starts as a computed array is no parameter of the header any more: its memory comes into being with the loop. Requires a
// graph whose memory is owned (copy_insertion.h).
Result<bool> sink_into_tiles(GraphState& state);

}  // namespace accel
