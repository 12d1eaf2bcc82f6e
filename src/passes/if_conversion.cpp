// A branch that only chooses between scalars becomes a selection: there is no jump that the processor could guess wrong. Checks
// of integers that a side of the branch makes are made after the selection. An element that one side stores is stored on both:
// the other side stores the value that it has read there.

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "ir/analysis/flow.h"
#include "ir/edit.h"
#include "passes/analysis/speculation.h"
#include "passes/passes.h"

namespace accel {

namespace {

constexpr size_t most_choices = 2;
// Operations of one side that are computed on both. For sides without checks and memory accesses the C++ compiler makes the
// choice.
constexpr size_t most_computed = 8, most_left_to_compiler = 4;
constexpr size_t most_moved = 4;  // elements

class IfConversion {
 public:
  explicit IfConversion(Graph& graph)
      : graph_(graph),
        speculation_(graph),
        bindings_(bound_symbols(graph)),
        before_(predecessors(graph)),
        gone_(graph.blocks.size(), false),
        left_(graph.blocks.size()) {}

  bool run() {
    bool changed = false;
    for (BlockId b = static_cast<BlockId>(graph_.blocks.size()); b-- > 0;) changed |= convert(b);
    if (changed) remove_blocks(graph_, gone_);
    return changed;
  }

 private:
  // A branch within a side to a side exit.
  struct Check {
    ValueId condition = no_value;
    bool leaves_when = false;
    BlockId exit = -1;
  };
  // One side of a branch: the blocks from the branch to the block where both sides join.
  struct BranchSide {
    std::vector<BlockId> blocks;  // blocks that only this side reaches
    std::vector<Check> checks;
    size_t computed = 0, moved = 0;  // operations in the blocks
    std::vector<NodeId> stores;
    BlockId target = -1;
    std::vector<ValueId> arguments;
  };

  Block& block(BlockId b) { return graph_.blocks[static_cast<size_t>(b)]; }
  bool leaves(BlockId b) { return block(b).terminator.kind == TerminatorKind::leave && block(b).params.empty(); }

  BranchSide find_side(BlockId from, int k) {
    const Terminator& branch = block(from).terminator;
    BranchSide out;
    out.target = branch.targets[k];
    out.arguments = branch.target_arguments[k];
    while (out.arguments.empty() && is_own(out.target) && out.target != from) {
      BranchSide longer = out;
      if (!add_nodes(longer, block(out.target), from)) return out;
      const Terminator& t = block(out.target).terminator;
      std::optional<int> stays = check_of(t);
      if (t.kind != TerminatorKind::jump && !stays) return out;
      longer.blocks.push_back(out.target);
      if (stays) longer.checks.push_back({t.operands[0], *stays == 1, t.targets[1 - *stays]});
      longer.arguments = t.target_arguments[stays.value_or(0)];
      longer.target = t.targets[stays.value_or(0)];
      out = std::move(longer);
    }
    return out;
  }

  // False where a node of the block must not be computed on the other side.
  bool add_nodes(BranchSide& side, const Block& own, BlockId from) {
    for (NodeId n : own.nodes) {
      const Node& node = graph_.nodes[static_cast<size_t>(n)];
      Speculated what = speculation_.look_at(node, from);
      if (what == Speculated::refused) return false;
      side.computed += what == Speculated::computed;
      side.moved += what == Speculated::moved;
      if (node.op == Op::store) side.stores.push_back(n);
    }
    return true;
  }

  // Whether one edge alone leads to a block.
  bool is_own(BlockId b) { return b != 0 && block(b).params.empty() && before_[static_cast<size_t>(b)].size() == 1; }

  // The edge that stays, of a branch whose other edge leads to a side exit.
  std::optional<int> check_of(const Terminator& t) {
    if (t.kind != TerminatorKind::branch || leaves(t.targets[0]) == leaves(t.targets[1])) return std::nullopt;
    return leaves(t.targets[0]) ? 1 : 0;
  }

  // Whether both sides compute the same number, as where each ends the body of a loop and increments the counter.
  bool is_same_number(ValueId a, ValueId b, int depth = 4) const {
    if (a == b) return true;
    if (depth == 0 || graph_.is_input(a) || graph_.is_input(b) || graph_.type(a) != graph_.type(b)) return false;
    const Node &first = graph_.producer(a), &second = graph_.producer(b);
    bool is_number = first.op == Op::constant || first.op == Op::dim || op_class(first.op) == OpClass::pointwise;
    return is_number && first.op == second.op && first.attrs == second.attrs && first.results.size() == 1 &&
           node_events(graph_, first) == 0 &&
           std::equal(first.operands.begin(), first.operands.end(), second.operands.begin(), second.operands.end(),
                      [&](ValueId x, ValueId y) { return is_same_number(x, y, depth - 1); });
  }

  bool can_choose(ValueId a, ValueId b) const {
    return a == b || (graph_.type(a) == graph_.type(b) && graph_.type(a).kind != ValueKind::array);
  }

  bool convert(BlockId b) {
    const Terminator& branch = block(b).terminator;
    if (branch.kind != TerminatorKind::branch || branch.targets[0] == branch.targets[1]) return false;
    BranchSide sides[] = {find_side(b, 0), find_side(b, 1)};
    if (sides[0].target != sides[1].target) return false;
    for (size_t k = 0; k < sides[0].arguments.size(); ++k)
      if (is_same_number(sides[0].arguments[k], sides[1].arguments[k])) sides[1].arguments[k] = sides[0].arguments[k];
    if (!can_join(sides)) return false;
    if (is_awaited(b, sides)) {
      block(b).terminator.is_guessed = true;
      return true;
    }
    ValueId condition = branch.operands[0];
    for (const BranchSide& each : sides)
      for (BlockId own : each.blocks) take_over(b, own);
    left_ -= count_removed_blocks(sides);
    for (int k = 0; k < 2; ++k)
      for (NodeId n : sides[k].stores) store_on_both(b, n, condition, k == 0);
    Terminator jump;
    jump.kind = TerminatorKind::jump;
    jump.targets[0] = sides[0].target;
    for (size_t k = 0; k < sides[0].arguments.size(); ++k)
      jump.target_arguments[0].push_back(choose(b, condition, sides[0].arguments[k], sides[1].arguments[k]));
    block(make_checks(b, condition, sides)).terminator = std::move(jump);
    before_ = predecessors(graph_);
    return true;
  }

  // At least two blocks have to remain: a graph with control flow stays one.
  bool can_join(const BranchSide (&sides)[2]) {
    if (is_among(sides[0].target, sides[0]) || is_among(sides[1].target, sides[1])) return false;
    return is_cheap(sides) && can_choose_arguments(sides) && left_ - count_removed_blocks(sides) >= 2;
  }

  static size_t count_removed_blocks(const BranchSide (&sides)[2]) {
    return sides[0].blocks.size() + sides[1].blocks.size() - sides[0].checks.size() - sides[1].checks.size();
  }

  static bool is_cheap(const BranchSide (&sides)[2]) {
    bool checks = !sides[0].checks.empty() || !sides[1].checks.empty();
    size_t moved = sides[0].moved + sides[1].moved, most = checks || moved > 0 ? most_computed : most_left_to_compiler;
    return sides[0].computed <= most && sides[1].computed <= most && moved <= most_moved;
  }

  bool can_choose_arguments(const BranchSide (&sides)[2]) const {
    const std::vector<ValueId>&then = sides[0].arguments, &otherwise = sides[1].arguments;
    std::vector<NodeId> stores = sides[0].stores;
    stores.insert(stores.end(), sides[1].stores.begin(), sides[1].stores.end());
    // A store of one side would come before a check of the other side, and only one side can give the later version of an
    // array.
    if (!stores.empty() && (!sides[0].checks.empty() || !sides[1].checks.empty())) return false;
    if (!sides[0].stores.empty() && !sides[1].stores.empty()) return false;
    size_t choices = 0;
    for (size_t k = 0; k < then.size(); ++k) {
      bool stored = is_last_version(then[k], otherwise[k], stores) || is_last_version(otherwise[k], then[k], stores);
      if (!stored && !can_choose(then[k], otherwise[k])) return false;
      choices += then[k] != otherwise[k] && !stored;
    }
    return choices <= most_choices;
  }

  // Whether a selected number is the address from which the next iteration loads its condition: a selection waits for that
  // load, a predicted branch does not.
  bool is_awaited(BlockId b, const BranchSide (&sides)[2]) {
    std::set<ValueId> addresses, reached;
    looked_at_.clear();
    find_addresses(block(b).terminator.operands[0], false, addresses);
    if (addresses.empty()) return false;
    const std::vector<ValueId>& params = block(sides[0].target).params;
    for (size_t k = 0; k < params.size(); ++k)
      if (sides[0].arguments[k] != sides[1].arguments[k]) hand_on(params[k], reached);
    return std::any_of(addresses.begin(), addresses.end(), [&](ValueId v) { return reached.contains(v); });
  }

  // Collects the parameters that addresses of loads depend on, for a value that is itself an address or not.
  void find_addresses(ValueId v, bool is_address, std::set<ValueId>& out) {
    if (graph_.is_input(v)) {
      if (is_address) out.insert(v);
      return;
    }
    if (!looked_at_.insert({v, is_address}).second) return;
    const Node& node = graph_.producer(v);
    bool is_array = graph_.type(v).kind == ValueKind::array;
    if (is_array && !is_view(node.op) && node.op != Op::take) return;
    if (is_array || node.op == Op::dim) find_addresses(node.attrs.dims, is_address || is_array, out);
    for (size_t k = 0; k < node.operands.size(); ++k)
      find_addresses(node.operands[k], is_address || (node.op == Op::take && k > 0), out);
  }

  void find_addresses(const std::vector<Dim>& dims, bool is_address, std::set<ValueId>& out) {
    for (Dim d : dims)
      for (int symbol : graph_.dims.symbols(d)) {
        auto bound = bindings_.find(symbol);
        if (bound != bindings_.end())
          find_addresses(graph_.nodes[static_cast<size_t>(bound->second.node)].operands[0], is_address, out);
      }
  }

  // Adds the parameters that a value is given to.
  void hand_on(ValueId v, std::set<ValueId>& reached) {
    if (!reached.insert(v).second) return;
    for (const Block& from : graph_.blocks)
      for (int k = 0; k < target_count(from.terminator); ++k) {
        const std::vector<ValueId>& given = from.terminator.target_arguments[k];
        for (size_t i = 0; i < given.size(); ++i)
          if (given[i] == v) hand_on(block(from.terminator.targets[k]).params[i], reached);
      }
  }

  // Whether v is the version of `base` after all of the stores, in their order.
  bool is_last_version(ValueId v, ValueId base, const std::vector<NodeId>& stores) const {
    if (stores.empty()) return false;
    for (auto n = stores.rbegin(); n != stores.rend(); ++n) {
      const Node& store = graph_.nodes[static_cast<size_t>(*n)];
      if (store.results[0] != v) return false;
      v = store.operands[0];
    }
    return v == base;
  }

  // Makes the store on both sides: the side without it stores the old value of the element.
  void store_on_both(BlockId b, NodeId store, ValueId condition, bool holds) {
    ValueId element = graph_.nodes[static_cast<size_t>(store)].operands[1];
    ValueId value = graph_.nodes[static_cast<size_t>(store)].operands[2];
    const Type type = graph_.type(value);
    std::vector<NodeId>& nodes = block(b).nodes;
    const auto count = static_cast<std::ptrdiff_t>(nodes.size());
    ValueId old = graph_.add_node(b, Op::astype, {element}, {}, {type});
    ValueId chosen = holds ? choose(b, condition, value, old) : choose(b, condition, old, value);
    graph_.nodes[static_cast<size_t>(store)].operands[2] = chosen;
    std::rotate(std::find(nodes.begin(), nodes.end(), store), nodes.begin() + count, nodes.end());
  }

  bool is_among(BlockId b, const BranchSide& side) const {
    return std::find(side.blocks.begin(), side.blocks.end(), b) != side.blocks.end();
  }

  // Makes the checks of both sides, each on the condition that its side is taken, in a chain of the blocks that the sides had.
  // Returns the last block.
  BlockId make_checks(BlockId b, ValueId condition, const BranchSide (&sides)[2]) {
    BlockId at = b;
    for (int k = 0; k < 2; ++k)
      for (size_t i = 0; i < sides[k].checks.size(); ++i) {
        const Check& check = sides[k].checks[i];
        ValueId is_side_taken = k == 0 ? condition : logical(b, Op::logical_not, {condition});
        ValueId fails = check.leaves_when ? check.condition : logical(b, Op::logical_not, {check.condition});
        BlockId next = sides[k].blocks[i];
        gone_[static_cast<size_t>(next)] = false;
        Terminator& t = block(at).terminator;
        t = Terminator{};
        t.kind = TerminatorKind::branch;
        t.operands = {logical(b, Op::logical_and, {is_side_taken, fails})};
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

  // Of two versions of an array, the later one.
  ValueId choose(BlockId b, ValueId condition, ValueId then, ValueId otherwise) {
    if (then == otherwise) return then;
    Type type = graph_.type(then);
    if (type.kind == ValueKind::array) return is_version_of(then, otherwise) ? then : otherwise;
    return graph_.add_node(b, Op::where, {condition, then, otherwise}, {}, {type});
  }

  bool is_version_of(ValueId v, ValueId base) const {
    while (v != base && !graph_.is_input(v) && graph_.producer(v).op == Op::store) v = graph_.producer(v).operands[0];
    return v == base;
  }

  Graph& graph_;
  Speculation speculation_;
  std::map<int, SymbolBinding> bindings_;
  std::set<std::pair<ValueId, bool>> looked_at_;
  std::vector<std::vector<BlockId>> before_;
  std::vector<bool> gone_;
  size_t left_;
};

}  // namespace

bool if_conversion(Graph& graph) { return graph.blocks.size() > 2 && IfConversion(graph).run(); }

}  // namespace accel
