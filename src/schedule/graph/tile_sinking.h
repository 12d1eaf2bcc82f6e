#pragma once
// Tile sinking: producers and consumers of a tiled loop (arrays that are computed for it alone, and stores over its state after
// it) become part of each tile, so that they are not arrays in memory.

#include "base/result.h"
#include "schedule/graph/graph_state.h"

namespace accel {

// Moves such nodes into the bodies of tiled loops that run without polls, and records them in PointwiseLoop. A state that
// starts as a computed array is removed from the header's parameters. Requires a graph whose memory is owned
// (copy_insertion.h).
Result<bool> sink_into_tiles(GraphState& state);

}  // namespace accel
