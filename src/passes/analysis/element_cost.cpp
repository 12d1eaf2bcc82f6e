#include "passes/analysis/element_cost.h"

#include <algorithm>

namespace accel {

int element_cost(const Graph& graph, const Node& node) {
  OpClass kind = op_class(node.op);
  if (kind != OpClass::pointwise) return kind == OpClass::gather ? division_cost : 0;
  if (node.op == Op::scalar_power || op_family(node.op) == OpFamily::library) return library_cost;
  bool plain = node.op == Op::where || node.op == Op::astype || graph.type(node.results[0]).kind == ValueKind::py_scalar;
  if (!plain && !is_inline(node.op, graph.type(node.operands[0]).dtype)) return library_cost;
  constexpr Op slow[] = {Op::divide,    Op::floor_divide,       Op::remainder,       Op::reciprocal,    Op::sqrt,
                         Op::int_power, Op::float_floor_divide, Op::float_remainder, Op::complex_divide};
  return std::find(std::begin(slow), std::end(slow), node.op) != std::end(slow) ? division_cost : 1;
}

}  // namespace accel
