#include "schedule/analysis/loop_calls.h"

#include <algorithm>

namespace accel {

namespace {

// Whether v is read with positive strides for every argument: NumPy's complex loops give other bits for negative strides.
bool walks_forwards(const Graph& graph, ValueId v) {
  while (!graph.is_input(v) && op_class(graph.producer(v).op) == OpClass::view) {
    for (Dim step : graph.producer(v).attrs.steps)
      if (graph.dims.as_constant(step).value_or(-1) < 0) return false;
    v = graph.producer(v).operands[0];
  }
  int input = graph.input_index(v);
  return input < 0 || graph.inputs[static_cast<size_t>(input)].layout == Layout::dense;
}

bool has_complex_formula(const Graph& graph, const Node& node) {
  return std::all_of(node.operands.begin(), node.operands.end(), [&](ValueId v) { return walks_forwards(graph, v); });
}

}  // namespace

bool is_loop_call(const Graph& graph, const Node& node) {
  if (op_class(node.op) != OpClass::pointwise) return false;
  if (!graph.target.has_numpy_loops() || node.op == Op::where || node.op == Op::astype) return false;
  if (graph.type(node.results[0]).kind == ValueKind::py_scalar) return false;
  if (node.results.size() > 1) return true;
  DType dtype = graph.type(node.operands[0]).dtype;
  if (!is_inline(node.op, dtype)) return true;
  bool formula = node.op == Op::multiply || node.op == Op::square || node.op == Op::absolute;
  return formula && dtype_kind(dtype) == 'c' && !has_complex_formula(graph, node);
}

}  // namespace accel
