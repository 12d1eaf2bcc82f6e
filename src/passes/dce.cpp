// Removes nodes whose results nobody uses. Nodes with floating-point events stay, stores to memory that Python sees and what
// gives symbols their values too, and so does what they need.

#include <algorithm>

#include "ir/flow.h"
#include "passes/passes.h"

namespace accel {

namespace {

class Liveness {
 public:
  explicit Liveness(const Graph& graph) : graph_(graph), live_(graph.nodes.size(), false), origin_(pinned_inputs(graph)) {
    for (const Block& block : graph.blocks) {
      for (NodeId n : block.nodes) {
        if (has_effect(graph.nodes[static_cast<size_t>(n)])) need_node(n);
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
  bool has_effect(const Node& node) const {
    if (op_class(node.op) == OpClass::update) return origin_[static_cast<size_t>(node.operands[0])] != not_pinned;
    return node.op == Op::bind || node_events(graph_, node) != 0;
  }

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
  std::vector<int> origin_;
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
