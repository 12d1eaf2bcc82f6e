#include "passes/analysis/element_cost.h"

namespace accel {

int element_cost(const Graph& graph, const Node& node) {
  OpClass kind = op_class(node.op);
  if (kind != OpClass::pointwise) return kind == OpClass::gather ? division_cost : 0;
  if (has_property(node.op, OpProperty::library)) return library_cost;
  bool plain = node.op == Op::where || node.op == Op::astype || graph.type(node.results[0]).kind == ValueKind::py_scalar;
  if (!plain && !is_inline(node.op, graph.type(node.operands[0]).dtype)) return library_cost;
  return has_property(node.op, OpProperty::division) ? division_cost : 1;
}

}  // namespace accel
