#include "passes/rewrite.h"

#include <numeric>

namespace accel {

void replace_uses(Graph& graph, const std::vector<ValueId>& replacement) {
  auto rewrite = [&](std::vector<ValueId>& uses) {
    for (ValueId& v : uses) {
      while (replacement[static_cast<size_t>(v)] != v) v = replacement[static_cast<size_t>(v)];
    }
  };
  for (Block& block : graph.blocks) {
    for (NodeId n : block.nodes) rewrite(graph.nodes[static_cast<size_t>(n)].operands);
    rewrite(block.terminator.operands);
    for (auto& arguments : block.terminator.target_arguments) rewrite(arguments);
  }
}

std::vector<ValueId> no_replacement(const Graph& graph) {
  std::vector<ValueId> out(graph.values.size());
  std::iota(out.begin(), out.end(), 0);
  return out;
}

std::vector<bool> returned_values(const Graph& graph) {
  std::vector<bool> out(graph.values.size(), false);
  for (const Block& block : graph.blocks) {
    if (block.terminator.kind != TerminatorKind::ret && block.terminator.kind != TerminatorKind::leave) continue;
    for (ValueId v : block.terminator.operands) out[static_cast<size_t>(v)] = true;
  }
  return out;
}

}  // namespace accel
