// Removes nodes and block parameters whose values are not used. Nodes with floating-point events stay, stores to memory that
// Python sees and what gives symbols their values too, and so does what they need.

#include <algorithm>

#include "ir/analysis/flow.h"
#include "ir/edit.h"
#include "passes/passes.h"

namespace accel {

namespace {

class Liveness {
 public:
  explicit Liveness(const Graph& graph)
      : graph_(graph),
        live_(graph.nodes.size(), false),
        live_params_(graph.values.size(), false),
        origin_(pinned_inputs(graph)) {
    before_ = predecessors(graph);
    for (const Block& block : graph.blocks) {
      for (NodeId n : block.nodes) {
        if (has_effect(graph.nodes[static_cast<size_t>(n)])) need_node(n);
      }
      for (ValueId v : block.terminator.operands) need(v);
    }
    while (!open_.empty()) {
      ValueId v = open_.back();
      open_.pop_back();
      if (graph.is_input(v))
        need_arguments(v);
      else
        for (ValueId operand : graph.producer(v).operands) need(operand);
    }
  }

  bool is_live(NodeId n) const { return live_[static_cast<size_t>(n)]; }
  bool is_live_param(ValueId v) const { return live_params_[static_cast<size_t>(v)]; }

 private:
  bool has_effect(const Node& node) const {
    if (op_class(node.op) == OpClass::update) return origin_[static_cast<size_t>(node.operands[0])] != not_pinned;
    if (op_class(node.op) == OpClass::boxed) return true;
    return node.op == Op::bind || node_events(graph_, node) != 0;
  }

  void need(ValueId v) {
    if (!graph_.is_input(v)) return need_node(graph_.values[static_cast<size_t>(v)].producer);
    if (live_params_[static_cast<size_t>(v)]) return;
    live_params_[static_cast<size_t>(v)] = true;
    open_.push_back(v);
  }
  void need_node(NodeId n) {
    if (live_[static_cast<size_t>(n)]) return;
    live_[static_cast<size_t>(n)] = true;
    open_.push_back(graph_.nodes[static_cast<size_t>(n)].results[0]);
  }
  void need_arguments(ValueId param) {
    BlockId home = graph_.values[static_cast<size_t>(param)].block;
    const auto& params = graph_.blocks[static_cast<size_t>(home)].params;
    size_t position = static_cast<size_t>(std::find(params.begin(), params.end(), param) - params.begin());
    for (BlockId from : before_[static_cast<size_t>(home)]) {
      const Terminator& t = graph_.blocks[static_cast<size_t>(from)].terminator;
      for (int k = 0; k < target_count(t); ++k)
        if (t.targets[k] == home) need(t.target_arguments[k][position]);
    }
  }

  const Graph& graph_;
  std::vector<bool> live_, live_params_;
  std::vector<int> origin_;
  std::vector<std::vector<BlockId>> before_;
  std::vector<ValueId> open_;  // whose sources are not needed yet
};

// Drops parameters that are not live, and what edges give them.
bool drop_params(Graph& graph, const Liveness& liveness) {
  bool changed = false;
  for (BlockId b = 1; b < static_cast<BlockId>(graph.blocks.size()); ++b) {
    const std::vector<ValueId>& params = graph.blocks[static_cast<size_t>(b)].params;
    for (size_t position = params.size(); position-- > 0;) {
      if (liveness.is_live_param(params[position])) continue;
      remove_param(graph, b, position);
      changed = true;
    }
  }
  return changed;
}

}  // namespace

bool dce(Graph& graph) {
  Liveness liveness(graph);
  bool changed = drop_params(graph, liveness);
  for (Block& block : graph.blocks) {
    changed |= std::erase_if(block.nodes, [&](NodeId n) { return !liveness.is_live(n); }) > 0;
  }
  return changed;
}

}  // namespace accel
