#pragma once
// Groups of values become loop nests.

#include "base/result.h"
#include "schedule/memory/segment_state.h"

namespace accel {

// Writes the nests of a segment. Where a store turns out to read what it overwrites, the steps are to run again.
Result<bool> lower_nests(SegmentState& state);

// Names the line and the event site of each statement after the node that it comes from.
void add_locations(const Graph& graph, Program& program);

}  // namespace accel
