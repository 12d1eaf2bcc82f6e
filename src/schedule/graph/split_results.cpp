// On a device an operation has one result: one with several becomes an operation for each result that is used.

#include <utility>

#include "ir/edit.h"
#include "schedule/graph/graph_state.h"

namespace accel {

namespace {

// Adds the operations to the block, and says what replaces the results.
void add_parts(Graph& graph, BlockId block, const Node& node, const std::vector<int>& uses, std::vector<ValueId>& replacement) {
  const std::vector<Op> parts = ops_of_results(node.op);
  for (size_t k = 0; k < node.results.size(); ++k) {
    const ValueId result = node.results[k];
    if (uses[static_cast<size_t>(result)] == 0) continue;
    replacement[static_cast<size_t>(result)] =
        graph.add_node(block, parts[k], node.operands, node.attrs, {graph.type(result)}, node.where);
  }
}

}  // namespace

Result<bool> split_results(GraphState& state) {
  Graph& graph = state.graph;
  const std::vector<int> uses = graph.use_counts();
  std::vector<ValueId> replacement = no_replacement(graph);
  bool changed = false;
  for (BlockId b = 0; b < static_cast<BlockId>(graph.blocks.size()); ++b) {
    const std::vector<NodeId> nodes = std::exchange(graph.blocks[static_cast<size_t>(b)].nodes, {});
    for (NodeId n : nodes) {
      const Node node = graph.nodes[static_cast<size_t>(n)];
      if (ops_of_results(node.op).empty()) {
        graph.blocks[static_cast<size_t>(b)].nodes.push_back(n);
        continue;
      }
      add_parts(graph, b, node, uses, replacement);
      changed = true;
    }
  }
  if (!changed) return false;
  for (size_t v = replacement.size(); v < graph.values.size(); ++v) replacement.push_back(static_cast<ValueId>(v));
  replace_uses(graph, replacement);
  return true;
}

}  // namespace accel
