#pragma once
// Places: where the values that segments share are in the program. Scalars are temps, arrays lie in buffers.

#include <map>
#include <vector>

#include "schedule/graph/segments.h"
#include "schedule/graph/state_tiling.h"
#include "schedule/program/program.h"

namespace accel {

// Per value; -1 for none.
struct Places {
  std::vector<int> origins;  // pinned_inputs (ir/analysis/flow.h)
  std::vector<BufferId> buffers;
  std::vector<TempId> temps;

  BufferId buffer(ValueId v) const { return buffers[static_cast<size_t>(v)]; }
  TempId temp(ValueId v) const { return temps[static_cast<size_t>(v)]; }
};

// Gives the inputs of `graph`, the parameters of its blocks and what its segments share their places, which it adds to
// `program`. `loops`: those that run tile by tile, by their headers. Requires a graph whose memory is owned (copy_insertion.h).
Places place_shared(Graph& graph, const Segments& segments, const std::map<BlockId, PointwiseLoop>& loops, Program& program);

// Temps that statements outside of nests use, on every way to a normal end, and whose size is known at the start. Requires that
// `program` has all steps.
std::vector<BufferId> early_temps(const Graph& graph, const Segments& segments, const Places& places, const Program& program);

}  // namespace accel
