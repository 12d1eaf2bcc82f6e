#include "schedule/analysis/coalesce.h"

#include <algorithm>

namespace accel {

std::vector<Dim> memory_strides_of(DimTable& dims, const Graph& graph, ValueId v) {
  int input = graph.input_index(v);
  if (input >= 0 && graph.inputs[input].layout == Layout::strided) return graph.inputs[input].strides;
  return dense_strides(dims, graph.type(v));
}

std::optional<MemoryPosition> memory_position(DimTable& dims, const Graph& graph, const std::vector<Place>& places, ValueId v,
                                              Index index) {
  Dim part = dims.constant(0);
  auto in_memory = [&](ValueId u) { return graph.is_input(u) || places[u] != Place::inlined; };
  while (!in_memory(v)) {
    const Node& node = graph.producer(v);
    if (op_class(node.op) != OpClass::view) return std::nullopt;
    Dim item = dims.constant(item_size(graph.type(v).dtype));
    if (node.op == Op::imag) part = dims.add(part, item);
    if (node.op == Op::parts) part = dims.add(part, dims.mul(index.back(), item));
    ValueId operand = node.operands[0];
    std::vector<Dim> strides = in_memory(operand) ? memory_strides_of(dims, graph, operand) : std::vector<Dim>{};
    bool straight = node.op == Op::reshape && in_memory(operand) &&
                    (graph.is_input(operand) || places[operand] == Place::root) && graph.type(operand).is_c_order() &&
                    strides == dense_strides(dims, graph.type(operand));
    if (straight) {
      // In C order the linear index is the address, so no index into the operand is needed.
      Dim position = linear_index(dims, graph.type(v).shape, index);
      return MemoryPosition{operand, {}, dims.add(dims.mul(position, item_size(graph.type(operand).dtype)), part)};
    }
    index = map_view_index(dims, graph, node, index);
    v = operand;
  }
  Dim offset = dims.add(offset_of(dims, index, memory_strides_of(dims, graph, v)), part);
  return MemoryPosition{v, index, offset};
}

std::optional<StridedView> strided_view(DimTable& dims, const Graph& graph, const std::vector<Place>& places, ValueId v) {
  Index index;
  int rank = graph.type(v).rank();
  for (int k = 0; k < rank; ++k) index.push_back(dims.new_variable());
  std::optional<MemoryPosition> position = memory_position(dims, graph, places, v, index);
  if (!position || (!graph.is_input(position->base) && places[position->base] == Place::row)) return std::nullopt;
  StridedView view{position->base, {}, position->offset};
  for (Dim axis : index) {
    std::optional<Dim> stride = dims.slope(view.offset, *dims.as_symbol(axis));
    if (!stride || dims.has_variables(*stride)) return std::nullopt;
    view.strides.push_back(*stride);
    view.offset = dims.substitute(view.offset, *dims.as_symbol(axis), 0);
  }
  return view;
}

namespace {

// Whether the operand of a broadcast_to has extents other than 1 in one of the result's axes.
bool varies_along(DimTable& dims, const Graph& graph, const Node& node, const std::vector<int>& axes) {
  const std::vector<Dim>& shape = graph.type(node.operands[0]).shape;
  const int added = graph.type(node.results[0]).rank() - static_cast<int>(shape.size());
  return std::any_of(axes.begin(), axes.end(),
                     [&](int axis) { return axis >= added && !dims.is_constant(shape[axis - added], 1); });
}

}  // namespace

bool coalesces(DimTable& dims, const Graph& graph, const std::vector<Place>& places, ValueId v, const std::vector<int>& axes) {
  const std::vector<Dim> shape = graph.type(v).shape;
  if (std::any_of(shape.begin(), shape.end(), [&](Dim extent) { return dims.is_constant(extent, 0); })) return true;
  if (shape.empty()) return true;
  if (std::optional<StridedView> view = strided_view(dims, graph, places, v)) {
    for (size_t k = 0; k + 1 < axes.size(); ++k)
      if (view->strides[axes[k]] != dims.mul(view->strides[axes[k + 1]], shape[axes[k + 1]])) return false;
    return true;
  }
  if (graph.is_input(v) || places[v] != Place::inlined) return false;
  const Node& node = graph.producer(v);
  if (node.op == Op::full) return true;
  if (node.op == Op::broadcast_to && !varies_along(dims, graph, node, axes)) return true;
  if (op_class(node.op) != OpClass::pointwise && node.op != Op::real && node.op != Op::imag) return false;
  return std::all_of(node.operands.begin(), node.operands.end(),
                     [&](ValueId operand) { return coalesces(dims, graph, places, operand, axes); });
}

}  // namespace accel
