#include "schedule/unread.h"

#include <algorithm>
#include <set>

#include "ir/flow.h"

namespace accel {

namespace {

class Uses {
 public:
  explicit Uses(const Graph& graph) : graph_(graph) {}

  bool are_one_store(ValueId array) {
    seen_ = {array};
    store_ = -1;
    return follow(array) && store_ >= 0 && !is_passed_on();
  }

 private:
  const Node& node(NodeId n) const { return graph_.nodes[static_cast<size_t>(n)]; }

  bool follow(ValueId v) {
    for (const Block& block : graph_.blocks)
      for (NodeId n : block.nodes)
        if (uses(n, v) && !follow_use(n)) return false;
    return true;
  }

  bool uses(NodeId n, ValueId v) const {
    return std::find(node(n).operands.begin(), node(n).operands.end(), v) != node(n).operands.end();
  }

  bool follow_use(NodeId n) {
    if (op_class(node(n).op) == OpClass::view) return !seen_.insert(node(n).results[0]).second || follow(node(n).results[0]);
    bool stores = node(n).op == Op::store && seen_.contains(node(n).operands[0]) && !seen_.contains(node(n).operands[2]) &&
                  node(n).operands.size() == 3;
    if (!stores || (store_ >= 0 && store_ != n)) return false;
    store_ = n;
    return true;
  }

  // Whether a block hands one of them on.
  bool is_passed_on() const {
    auto named = [&](const std::vector<ValueId>& list) {
      return std::any_of(list.begin(), list.end(), [&](ValueId v) { return seen_.contains(v); });
    };
    return std::any_of(graph_.blocks.begin(), graph_.blocks.end(), [&](const Block& block) {
      const Terminator& t = block.terminator;
      return named(t.operands) || named(t.target_arguments[0]) || named(t.target_arguments[1]);
    });
  }

  const Graph& graph_;
  std::set<ValueId> seen_;
  NodeId store_ = -1;
};

}  // namespace

void fill_what_is_read(Graph& graph) {
  Uses uses(graph);
  for (const Block& block : graph.blocks)
    for (NodeId n : block.nodes) {
      Node& each = graph.nodes[static_cast<size_t>(n)];
      each.attrs.unread = each.attrs.unread && uses.are_one_store(each.results[0]);
    }
}

}  // namespace accel
