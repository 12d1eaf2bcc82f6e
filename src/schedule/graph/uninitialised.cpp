#include "schedule/graph/uninitialised.h"

#include "ir/analysis/uses.h"

namespace accel {

Result<bool> fill_what_is_read(GraphState& state) {
  bool changed = false;
  for (const Block& block : state.graph.blocks)
    for (NodeId n : block.nodes) {
      Node& each = state.graph.nodes[static_cast<size_t>(n)];
      if (!each.attrs.unread || sole_store(state.graph, each.results[0])) continue;
      each.attrs.unread = false;
      changed = true;
    }
  return changed;
}

}  // namespace accel
