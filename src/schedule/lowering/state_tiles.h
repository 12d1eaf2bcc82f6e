#pragma once
// The nest of a loop that runs tile by tile (state_tiling.h).

#include <vector>

#include "schedule/graph/segments.h"
#include "schedule/graph/state_tiling.h"
#include "schedule/program/program.h"

namespace accel {

// The nest that runs the loop. Its symbols: `first`, the counter's first value, and `count`, the number of iterations.
// `part` becomes the body of the loop as a graph of its own; the program has no outputs, as states are updated in
// place.
Program lower_pointwise_loop(const Graph& graph, const std::vector<int>& origins, const PointwiseLoop& loop, Dim first,
                             Dim count, SegmentGraph& part);

}  // namespace accel
