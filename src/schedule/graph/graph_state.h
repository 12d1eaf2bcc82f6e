#pragma once
// The state that steps on graphs share.

#include <map>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "schedule/graph/state_tiling.h"

namespace accel {

struct GraphState {
  Graph graph;                                   // verified, except for nodes that sink_into_tiles has moved into tiled loops
  std::map<BlockId, PointwiseLoop> tiled_loops;  // loops that run tile by tile, by header
  std::vector<std::string> notes;                // decisions, one line each
};

// The graph's text, and which loops run tile by tile.
std::string print(const GraphState& state);

}  // namespace accel
