// A branch that only chooses between scalars becomes a selection: there is no jump that the processor could guess wrong.

#include <algorithm>

#include "ir/flow.h"
#include "passes/passes.h"
#include "passes/rewrite.h"

namespace accel {

namespace {

constexpr size_t most_choices = 2;

class IfConversion {
 public:
  explicit IfConversion(Graph& graph)
      : graph_(graph), before_(predecessors(graph)), gone_(graph.blocks.size(), false), left_(graph.blocks.size()) {}

  bool run() {
    bool changed = false;
    for (BlockId b = static_cast<BlockId>(graph_.blocks.size()); b-- > 0;) changed |= convert(b);
    if (changed) remove_blocks(graph_, gone_);
    return changed;
  }

 private:
  // One way of a branch to where both meet.
  struct Way {
    BlockId side = -1;  // a block of its own on the way; -1: none
    BlockId target = -1;
    std::vector<ValueId> arguments;
  };

  Block& block(BlockId b) { return graph_.blocks[static_cast<size_t>(b)]; }

  bool is_leaf(NodeId n) const {
    Op op = graph_.nodes[static_cast<size_t>(n)].op;
    return op == Op::constant || op == Op::dim;
  }

  Way way(const Terminator& branch, int k) {
    BlockId next = branch.targets[k];
    const Block& side = block(next);
    bool through = side.terminator.kind == TerminatorKind::jump && side.params.empty() && next != 0 &&
                   before_[static_cast<size_t>(next)].size() == 1 &&
                   std::all_of(side.nodes.begin(), side.nodes.end(), [&](NodeId n) { return is_leaf(n); });
    if (!through) return {-1, next, branch.target_arguments[k]};
    return {next, side.terminator.targets[0], side.terminator.target_arguments[0]};
  }

  bool can_choose(ValueId a, ValueId b) const {
    return a == b || (graph_.type(a) == graph_.type(b) && graph_.type(a).kind != ValueKind::array);
  }

  bool convert(BlockId b) {
    Terminator branch = block(b).terminator;
    if (branch.kind != TerminatorKind::branch || branch.targets[0] == branch.targets[1]) return false;
    const Way ways[] = {way(branch, 0), way(branch, 1)};
    if (ways[0].target != ways[1].target || ways[0].target == ways[0].side || ways[1].target == ways[1].side) return false;
    const std::vector<ValueId>&then = ways[0].arguments, &otherwise = ways[1].arguments;
    size_t choices = 0, removed = 0;
    for (size_t k = 0; k < then.size(); ++k) {
      if (!can_choose(then[k], otherwise[k])) return false;
      choices += then[k] != otherwise[k];
    }
    for (const Way& each : ways) removed += each.side >= 0;
    // A graph with control flow stays one.
    if (choices > most_choices || left_ - removed < 2) return false;
    for (const Way& each : ways)
      if (each.side >= 0) take_over(b, each.side);
    left_ -= removed;
    Terminator jump;
    jump.kind = TerminatorKind::jump;
    jump.targets[0] = ways[0].target;
    for (size_t k = 0; k < then.size(); ++k) jump.target_arguments[0].push_back(choose(b, branch, then[k], otherwise[k]));
    block(b).terminator = std::move(jump);
    before_ = predecessors(graph_);
    return true;
  }

  void take_over(BlockId b, BlockId side) {
    for (NodeId n : block(side).nodes) {
      block(b).nodes.push_back(n);
      for (ValueId v : graph_.nodes[static_cast<size_t>(n)].results) graph_.values[static_cast<size_t>(v)].block = b;
    }
    block(side) = Block{};
    gone_[static_cast<size_t>(side)] = true;
  }

  ValueId choose(BlockId b, const Terminator& branch, ValueId then, ValueId otherwise) {
    if (then == otherwise) return then;
    Type type = graph_.type(then);
    return graph_.add_node(b, Op::where, {branch.operands[0], then, otherwise}, {}, {type});
  }

  Graph& graph_;
  std::vector<std::vector<BlockId>> before_;
  std::vector<bool> gone_;
  size_t left_;
};

}  // namespace

bool if_conversion(Graph& graph, const Target&) { return graph.blocks.size() > 2 && IfConversion(graph).run(); }

}  // namespace accel
