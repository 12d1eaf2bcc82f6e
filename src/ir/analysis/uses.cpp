#include "ir/analysis/uses.h"

#include <algorithm>

namespace accel {

namespace {

class Uses {
 public:
  explicit Uses(const Graph& graph) : graph_(graph) {}

  std::optional<SoleStore> of(ValueId v) {
    seen_ = {v};
    if (!follow(v) || out_.store < 0) return std::nullopt;
    const Node& store = node(out_.store);
    if (store.operands[0] != v || seen_.contains(store.operands[2]) || is_handed_on(graph_, seen_)) return std::nullopt;
    return std::move(out_);
  }

 private:
  const Node& node(NodeId n) const { return graph_.nodes[static_cast<size_t>(n)]; }

  bool follow(ValueId v) {
    std::vector<NodeId> users = users_of(graph_, v);
    return std::all_of(users.begin(), users.end(), [&](NodeId n) { return follow_use(n); });
  }

  bool follow_use(NodeId n) {
    if (op_class(node(n).op) == OpClass::view) {
      out_.views.push_back(n);
      seen_.insert(node(n).results[0]);
      return follow(node(n).results[0]);
    }
    bool is_plain = node(n).op == Op::store && node(n).operands.size() == 3;
    if (!is_plain || (out_.store >= 0 && out_.store != n)) return false;
    out_.store = n;
    return true;
  }

  const Graph& graph_;
  std::set<ValueId> seen_;
  SoleStore out_;
};

}  // namespace

std::vector<NodeId> users_of(const Graph& graph, ValueId v) {
  std::vector<NodeId> out;
  for (const Block& block : graph.blocks)
    for (NodeId n : block.nodes) {
      const std::vector<ValueId>& operands = graph.nodes[static_cast<size_t>(n)].operands;
      if (std::find(operands.begin(), operands.end(), v) != operands.end()) out.push_back(n);
    }
  return out;
}

bool is_handed_on(const Graph& graph, const std::set<ValueId>& values) {
  auto named = [&](const std::vector<ValueId>& list) {
    return std::any_of(list.begin(), list.end(), [&](ValueId v) { return values.contains(v); });
  };
  return std::any_of(graph.blocks.begin(), graph.blocks.end(), [&](const Block& block) {
    const Terminator& t = block.terminator;
    return named(t.operands) || named(t.target_arguments[0]) || named(t.target_arguments[1]);
  });
}

std::optional<SoleStore> sole_store(const Graph& graph, ValueId v) { return Uses(graph).of(v); }

}  // namespace accel
