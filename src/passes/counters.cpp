// Loop counters in one form: the header compares the parameter itself, and edges back give it plus a constant. What follows
// finds loops by that.

#include <algorithm>

#include "ir/analysis/flow.h"
#include "passes/passes.h"

namespace accel {

namespace {

class Counters {
 public:
  explicit Counters(Graph& graph) : graph_(graph) {}

  bool run() {
    for (BlockId b = 1; b < static_cast<BlockId>(graph_.blocks.size()); ++b) {
      std::vector<NodeId> nodes = block(b).nodes;
      for (NodeId n : nodes) {
        const Node& bind = graph_.nodes[static_cast<size_t>(n)];
        if (bind.op != Op::bind) continue;
        const auto& params = block(b).params;
        auto found = std::find(params.begin(), params.end(), bind.operands[0]);
        if (found == params.end() || graph_.type(*found) != graph_.type(bind.results[0])) continue;
        Dim symbol = bind.attrs.dims[0];
        step(b, static_cast<size_t>(found - params.begin()), symbol);
        compare(b, *found, symbol);
      }
    }
    return changed_;
  }

 private:
  Block& block(BlockId b) { return graph_.blocks[static_cast<size_t>(b)]; }

  // c when v is known to be symbol + c.
  std::optional<int64_t> distance(ValueId v, Dim symbol) {
    if (graph_.is_input(v)) return std::nullopt;
    const Node& node = graph_.producer(v);
    if (node.op != Op::dim && node.op != Op::bind) return std::nullopt;
    return graph_.dims.as_constant(graph_.dims.sub(node.attrs.dims[0], symbol));
  }

  void step(BlockId header, size_t position, Dim symbol) {
    ValueId param = block(header).params[position];
    for (BlockId b = 0; b < static_cast<BlockId>(graph_.blocks.size()); ++b) {
      for (int k = 0; k < target_count(block(b).terminator); ++k) {
        if (block(b).terminator.targets[k] != header) continue;
        ValueId given = block(b).terminator.target_arguments[k][position];
        std::optional<int64_t> change = distance(given, symbol);
        if (!change || *change == 0) continue;
        Type type = graph_.type(given);
        Location where = graph_.producer(given).where;
        Attributes attrs;
        attrs.literal = Literal::of_int(DType::int64, *change);
        ValueId by = graph_.add_node(b, Op::constant, {}, attrs, {type}, where);
        ValueId next = graph_.add_node(b, Op::add, {param, by}, {}, {type}, where);
        block(b).terminator.target_arguments[k][position] = next;
        changed_ = true;
      }
    }
  }

  void compare(BlockId header, ValueId param, Dim symbol) {
    const Terminator& t = block(header).terminator;
    if (t.kind != TerminatorKind::branch || graph_.is_input(t.operands[0])) return;
    if (graph_.values[static_cast<size_t>(t.operands[0])].block != header) return;
    NodeId id = graph_.values[static_cast<size_t>(t.operands[0])].producer;
    const Node& test = graph_.nodes[static_cast<size_t>(id)];
    if ((test.op != Op::less && test.op != Op::greater) || test.operands[0] == param) return;
    std::optional<int64_t> before = distance(test.operands[0], symbol);
    if (!before || graph_.type(test.operands[0]) != graph_.type(param)) return;
    ValueId end = test.operands[1];
    if (*before != 0) {
      if (graph_.is_input(end) || graph_.producer(end).op != Op::dim) return;
      Attributes attrs;
      attrs.dims = {graph_.dims.sub(graph_.producer(end).attrs.dims[0], graph_.dims.constant(*before))};
      end = graph_.add_node(header, Op::dim, {}, attrs, {graph_.type(end)}, test.where);
      auto& nodes = block(header).nodes;
      std::rotate(std::find(nodes.begin(), nodes.end(), id), nodes.end() - 1, nodes.end());
    }
    graph_.nodes[static_cast<size_t>(id)].operands = {param, end};
    changed_ = true;
  }

  Graph& graph_;
  bool changed_ = false;
};

}  // namespace

bool counters(Graph& graph) { return graph.blocks.size() > 1 && Counters(graph).run(); }

}  // namespace accel
