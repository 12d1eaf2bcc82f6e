// Removes nodes whose results nobody uses. Nodes with floating-point events stay, and so does what they need.

#include <algorithm>

#include "passes/passes.h"

namespace accel {

namespace {

class Liveness {
 public:
  explicit Liveness(const Graph& graph) : graph_(graph), live_(graph.nodes.size(), false) {
    for (const Block& block : graph.blocks) {
      for (NodeId n : block.nodes) {
        if (node_events(graph, graph.nodes[static_cast<size_t>(n)])) need_node(n);
      }
      need(block.terminator.operands);
      for (const auto& arguments : block.terminator.target_arguments) need(arguments);
    }
    while (!open_.empty()) {
      NodeId n = open_.back();
      open_.pop_back();
      need(graph.nodes[static_cast<size_t>(n)].operands);
    }
  }

  bool is_live(NodeId n) const { return live_[static_cast<size_t>(n)]; }

 private:
  void need(const std::vector<ValueId>& values) {
    for (ValueId v : values) {
      if (!graph_.is_input(v)) need_node(graph_.values[static_cast<size_t>(v)].producer);
    }
  }
  void need_node(NodeId n) {
    if (live_[static_cast<size_t>(n)]) return;
    live_[static_cast<size_t>(n)] = true;
    open_.push_back(n);
  }

  const Graph& graph_;
  std::vector<bool> live_;
  std::vector<NodeId> open_;
};

}  // namespace

bool dce(Graph& graph, const Target&) {
  Liveness liveness(graph);
  bool changed = false;
  for (Block& block : graph.blocks) {
    changed |= std::erase_if(block.nodes, [&](NodeId n) { return !liveness.is_live(n); }) > 0;
  }
  return changed;
}

}  // namespace accel
