#pragma once
// Operations that call NumPy's own inner loops instead of inline code.

#include "ir/graph.h"

namespace accel {

// Whether the node calls NumPy's inner loop, a tile at a time.
bool is_loop_call(const Graph& graph, const Node& node);

}  // namespace accel
