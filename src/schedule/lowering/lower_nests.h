#pragma once
// Lowering of a segment: groups of values become loop nests.

#include "base/result.h"
#include "schedule/memory/segment_state.h"

namespace accel {

// Writes the nests of a segment. When a store turns out to read memory that it overwrites, it requests that the segment's steps
// run again (SegmentState::again).
Result<bool> lower_nests(SegmentState& state);

// Gives each statement the source location of the node that it comes from.
void add_locations(const Graph& graph, Program& program);

}  // namespace accel
