// Merges nodes of one block that compute the same value from the same operands. A node with floating-point events is
// not merged: NumPy reports them at each line that computes.

#include <unordered_map>

#include "ir/edit.h"
#include "passes/passes.h"

namespace accel {

namespace {

class Merger {
 public:
  explicit Merger(Graph& graph) : graph_(graph), returned_(returned_values(graph)), replacement_(no_replacement(graph)) {}

  bool run() {
    for (Block& block : graph_.blocks) merge_in(block);
    if (changed_) replace_uses(graph_, replacement_);
    return changed_;
  }

 private:
  void merge_in(Block& block) {
    std::unordered_multimap<size_t, NodeId> seen;
    std::vector<NodeId> remaining;
    for (NodeId n : block.nodes) {
      Node& node = graph_.nodes[static_cast<size_t>(n)];
      for (ValueId& v : node.operands) v = replacement_[static_cast<size_t>(v)];
      NodeId first = find(seen, node);
      if (first < 0) {
        bool plain = op_class(node.op) != OpClass::update && op_class(node.op) != OpClass::boxed && node.op != Op::bind &&
                     node.op != Op::copy && !node.attrs.unread;
        if (plain && !node_events(graph_, node)) seen.emplace(computation_hash(node), n);
        remaining.push_back(n);
        continue;
      }
      const Node& same = graph_.nodes[static_cast<size_t>(first)];
      for (size_t k = 0; k < node.results.size(); ++k) replacement_[static_cast<size_t>(node.results[k])] = same.results[k];
      changed_ = true;
    }
    block.nodes = std::move(remaining);
  }

  NodeId find(const std::unordered_multimap<size_t, NodeId>& seen, const Node& node) const {
    for (ValueId v : node.results) {
      if (returned_[static_cast<size_t>(v)]) return -1;
    }
    auto [begin, end] = seen.equal_range(computation_hash(node));
    for (auto it = begin; it != end; ++it) {
      if (same_computation(graph_, graph_.nodes[static_cast<size_t>(it->second)], node)) return it->second;
    }
    return -1;
  }

  Graph& graph_;
  std::vector<bool> returned_;
  std::vector<ValueId> replacement_;
  bool changed_ = false;
};

}  // namespace

bool cse(Graph& graph) { return Merger(graph).run(); }

}  // namespace accel
