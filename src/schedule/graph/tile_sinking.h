#pragma once
// What stands around an interchanged loop and belongs to its elements: arrays that are computed for it alone, and what is
// stored over its state right behind it. Each tile does it for itself, so that none of it is an array in memory.

#include "schedule/graph/state_tiling.h"

namespace accel {

// Moves such nodes into the loop's body and says so in `loop`. A state that starts as a computed array is no parameter of the
// header any more: its memory comes into being with the loop. Requires a graph whose memory is owned (copy_insertion.h).
void absorb_neighbours(Graph& graph, PointwiseLoop& loop);

}  // namespace accel
