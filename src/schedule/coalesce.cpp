#include "schedule/coalesce.h"

#include <algorithm>

namespace accel {

namespace {

std::vector<Dim> memory_strides(DimTable& dims, const Graph& graph, ValueId v) {
  int input = graph.input_index(v);
  if (input >= 0 && graph.inputs[input].layout == Layout::strided) return graph.inputs[input].strides;
  return dense_strides(dims, graph.type(v));
}

Dim at(DimTable& dims, Dim expression, int symbol, int64_t value) {
  return dims.substitute(expression, [&](int s) -> std::optional<Dim> {
    if (s == symbol) return dims.constant(value);
    return std::nullopt;
  });
}

}  // namespace

std::optional<StridedView> strided_view(DimTable& dims, const Graph& graph, const std::vector<Place>& places, ValueId v) {
  constexpr int first = DimTable::first_variable + (1 << 18);  // variables of this question only
  Index index;
  int rank = graph.type(v).rank();
  for (int k = 0; k < rank; ++k) index.push_back(dims.symbol(first + k));
  int64_t part = 0;
  while (!graph.is_input(v) && places[v] == Place::inlined) {
    const Node& node = graph.producer(v);
    if (op_class(node.op) != OpClass::view) return std::nullopt;
    if (node.op == Op::imag) part += item_size(graph.type(v).dtype);
    index = map_view_index(dims, graph, node, index);
    v = node.operands[0];
  }
  if (places[v] == Place::row) return std::nullopt;
  StridedView view;
  view.base = v;
  Dim address = dims.add(offset_of(dims, index, memory_strides(dims, graph, v)), dims.constant(part));
  Dim rest = address;
  for (int k = 0; k < rank; ++k) {
    Dim zero = at(dims, rest, first + k, 0), one = at(dims, rest, first + k, 1), two = at(dims, rest, first + k, 2);
    Dim stride = dims.sub(one, zero);
    if (dims.sub(two, one) != stride) return std::nullopt;
    for (int symbol : dims.symbols(stride))
      if (symbol >= first) return std::nullopt;
    view.strides.push_back(stride);
    rest = zero;
  }
  view.offset = rest;
  return view;
}

bool coalesces(DimTable& dims, const Graph& graph, const std::vector<Place>& places, ValueId v, const std::vector<int>& axes) {
  if (graph.type(v).rank() == 0) return true;
  if (std::optional<StridedView> view = strided_view(dims, graph, places, v)) {
    for (size_t k = 0; k + 1 < axes.size(); ++k)
      if (view->strides[axes[k]] != dims.mul(view->strides[axes[k + 1]], graph.type(v).shape[axes[k + 1]])) return false;
    return true;
  }
  if (graph.is_input(v) || places[v] != Place::inlined) return false;
  const Node& node = graph.producer(v);
  if (node.op == Op::full) return true;
  if (op_class(node.op) != OpClass::pointwise && node.op != Op::real && node.op != Op::imag) return false;
  return std::all_of(node.operands.begin(), node.operands.end(),
                     [&](ValueId operand) { return coalesces(dims, graph, places, operand, axes); });
}

}  // namespace accel
