#include "ir/analysis/memory_strides.h"

#include <algorithm>

#include "ir/axes.h"
#include "ir/view_order.h"

namespace accel {

namespace {

using Strides = std::vector<Dim>;

enum class Answer { no, yes, unknown };

// Whether the axes of `group`, slowest first, can be walked as one.
Answer walks_as_one(DimTable& dims, const Type& type, const Strides& strides, const std::vector<uint8_t>& group) {
  Answer out = Answer::yes;
  for (size_t k = 0; k + 1 < group.size(); ++k) {
    Dim gap = dims.sub(strides[group[k]], dims.mul(strides[group[k + 1]], type.shape[group[k + 1]]));
    if (dims.is_constant(gap, 0)) continue;
    if (dims.as_constant(gap)) return Answer::no;
    out = Answer::unknown;
  }
  return out;
}

std::optional<Strides> reshaped_strides(DimTable& dims, const Type& from, const Type& to, const Strides& strides) {
  if (strides == contiguous_strides(dims, from)) return contiguous_strides(dims, to);
  Strides out(to.shape.size(), dims.constant(0));
  for (const ReshapeGroup& group : reshape_groups(dims, from.shape, to.shape)) {
    Answer answer = walks_as_one(dims, from, strides, group.from);
    if (answer == Answer::unknown) return std::nullopt;
    if (answer == Answer::no) return contiguous_strides(dims, {to.kind, to.dtype, to.shape, {}});  // NumPy copies, to C order
    Dim stride = strides[group.from.back()];
    for (size_t k = group.to.size(); k-- > 0;) {
      out[group.to[k]] = stride;
      stride = dims.mul(stride, to.shape[group.to[k]]);
    }
  }
  return out;
}

std::optional<Strides> view_strides(DimTable& dims, const Graph& graph, const Node& node, Strides from) {
  const Type& operand = graph.type(node.operands[0]);
  const Type& result = graph.type(node.results[0]);
  Strides out;
  switch (node.op) {
    case Op::transpose:
      for (int axis : node.attrs.axes) out.push_back(from[static_cast<size_t>(axis)]);
      return out;
    case Op::expand_dims:
      for (int axis = 0, next = 0; axis < result.rank(); ++axis) {
        out.push_back(contains_axis(node.attrs.axes, axis) ? dims.constant(0) : from[static_cast<size_t>(next++)]);
      }
      return out;
    case Op::squeeze:
      return without_axes(from, node.attrs.axes);
    case Op::broadcast_to:
      out.assign(result.shape.size(), dims.constant(0));
      for (size_t k = 0, extra = result.shape.size() - from.size(); k < from.size(); ++k) {
        if (operand.shape[k] == result.shape[k + extra]) out[k + extra] = from[k];
      }
      return out;
    case Op::slice:
      for (size_t k = 0; k < from.size(); ++k) out.push_back(dims.mul(from[k], node.attrs.steps[k]));
      return out;
    case Op::parts:
      from.push_back(dims.constant(item_size(result.dtype)));
      return from;
    case Op::reshape:
      return reshaped_strides(dims, operand, result, from);
    default:
      return from;  // real, imag
  }
}

}  // namespace

std::vector<Dim> contiguous_strides(DimTable& dims, const Type& type) {
  Strides out(type.shape.size());
  Dim stride = dims.constant(item_size(type.dtype));
  std::vector<uint8_t> order = type.axis_order();
  for (size_t k = order.size(); k-- > 0;) {
    out[order[k]] = stride;
    stride = dims.mul(stride, type.shape[order[k]]);
  }
  return out;
}

std::optional<std::vector<Dim>> memory_strides(DimTable& dims, const Graph& graph, ValueId v) {
  if (graph.is_input(v)) {
    int index = graph.input_index(v);
    bool strided = index >= 0 && graph.inputs[static_cast<size_t>(index)].layout == Layout::strided;
    return strided ? graph.inputs[static_cast<size_t>(index)].strides : contiguous_strides(dims, graph.type(v));
  }
  const Node& node = graph.producer(v);
  if (op_class(node.op) == OpClass::update) return memory_strides(dims, graph, node.operands[0]);
  if (op_class(node.op) != OpClass::view) return contiguous_strides(dims, graph.type(v));
  auto from = memory_strides(dims, graph, node.operands[0]);
  return from ? view_strides(dims, graph, node, std::move(*from)) : std::nullopt;
}

}  // namespace accel
