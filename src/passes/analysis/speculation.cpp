#include "passes/analysis/speculation.h"

#include <algorithm>

#include "ir/edit.h"
#include "passes/analysis/element_cost.h"

namespace accel {

Speculated Speculation::look_at(const Node& node, BlockId at) {
  if (node.op == Op::constant || node.op == Op::dim || is_view(node.op)) return Speculated::free;
  if (is_harmless(node)) return Speculated::computed;
  if (is_load(node) && (is_loaded_before(node.operands[0], at) || is_in_range(node.operands[0], at))) return Speculated::moved;
  if (is_element_store(node) && is_loaded_before(node.operands[1], at)) return Speculated::moved;
  return Speculated::refused;
}

// Numbers without events at the cost of an addition, or whole ones of a division that the processor does not refuse.
bool Speculation::is_harmless(const Node& node) const {
  if (op_class(node.op) != OpClass::pointwise || node.results.size() != 1 || node_events(graph_, node) != 0) return false;
  auto is_number = [&](ValueId v) {
    return graph_.type(v).kind != ValueKind::array && dtype_kind(graph_.type(v).dtype) != 'c';
  };
  if (!is_number(node.results[0]) || !std::all_of(node.operands.begin(), node.operands.end(), is_number)) return false;
  DType dtype = graph_.type(node.operands[0]).dtype;
  if (!is_inline(node.op, dtype)) return false;
  if (dtype_kind(dtype) == 'f' || (node.op != Op::floor_divide && node.op != Op::remainder))
    return element_cost(graph_, node) == 1;
  return is_positive_constant(node.operands[1]);
}

bool Speculation::is_positive_constant(ValueId v) const {
  if (graph_.is_input(v) || graph_.producer(v).op != Op::constant) return false;
  return graph_.producer(v).attrs.literal.as_int() > 0;
}

// One element of memory becomes a scalar.
bool Speculation::is_load(const Node& node) const {
  if (node.op != Op::astype) return false;
  const Type &from = graph_.type(node.operands[0]), &to = graph_.type(node.results[0]);
  return from.kind == ValueKind::array && from.rank() == 0 && to.kind != ValueKind::array && from.dtype == to.dtype &&
         is_view(graph_, node.operands[0]);
}

// Not of bools: a byte that is neither 0 nor 1 would become one of them.
bool Speculation::is_element_store(const Node& node) const {
  if (node.op != Op::store || node.operands.size() != 3) return false;
  const Type &element = graph_.type(node.operands[1]), &value = graph_.type(node.operands[2]);
  return element.rank() == 0 && value.kind != ValueKind::array && element.dtype == value.dtype && element.dtype != DType::bool_;
}

// Whether every path to the end of the block has read the view's element, in any version of the memory.
bool Speculation::is_loaded_before(ValueId view, BlockId at) const {
  ValueId base = base_of(view);
  for (BlockId b = 0; b < static_cast<BlockId>(graph_.blocks.size()); ++b) {
    if (!dominance_.dominates(b, at)) continue;
    for (NodeId n : graph_.blocks[static_cast<size_t>(b)].nodes) {
      const Node& node = graph_.nodes[static_cast<size_t>(n)];
      if (!is_load(node)) continue;
      ValueId loaded = base_of(node.operands[0]);
      if (is_same_memory(base, loaded) && is_same_view(graph_, view, base, node.operands[0], loaded)) return true;
    }
  }
  return false;
}

ValueId Speculation::base_of(ValueId v) const {
  while (is_view(graph_, v)) v = graph_.producer(v).operands[0];
  return v;
}

bool Speculation::is_same_memory(ValueId a, ValueId b) const {
  auto first_version = [&](ValueId v) {
    while (!graph_.is_input(v) && graph_.producer(v).op == Op::store) v = graph_.producer(v).operands[0];
    return v;
  };
  a = first_version(a);
  b = first_version(b);
  if (a == b) return true;
  int origin = origins_[static_cast<size_t>(a)];
  return origin >= 0 && origin == origins_[static_cast<size_t>(b)];
}

bool Speculation::is_in_range(ValueId view, BlockId at) {
  if (!integers_) integers_ = std::make_unique<Integers>(graph_);
  for (; is_view(graph_, view); view = graph_.producer(view).operands[0]) {
    const Node& node = graph_.producer(view);
    if (node.op == Op::slice && !is_slice_in_range(node, at)) return false;
  }
  return true;
}

bool Speculation::is_slice_in_range(const Node& slice, BlockId at) {
  const std::vector<Dim>&extents = graph_.type(slice.operands[0]).shape, &sliced = graph_.type(slice.results[0]).shape;
  for (size_t axis = 0; axis < extents.size(); ++axis) {
    bool single = graph_.dims.is_constant(sliced[axis], 1);
    if (!single && !graph_.dims.is_constant(slice.attrs.steps[axis], 1)) return false;
    Linear start = integers_->linear(slice.attrs.dims[axis]);
    std::optional<Linear> rest = integers_->linear(extents[axis]).plus(start, -1);
    if (rest) rest = rest->plus(integers_->linear(sliced[axis]), -1);
    if (!rest || !integers_->prove(start, at) || !integers_->prove(*rest, at)) return false;
  }
  return true;
}

}  // namespace accel
