// Gives calls of NumPy's loops that depend on the layout of their operands views of their own. A view that a sum uses, too, may
// be put together in memory for the sum: the loop would see that memory, and add in another order.

#include <algorithm>

#include "passes/passes.h"

namespace accel {

namespace {

bool depends_on_layout(const Node& node) {
  OpClass kind = op_class(node.op);
  return kind == OpClass::gufunc || kind == OpClass::boxed;
}

class OwnViews {
 public:
  explicit OwnViews(Graph& graph) : graph_(graph), uses_(graph.use_counts()) {}

  bool run() {
    for (Block& block : graph_.blocks) {
      const std::vector<NodeId> before = std::move(block.nodes);
      block.nodes.clear();
      for (NodeId n : before) {
        add_views(n, block);
        block.nodes.push_back(n);
      }
    }
    return changed_;
  }

 private:
  bool is_view_of_array(ValueId v) const {
    return !graph_.is_input(v) && is_view(graph_.producer(v).op) && graph_.type(v).kind == ValueKind::array;
  }

  // Whether something else uses the view, or one that it is a view of.
  bool is_shared(ValueId v) const {
    for (; is_view_of_array(v); v = graph_.producer(v).operands[0])
      if (uses_[static_cast<size_t>(v)] > 1) return true;
    return false;
  }

  void add_views(NodeId n, Block& block) {
    if (!depends_on_layout(graph_.nodes[static_cast<size_t>(n)])) return;
    for (size_t k = 0; k < graph_.nodes[static_cast<size_t>(n)].operands.size(); ++k) {
      ValueId operand = graph_.nodes[static_cast<size_t>(n)].operands[k];
      if (!is_shared(operand)) continue;
      operand = copy_of(operand, block);
      graph_.nodes[static_cast<size_t>(n)].operands[k] = operand;
      changed_ = true;
    }
  }

  ValueId copy_of(ValueId v, Block& block) {
    if (!is_view_of_array(v)) return v;
    const Node node = graph_.producer(v);
    const auto home = static_cast<BlockId>(&block - graph_.blocks.data());
    std::vector<ValueId> operands = node.operands;
    operands[0] = copy_of(operands[0], block);
    return graph_.add_node(home, node.op, std::move(operands), node.attrs, {graph_.type(v)}, node.where);
  }

  Graph& graph_;
  const std::vector<int> uses_;
  bool changed_ = false;
};

}  // namespace

bool own_views(Graph& graph) { return OwnViews(graph).run(); }

}  // namespace accel
