#pragma once
// Flags of the hardware that are no events of NumPy's.

#include "ir/graph.h"

namespace accel {

// Whether a node raises any, though comparisons are quiet: the modulus of a complex number may overflow, and numbers of
// Python's have no events.
inline bool has_stray_flags(const Graph& graph, const Node& node) {
  if (node.operands.empty() || !is_inexact(graph.type(node.operands[0]).dtype)) return false;
  bool modulus = node.op == Op::absolute && dtype_kind(graph.type(node.operands[0]).dtype) == 'c';
  return modulus || graph.type(node.results[0]).kind == ValueKind::py_scalar;
}

}  // namespace accel
