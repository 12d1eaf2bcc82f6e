#pragma once
// Which operations run through NumPy's own inner loops.

#include "ir/graph.h"

namespace accel {

// Whether the node runs through NumPy's inner loop, a tile at a time.
bool is_loop_call(const Graph& graph, const Node& node);

}  // namespace accel
