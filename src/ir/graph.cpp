#include "ir/graph.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <string_view>

namespace accel {

bool Type::is_c_order() const { return std::is_sorted(order.begin(), order.end()); }

std::vector<uint8_t> Type::axis_order() const {
  if (!order.empty()) return order;
  std::vector<uint8_t> out(shape.size());
  std::iota(out.begin(), out.end(), uint8_t{0});
  return out;
}

int Graph::add_symbol(std::string name, int64_t hint) {
  symbols.push_back(std::move(name));
  hints.push_back(hint);
  return static_cast<int>(symbols.size()) - 1;
}

ValueId Graph::add_input(Input input, Type type) {
  inputs.push_back(std::move(input));
  return add_param(0, std::move(type));
}

ValueId Graph::add_param(BlockId block, Type type) {
  ValueId id = static_cast<ValueId>(values.size());
  values.push_back({std::move(type), -1, block});
  blocks[static_cast<size_t>(block)].params.push_back(id);
  return id;
}

ValueId Graph::add_node(BlockId block, Op op, std::vector<ValueId> operands, Attributes attrs, std::vector<Type> results,
                        Location where) {
  NodeId id = static_cast<NodeId>(nodes.size());
  Node node{op, std::move(operands), {}, std::move(attrs), where};
  for (Type& type : results) {
    node.results.push_back(static_cast<ValueId>(values.size()));
    values.push_back({std::move(type), id, block});
  }
  ValueId first = node.results.empty() ? no_value : node.results[0];
  nodes.push_back(std::move(node));
  blocks[static_cast<size_t>(block)].nodes.push_back(id);
  return first;
}

int Graph::input_index(ValueId v) const {
  const auto& params = entry().params;
  auto it = std::find(params.begin(), params.end(), v);
  return it == params.end() ? -1 : static_cast<int>(it - params.begin());
}

std::vector<int> Graph::use_counts() const {
  std::vector<int> counts(values.size(), 0);
  auto count = [&](const std::vector<ValueId>& uses) {
    for (ValueId v : uses) ++counts[static_cast<size_t>(v)];
  };
  for (const Block& block : blocks) {
    for (NodeId n : block.nodes) count(nodes[static_cast<size_t>(n)].operands);
    count(block.terminator.operands);
    count(block.terminator.target_arguments[0]);
    count(block.terminator.target_arguments[1]);
  }
  return counts;
}

ValueId initial_of(const Graph& graph, const Node& reduce) {
  bool given = reduce.operands.size() > 1 && graph.type(reduce.operands[1]).rank() == 0;
  return given ? reduce.operands[1] : no_value;
}

ValueId mask_of(const Graph& graph, const Node& reduce) {
  bool given = reduce.operands.size() > 1 && graph.type(reduce.operands.back()).rank() > 0;
  return given ? reduce.operands.back() : no_value;
}

int numpy_events(const Graph& graph, const Node& node) {
  if (node.operands.empty() || graph.type(node.results[0]).kind == ValueKind::py_scalar) return 0;
  DType from = graph.type(node.operands[0]).dtype;
  if (node.op == Op::astype) return cast_events(from, graph.type(node.results[0]).dtype);
  if (node.op == Op::accumulate || node.op == Op::update_at) return op_events(node.attrs.ufunc, from);
  if (node.op != Op::reduce) return op_events(node.op, from);
  // A buffered reduction casts its operand to the accumulator's dtype on the way in.
  DType accumulator = graph.type(node.results[0]).dtype;
  int cast = node.attrs.buffered ? cast_events(from, accumulator) : 0;
  return cast | op_events(node.attrs.ufunc, node.attrs.buffered ? accumulator : from);
}

int node_events(const Graph& graph, const Node& node) { return events_on(graph.target, numpy_events(graph, node)); }

std::optional<Literal> identity_of(Op op, DType dtype) {
  std::string_view text = op_info(op).identity;
  if (text.empty()) return std::nullopt;
  if (text == "-inf") return Literal::of_double(dtype, -std::numeric_limits<double>::infinity());
  int64_t value = text == "0" || text == "false" ? 0 : text == "-1" && dtype != DType::bool_ ? -1 : 1;
  return is_inexact(dtype) ? Literal::of_double(dtype, static_cast<double>(value)) : Literal::of_int(dtype, value);
}

}  // namespace accel
