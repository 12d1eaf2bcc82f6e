#pragma once
// Lowering of a loop that runs tile by tile (state_tiling.h).

#include <vector>

#include "schedule/graph/segments.h"
#include "schedule/graph/state_tiling.h"
#include "schedule/program/program.h"

namespace accel {

// A program of one nest that runs `count` iterations with the counter starting at `first`. `part` becomes the loop's body as a
// graph of its own. The program has no outputs, as states are updated in place.
Program lower_pointwise_loop(const Graph& graph, const std::vector<int>& origins, const PointwiseLoop& loop, Dim first,
                             Dim count, SegmentGraph& part);

}  // namespace accel
