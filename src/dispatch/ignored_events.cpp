#include "dispatch/ignored_events.h"

#include <cmath>

namespace accel {

namespace {

// A real number that is neither 0 nor infinite in any floating dtype.
bool is_ordinary_constant(const Graph& graph, ValueId v) {
  if (graph.is_input(v) || graph.producer(v).op != Op::constant || dtype_kind(graph.type(v).dtype) != 'f') return false;
  double value = std::fabs(graph.producer(v).attrs.literal.as_complex().real());
  return value >= 1e-4 && value <= 1e4;
}

// Events that the operation cannot have because of a constant operand: inf - inf, 0 * inf, x / 0 and 0 / 0.
int events_ruled_out(const Graph& graph, const Node& node) {
  if (node.operands.size() != 2 || dtype_kind(graph.type(node.operands[0]).dtype) != 'f') return 0;
  bool left = is_ordinary_constant(graph, node.operands[0]), right = is_ordinary_constant(graph, node.operands[1]);
  switch (node.op) {
    case Op::add:
    case Op::subtract:
    case Op::multiply:
      return left || right ? event_invalid : 0;
    case Op::divide:
      return right ? event_divide | event_invalid : left ? event_invalid : 0;
    default:
      return 0;
  }
}

}  // namespace

int events_ignored_everywhere(const Graph& graph) {
  int ignored = 0, heard = 0;
  for (const Block& block : graph.blocks)
    for (NodeId n : block.nodes) {
      const Node& node = graph.nodes[static_cast<size_t>(n)];
      ignored |= node.where.ignored;
      heard |= node_events(graph, node) & ~events_ruled_out(graph, node) & ~node.where.ignored;
    }
  return ignored & ~heard;
}

}  // namespace accel
