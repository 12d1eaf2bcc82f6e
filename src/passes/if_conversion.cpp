// A branch that only chooses between scalars becomes a selection: there is no jump that the processor could guess wrong. Checks
// of integers on the ways to them are made behind it.

#include <algorithm>
#include <optional>

#include "ir/flow.h"
#include "passes/passes.h"
#include "passes/rewrite.h"

namespace accel {

namespace {

constexpr size_t most_choices = 2;
constexpr size_t most_computed = 8;  // operations of one way that are done on both, when a check is among them

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
  // A branch of a way to a side exit.
  struct Check {
    ValueId condition = no_value;
    bool leaves_when = false;
    BlockId exit = -1;
  };
  // One way of a branch to where both meet.
  struct Way {
    std::vector<BlockId> sides;  // blocks of its own on the way
    std::vector<Check> checks;
    size_t computed = 0;  // operations in the blocks
    BlockId target = -1;
    std::vector<ValueId> arguments;
  };

  Block& block(BlockId b) { return graph_.blocks[static_cast<size_t>(b)]; }
  bool leaves(BlockId b) { return block(b).terminator.kind == TerminatorKind::leave && block(b).params.empty(); }

  bool is_leaf(const Node& node) const { return node.op == Op::constant || node.op == Op::dim; }

  // Whether it may be computed where it is not needed: numbers without events, and no division that the processor refuses.
  bool is_harmless(const Node& node) const {
    if (op_class(node.op) != OpClass::pointwise || node.results.size() != 1 || node_events(graph_, node) != 0) return false;
    bool divides = node.op == Op::floor_divide || node.op == Op::remainder;
    if (divides && !is_positive_constant(node.operands[1])) return false;
    auto is_whole = [&](ValueId v) {
      const Type& type = graph_.type(v);
      return type.kind != ValueKind::array && dtype_kind(type.dtype) != 'f' && dtype_kind(type.dtype) != 'c';
    };
    DType dtype = graph_.type(node.operands[0]).dtype;
    return is_inline(node.op, dtype) && is_whole(node.results[0]) &&
           std::all_of(node.operands.begin(), node.operands.end(), is_whole);
  }

  bool is_positive_constant(ValueId v) const {
    if (graph_.is_input(v) || graph_.producer(v).op != Op::constant) return false;
    return graph_.producer(v).attrs.literal.as_int() > 0;
  }

  Way way(const Terminator& branch, int k) {
    Way out{{}, {}, 0, branch.targets[k], branch.target_arguments[k]};
    while (out.arguments.empty() && is_own(out.target)) {
      const Block& side = block(out.target);
      size_t computed = 0;
      for (NodeId n : side.nodes) {
        const Node& node = graph_.nodes[static_cast<size_t>(n)];
        if (is_leaf(node)) continue;
        if (!is_harmless(node)) return out;
        ++computed;
      }
      const Terminator& t = side.terminator;
      std::optional<int> stays = check_of(t);
      if (t.kind != TerminatorKind::jump && !stays) return out;
      out.sides.push_back(out.target);
      out.computed += computed;
      if (stays) out.checks.push_back({t.operands[0], *stays == 1, t.targets[1 - *stays]});
      out.arguments = t.target_arguments[stays.value_or(0)];
      out.target = t.targets[stays.value_or(0)];
      if (!stays) break;
    }
    return out;
  }

  // Whether there is one way to a block.
  bool is_own(BlockId b) { return b != 0 && block(b).params.empty() && before_[static_cast<size_t>(b)].size() == 1; }

  // Of a branch where one way leaves: the other way's number.
  std::optional<int> check_of(const Terminator& t) {
    if (t.kind != TerminatorKind::branch || leaves(t.targets[0]) == leaves(t.targets[1])) return std::nullopt;
    return leaves(t.targets[0]) ? 1 : 0;
  }

  bool can_choose(ValueId a, ValueId b) const {
    return a == b || (graph_.type(a) == graph_.type(b) && graph_.type(a).kind != ValueKind::array);
  }

  bool convert(BlockId b) {
    Terminator branch = block(b).terminator;
    if (branch.kind != TerminatorKind::branch || branch.targets[0] == branch.targets[1]) return false;
    const Way ways[] = {way(branch, 0), way(branch, 1)};
    if (ways[0].target != ways[1].target || is_among(ways[0].target, ways[0]) || is_among(ways[1].target, ways[1]))
      return false;
    const std::vector<ValueId>&then = ways[0].arguments, &otherwise = ways[1].arguments;
    size_t choices = 0, sides = ways[0].sides.size() + ways[1].sides.size(),
           checks = ways[0].checks.size() + ways[1].checks.size();
    for (size_t k = 0; k < then.size(); ++k) {
      if (!can_choose(then[k], otherwise[k])) return false;
      choices += then[k] != otherwise[k];
    }
    // Without a check the C++ compiler chooses for itself what it computes on both ways.
    size_t most = checks > 0 ? most_computed : 0;
    if (ways[0].computed > most || ways[1].computed > most) return false;
    // A graph with control flow stays one.
    if (choices > most_choices || left_ - (sides - checks) < 2) return false;
    for (const Way& each : ways)
      for (BlockId side : each.sides) take_over(b, side);
    left_ -= sides - checks;
    Terminator jump;
    jump.kind = TerminatorKind::jump;
    jump.targets[0] = ways[0].target;
    for (size_t k = 0; k < then.size(); ++k) jump.target_arguments[0].push_back(choose(b, branch, then[k], otherwise[k]));
    block(make_checks(b, branch.operands[0], ways)).terminator = std::move(jump);
    before_ = predecessors(graph_);
    return true;
  }

  bool is_among(BlockId b, const Way& way) const { return std::find(way.sides.begin(), way.sides.end(), b) != way.sides.end(); }

  // The checks of both ways, each made if its way is the one: one block after the other, each of which one of the ways had.
  // Returns the last one.
  BlockId make_checks(BlockId b, ValueId condition, const Way (&ways)[2]) {
    BlockId at = b;
    for (int k = 0; k < 2; ++k)
      for (size_t i = 0; i < ways[k].checks.size(); ++i) {
        const Check& check = ways[k].checks[i];
        ValueId is_way = k == 0 ? condition : logical(b, Op::logical_not, {condition});
        ValueId fails = check.leaves_when ? check.condition : logical(b, Op::logical_not, {check.condition});
        BlockId next = ways[k].sides[i];
        gone_[static_cast<size_t>(next)] = false;
        Terminator& t = block(at).terminator;
        t = Terminator{};
        t.kind = TerminatorKind::branch;
        t.operands = {logical(b, Op::logical_and, {is_way, fails})};
        t.targets[0] = check.exit;
        t.targets[1] = next;
        at = next;
      }
    return at;
  }

  ValueId logical(BlockId b, Op op, std::vector<ValueId> operands) {
    return graph_.add_node(b, op, std::move(operands), {}, {{ValueKind::py_scalar, DType::bool_, {}, {}}});
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
