#pragma once
// Flags of the hardware that are no events of NumPy's.

#include "ir/graph.h"

namespace accel {

// Whether an operation raises any, though comparisons are quiet: the modulus of a complex number may overflow, and what gives
// numbers of Python's has no events.
inline bool has_stray_flags(Op op, DType operand, bool gives_python_number) {
  if (!is_inexact(operand)) return false;
  return gives_python_number || (op == Op::absolute && dtype_kind(operand) == 'c');
}
inline bool has_stray_flags(const Graph& graph, const Node& node) {
  return !node.operands.empty() &&
         has_stray_flags(node.op, graph.type(node.operands[0]).dtype, graph.type(node.results[0]).kind == ValueKind::py_scalar);
}

}  // namespace accel
