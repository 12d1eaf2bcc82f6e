#include "schedule/graph/uninitialised.h"

#include "ir/analysis/uses.h"

namespace accel {

void fill_what_is_read(Graph& graph) {
  for (const Block& block : graph.blocks)
    for (NodeId n : block.nodes) {
      Node& each = graph.nodes[static_cast<size_t>(n)];
      each.attrs.unread = each.attrs.unread && sole_store(graph, each.results[0]);
    }
}

}  // namespace accel
