#include "schedule/analysis/index_maps.h"

#include <algorithm>

namespace accel {

std::vector<Dim> dense_strides(DimTable& dims, const Type& type) {
  std::vector<Dim> strides(type.shape.size());
  std::vector<uint8_t> order = type.axis_order();
  Dim stride = dims.constant(item_size(type.dtype));
  for (size_t k = order.size(); k-- > 0;) {
    strides[order[k]] = stride;
    stride = dims.mul(stride, type.shape[order[k]]);
  }
  return strides;
}

namespace {

bool repeats(const DimTable& dims, const Graph& graph, Dim operand, Dim result) {
  if (dims.is_constant(operand, 1)) return true;
  if (operand == result) return false;
  return dims.evaluate(operand, graph.hints) != dims.evaluate(result, graph.hints);
}

Index map_broadcast(DimTable& dims, const Graph& graph, const Type& operand, const Type& result, const Index& index) {
  size_t lead = result.shape.size() - operand.shape.size();
  Index mapped(operand.shape.size());
  for (size_t k = 0; k < mapped.size(); ++k) {
    bool repeated = repeats(dims, graph, operand.shape[k], result.shape[k + lead]);
    mapped[k] = repeated ? dims.constant(0) : index[k + lead];
  }
  return mapped;
}

// Uses the linear index when the reshape moves elements to other indices.
Index map_reshape(DimTable& dims, const Type& operand, const Type& result, const Index& index) {
  Index mapped(operand.shape.size(), dims.constant(0));
  if (auto axes = same_axes(dims, operand, result)) {
    for (const auto& [from, to] : *axes) mapped[from] = index[to];
    return mapped;
  }
  Dim linear = linear_index(dims, result.shape, index);
  Dim inner = dims.constant(1);
  for (size_t k = mapped.size(); k-- > 0;) {
    Dim quotient = dims.floordiv(linear, inner);
    mapped[k] = k == 0 ? quotient : dims.mod(quotient, operand.shape[k]);
    inner = dims.mul(inner, operand.shape[k]);
  }
  return mapped;
}

}  // namespace

std::optional<std::vector<std::pair<size_t, size_t>>> same_axes(const DimTable& dims, const Type& from, const Type& to) {
  std::vector<std::pair<size_t, size_t>> out;
  auto next = [&](const Type& type, size_t k) {
    while (k < type.shape.size() && dims.is_constant(type.shape[k], 1)) ++k;
    return k;
  };
  size_t a = next(from, 0), b = next(to, 0), different = 0;
  for (; a < from.shape.size() && b < to.shape.size(); a = next(from, a + 1), b = next(to, b + 1)) {
    different += from.shape[a] != to.shape[b];
    out.emplace_back(a, b);
  }
  if (different > 1 || a < from.shape.size() || b < to.shape.size()) return std::nullopt;
  return out;
}

Index map_view_index(DimTable& dims, const Graph& graph, const Node& node, const Index& index) {
  const Type& operand = graph.type(node.operands[0]);
  const Type& result = graph.type(node.results[0]);
  const std::vector<int>& axes = node.attrs.axes;
  Index mapped;
  switch (node.op) {
    case Op::transpose:
      mapped.resize(index.size());
      for (size_t k = 0; k < axes.size(); ++k) mapped[axes[k]] = index[k];
      return mapped;
    case Op::expand_dims:
      for (size_t k = 0; k < index.size(); ++k)
        if (std::find(axes.begin(), axes.end(), static_cast<int>(k)) == axes.end()) mapped.push_back(index[k]);
      return mapped;
    case Op::squeeze: {
      size_t next = 0;
      for (int k = 0; k < operand.rank(); ++k) {
        bool dropped = std::find(axes.begin(), axes.end(), k) != axes.end();
        mapped.push_back(dropped ? dims.constant(0) : index[next++]);
      }
      return mapped;
    }
    case Op::broadcast_to:
      return map_broadcast(dims, graph, operand, result, index);
    case Op::slice:
      for (size_t k = 0; k < index.size(); ++k)
        mapped.push_back(dims.add(node.attrs.dims[k], dims.mul(index[k], node.attrs.steps[k])));
      return mapped;
    case Op::parts:
      return Index(index.begin(), index.end() - 1);
    case Op::reshape:
      return map_reshape(dims, operand, result, index);
    default:
      return index;
  }
}

Element element_behind_views(DimTable& dims, const Graph& graph, ValueId v, Index index) {
  for (; !graph.is_input(v) && is_view(graph.producer(v).op); v = graph.producer(v).operands[0])
    index = map_view_index(dims, graph, graph.producer(v), index);
  return {v, std::move(index)};
}

Dim linear_index(DimTable& dims, const std::vector<Dim>& shape, const Index& index) {
  Dim linear = dims.constant(0);
  for (size_t k = 0; k < index.size(); ++k) linear = dims.add(dims.mul(linear, shape[k]), index[k]);
  return linear;
}

Dim offset_of(DimTable& dims, const Index& index, const std::vector<Dim>& strides) {
  Dim offset = dims.constant(0);
  for (size_t k = 0; k < index.size(); ++k) offset = dims.add(offset, dims.mul(index[k], strides[k]));
  return offset;
}

}  // namespace accel
