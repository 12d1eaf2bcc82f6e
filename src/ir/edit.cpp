#include "ir/edit.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace accel {

void replace_uses(Graph& graph, const std::vector<ValueId>& replacement) {
  auto rewrite = [&](std::vector<ValueId>& uses) {
    for (ValueId& v : uses) {
      while (replacement[static_cast<size_t>(v)] != v) v = replacement[static_cast<size_t>(v)];
    }
  };
  for (Block& block : graph.blocks) {
    for (NodeId n : block.nodes) rewrite(graph.nodes[static_cast<size_t>(n)].operands);
    rewrite(block.terminator.operands);
    for (auto& arguments : block.terminator.target_arguments) rewrite(arguments);
  }
}

std::vector<ValueId> no_replacement(const Graph& graph) {
  std::vector<ValueId> out(graph.values.size());
  std::iota(out.begin(), out.end(), 0);
  return out;
}

void remove_param(Graph& graph, BlockId block, size_t position) {
  auto erase = [&](std::vector<ValueId>& list) { list.erase(list.begin() + static_cast<std::ptrdiff_t>(position)); };
  for (Block& from : graph.blocks)
    for (int k = 0; k < target_count(from.terminator); ++k)
      if (from.terminator.targets[k] == block) erase(from.terminator.target_arguments[k]);
  erase(graph.blocks[static_cast<size_t>(block)].params);
}

namespace {

BlockId add_jump(Graph& graph, BlockId target) {
  Block made;
  made.terminator.kind = TerminatorKind::jump;
  made.terminator.targets[0] = target;
  graph.blocks.push_back(std::move(made));
  return static_cast<BlockId>(graph.blocks.size()) - 1;
}

Terminator& end_of(Graph& graph, BlockId b) { return graph.blocks[static_cast<size_t>(b)].terminator; }

}  // namespace

BlockId split_edge(Graph& graph, GraphEdge edge) {
  BlockId made = add_jump(graph, end_of(graph, edge.from).targets[edge.number]);
  Terminator& from = end_of(graph, edge.from);
  end_of(graph, made).target_arguments[0] = std::exchange(from.target_arguments[edge.number], {});
  from.targets[edge.number] = made;
  return made;
}

BlockId join_edges(Graph& graph, const std::vector<GraphEdge>& edges) {
  const BlockId target = end_of(graph, edges[0].from).targets[edges[0].number];
  const BlockId made = add_jump(graph, target);
  for (ValueId v : std::vector<ValueId>(graph.blocks[static_cast<size_t>(target)].params)) graph.add_param(made, graph.type(v));
  end_of(graph, made).target_arguments[0] = graph.blocks[static_cast<size_t>(made)].params;
  for (GraphEdge edge : edges) end_of(graph, edge.from).targets[edge.number] = made;
  return made;
}

void remove_blocks(Graph& graph, const std::vector<bool>& gone) {
  std::vector<BlockId> number(graph.blocks.size(), -1);
  std::vector<Block> remaining;
  for (size_t b = 0; b < graph.blocks.size(); ++b) {
    if (gone[b]) continue;
    number[b] = static_cast<BlockId>(remaining.size());
    remaining.push_back(std::move(graph.blocks[b]));
  }
  graph.blocks = std::move(remaining);
  for (Block& each : graph.blocks)
    for (int k = 0; k < target_count(each.terminator); ++k)
      each.terminator.targets[k] = number[static_cast<size_t>(each.terminator.targets[k])];
  // Values that no node computes any more may name removed blocks: they are assigned to block 0.
  for (Value& value : graph.values) {
    bool is_numbered = value.block >= 0 && static_cast<size_t>(value.block) < number.size();
    value.block = is_numbered ? std::max(number[static_cast<size_t>(value.block)], 0) : 0;
  }
}

std::vector<bool> returned_values(const Graph& graph) {
  std::vector<bool> out(graph.values.size(), false);
  for (const Block& block : graph.blocks) {
    if (block.terminator.kind != TerminatorKind::ret && block.terminator.kind != TerminatorKind::leave) continue;
    for (ValueId v : block.terminator.operands) out[static_cast<size_t>(v)] = true;
  }
  return out;
}

bool same_computation(const Graph& graph, const Node& a, const Node& b) {
  if (a.op != b.op || a.operands != b.operands || !(a.attrs == b.attrs) || a.results.size() != b.results.size()) return false;
  for (size_t k = 0; k < a.results.size(); ++k) {
    if (graph.type(a.results[k]) != graph.type(b.results[k])) return false;
  }
  return true;
}

size_t computation_hash(const Node& node) {
  size_t h = static_cast<size_t>(node.op);
  for (ValueId v : node.operands) h = h * 31 + static_cast<size_t>(v);
  for (int axis : node.attrs.axes) h = h * 31 + static_cast<size_t>(axis);
  for (Dim d : node.attrs.dims) h = h * 31 + static_cast<size_t>(d.id);
  return h * 31 + static_cast<size_t>(node.attrs.literal.bits[0]);
}

ValueId copy_view(Graph& graph, BlockId block, ValueId view, ValueId from, ValueId to) {
  std::vector<NodeId> chain;
  for (; view != from; view = graph.producer(view).operands[0])
    chain.push_back(graph.values[static_cast<size_t>(view)].producer);
  for (auto n = chain.rbegin(); n != chain.rend(); ++n) {
    const Node source = graph.nodes[static_cast<size_t>(*n)];
    to = graph.add_node(block, source.op, {to}, source.attrs, {graph.type(source.results[0])}, source.where);
  }
  return to;
}

bool is_view(const Graph& graph, ValueId v) { return !graph.is_input(v) && op_class(graph.producer(v).op) == OpClass::view; }

bool is_same_view(const Graph& graph, ValueId a, ValueId base_a, ValueId b, ValueId base_b) {
  while (a != base_a && b != base_b) {
    if (!is_view(graph, a) || !is_view(graph, b) || graph.type(a) != graph.type(b)) return false;
    const Node &from = graph.producer(a), &to = graph.producer(b);
    if (from.op != to.op || !(from.attrs == to.attrs)) return false;
    a = from.operands[0];
    b = to.operands[0];
  }
  return a == base_a && b == base_b;
}

}  // namespace accel
