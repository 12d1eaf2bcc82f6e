// Computes before a loop what each of its iterations computes again (invariants.h), where that is worth memory: reductions and
// calls of libraries; what lies in memory anyway; and what costs more to compute than to read. The rest stays where loops
// compute it together with what uses it.

#include <algorithm>
#include <optional>

#include "ir/edit.h"
#include "passes/analysis/element_cost.h"
#include "passes/analysis/invariants.h"
#include "passes/passes.h"

namespace accel {

namespace {

// Cost of reading a byte, in element operations: memory is slow, and little work does not hide that.
constexpr int byte_cost = 4;

class Hoisting {
 public:
  explicit Hoisting(Graph& graph) : graph_(graph) { note_memory(); }

  bool run() {
    bool changed = false;
    std::set<BlockId> done;
    Dominance dominance(graph_);
    std::vector<NaturalLoop> loops = natural_loops(graph_, dominance);
    while (true) {
      auto inner = std::find_if(loops.rbegin(), loops.rend(), [&](const NaturalLoop& l) { return !done.contains(l.header); });
      if (inner == loops.rend()) return changed;
      done.insert(inner->header);
      if (!hoist_from(NaturalLoop(*inner), dominance)) continue;
      changed = true;
      dominance = Dominance(graph_);
      loops = natural_loops(graph_, dominance);
    }
  }

 private:
  using Nodes = std::set<NodeId>;

  const Node& node(NodeId n) const { return graph_.nodes[static_cast<size_t>(n)]; }
  Block& block(BlockId b) { return graph_.blocks[static_cast<size_t>(b)]; }
  const Type& type(ValueId v) const { return graph_.type(v); }
  BlockId home(NodeId n) const { return graph_.values[static_cast<size_t>(node(n).results[0])].block; }
  bool is_array(ValueId v) const { return type(v).rank() > 0; }
  bool is_view(NodeId n) const { return op_class(node(n).op) == OpClass::view; }

  // --- users of values --------------------------------------------------------------------------------------------------

  void find_users() {
    before_ = predecessors(graph_);
    users_.assign(graph_.values.size(), {});
    handed_on_.assign(graph_.values.size(), false);
    for (const Block& each : graph_.blocks) {
      for (NodeId n : each.nodes)
        for (ValueId v : node(n).operands) users_[static_cast<size_t>(v)].push_back(n);
      const Terminator& t = each.terminator;
      for (const auto* list : {&t.operands, &t.target_arguments[0], &t.target_arguments[1]})
        for (ValueId v : *list) handed_on_[static_cast<size_t>(v)] = true;
    }
  }
  const std::vector<NodeId>& users(ValueId v) const { return users_[static_cast<size_t>(v)]; }

  // Whether these nodes alone use what n computes.
  bool is_only_for(NodeId n, const Nodes& nodes) const {
    bool used = false;
    for (ValueId v : node(n).results) {
      if (handed_on_[static_cast<size_t>(v)]) return false;
      used = used || !users(v).empty();
      if (!std::all_of(users(v).begin(), users(v).end(), [&](NodeId user) { return nodes.contains(user); })) return false;
    }
    return used;
  }

  // Whether something for which `is` holds uses v, perhaps through views.
  template <class Is>
  bool has_user(ValueId v, Is is) const {
    return std::any_of(users(v).begin(), users(v).end(), [&](NodeId n) {
      return is(node(n), v) || (is_view(n) && is_array(node(n).results[0]) && has_user(node(n).results[0], is));
    });
  }

  // --- what is in memory ----------------------------------------------------------------------------------------------

  void note_memory() {
    auto note = [&](ValueId v) {
      if (is_array(v)) in_memory_.push_back(type(v).shape);
    };
    for (const Block& each : graph_.blocks) {
      for (ValueId v : each.params) note(v);
      for (NodeId n : each.nodes)
        if (op_class(node(n).op) == OpClass::update || op_class(node(n).op) == OpClass::gufunc) note(node(n).results[0]);
    }
  }

  // Whether an array of shape `small` is known to have no more elements than one of shape `large`.
  bool fits(const std::vector<Dim>& small, std::vector<Dim> large) const {
    DimTable& dims = graph_.dims;
    for (Dim d : small) {
      if (dims.is_constant(d, 1)) continue;
      auto at = std::find_if(large.begin(), large.end(),
                             [&](Dim other) { return dims.as_constant(dims.sub(other, d)).value_or(-1) >= 0; });
      if (at == large.end()) return false;
      large.erase(at);
    }
    return true;
  }

  bool fits_memory(const std::vector<Dim>& shape) const {
    return std::all_of(shape.begin(), shape.end(), [&](Dim d) { return graph_.dims.as_constant(d).has_value(); }) ||
           std::any_of(in_memory_.begin(), in_memory_.end(), [&](const auto& other) { return fits(shape, other); });
  }

  // The first block of the chain of guards before b: each block of the chain branches to the next one or to an exit. Values
  // move past such branches (sink.cpp).
  BlockId before_guards(BlockId b) const {
    while (before_[static_cast<size_t>(b)].size() == 1) {
      BlockId from = before_[static_cast<size_t>(b)][0];
      const Terminator& t = graph_.blocks[static_cast<size_t>(from)].terminator;
      if (t.kind != TerminatorKind::branch || !leaves(t.targets[t.targets[0] == b ? 1 : 0])) break;
      b = from;
    }
    return b;
  }
  bool leaves(BlockId b) const { return graph_.blocks[static_cast<size_t>(b)].terminator.kind == TerminatorKind::leave; }

  // Whether v needs memory also inside of the loop: not only loops over its elements read it.
  bool needs_memory(ValueId v) const {
    BlockId own = before_guards(graph_.values[static_cast<size_t>(v)].block);
    return has_user(v, [&](const Node& user, ValueId used) {
      OpClass kind = op_class(user.op);
      BlockId user_block = graph_.values[static_cast<size_t>(user.results[0])].block;
      bool elsewhere = kind != OpClass::view && !leaves(user_block) && before_guards(user_block) != own;
      return elsewhere || kind == OpClass::gufunc || kind == OpClass::scan || user.op == Op::slice || user.op == Op::put ||
             user.op == Op::update_at || (kind == OpClass::gather && user.operands[0] == used);
    });
  }

  // Whether v is stored to, or passed to code that may retain it: then each iteration needs an object of its own.
  bool is_given_away(ValueId v) const {
    return has_user(v, [&](const Node& user, ValueId used) {
      return op_class(user.op) == OpClass::boxed || (op_class(user.op) == OpClass::update && user.operands[0] == used);
    });
  }

  // --- what is worth it -----------------------------------------------------------------------------------------------

  // Whether the node needs a loop of its own: it cannot be fused into the loop of its user.
  bool is_separate(const Node& n) const {
    OpClass kind = op_class(n.op);
    return kind == OpClass::gufunc || kind == OpClass::scan || kind == OpClass::join ||
           (kind == OpClass::reduction && is_array(n.operands[0]));
  }

  bool is_worth_it(NodeId id, const Invariants& invariants) const {
    const Node& n = node(id);
    ValueId v = n.results[0];
    if (op_class(n.op) == OpClass::view || op_class(n.op) == OpClass::leaf) return false;
    for (ValueId each : n.results)
      if (is_given_away(each)) return false;
    if (!is_array(v)) return is_separate(n) || element_cost(graph_, n) >= library_cost;
    if (std::any_of(n.results.begin(), n.results.end(), [&](ValueId each) { return needs_memory(each); })) return true;
    if (!fits_memory(type(v).shape)) return false;
    return is_separate(n) || saves_work(id, invariants);
  }

  // Whether reading the result costs less than computing its elements from arrays that nothing else in the loop reads.
  bool saves_work(NodeId id, const Invariants& invariants) const {
    ValueId v = node(id).results[0];
    Nodes own = computed_for(id, invariants);
    int work = 0, bytes = static_cast<int>(item_size(type(v).dtype));
    std::set<ValueId> read;
    for (NodeId n : own) {
      if (fits(type(v).shape, type(node(n).results[0]).shape)) work += element_cost(graph_, node(n));
      for (ValueId operand : node(n).operands)
        if (graph_.is_input(operand) || !own.contains(graph_.values[static_cast<size_t>(operand)].producer))
          read.insert(base_of(operand));
    }
    for (ValueId base : read)
      if (is_read_only_by(base, own, invariants) && fits(type(v).shape, type(base).shape))
        bytes -= static_cast<int>(item_size(type(base).dtype));
    return work >= (bytes < 0 ? 1 : bytes == 0 ? division_cost : bytes * byte_cost);
  }

  // The node and what is computed for it alone, element by element.
  Nodes computed_for(NodeId id, const Invariants& invariants) const {
    Nodes out{id};
    for (auto it = invariants.nodes.rbegin(); it != invariants.nodes.rend(); ++it)
      if (!is_separate(node(*it)) && is_only_for(*it, out)) out.insert(*it);
    return out;
  }

  ValueId base_of(ValueId v) const {
    while (!graph_.is_input(v) && op_class(graph_.producer(v).op) == OpClass::view) v = graph_.producer(v).operands[0];
    return v;
  }

  bool is_read_only_by(ValueId v, const Nodes& nodes, const Invariants& invariants) const {
    bool memory = is_array(v) && (graph_.is_input(v) || op_class(graph_.producer(v).op) != OpClass::leaf);
    return memory && std::all_of(users(v).begin(), users(v).end(), [&](NodeId n) {
             if (nodes.contains(n) || moved_.contains(n) || !loop_->blocks.contains(home(n))) return true;
             return is_view(n) && is_array(node(n).results[0]) && is_read_only_by(node(n).results[0], nodes, invariants);
           });
  }

  // --- the move -------------------------------------------------------------------------------------------------------

  bool hoist_from(const NaturalLoop& loop, const Dominance& dominance) {
    Invariants invariants = find_invariants(graph_, dominance, loop);
    if (invariants.nodes.empty()) return false;
    loop_ = &loop;
    find_users();
    moved_.clear();
    for (bool again = true; again;) {  // what moves no longer reads in the loop
      size_t before = moved_.size();
      for (auto it = invariants.nodes.rbegin(); it != invariants.nodes.rend(); ++it)
        if (!moved_.contains(*it) && (is_only_for(*it, moved_) || is_worth_it(*it, invariants))) moved_.insert(*it);
      again = moved_.size() != before;
    }
    if (moved_.empty()) return false;
    std::optional<BlockId> before = block_before(loop);
    if (!before) return false;
    move(invariants, *before);
    return true;
  }

  // What moves needs these too; they stay for what else uses them.
  Nodes copied(const Invariants& invariants) const {
    Nodes needed;
    for (auto it = invariants.nodes.rbegin(); it != invariants.nodes.rend(); ++it) {
      if (!moved_.contains(*it) && !needed.contains(*it)) continue;
      if (invariants.computed.contains(node(*it).results[0])) continue;
      for (ValueId v : node(*it).operands) {
        NodeId producer = graph_.values[static_cast<size_t>(v)].producer;
        if (invariants.set.contains(producer) && !moved_.contains(producer)) needed.insert(producer);
      }
    }
    return needed;
  }

  void move(const Invariants& invariants, BlockId to) {
    Nodes needed = copied(invariants);
    std::vector<NodeId> placed;
    std::map<ValueId, ValueId> instead;  // of what the loop computes, before it
    std::vector<ValueId> replacement = no_replacement(graph_);
    for (NodeId n : invariants.nodes) {
      bool moves = moved_.contains(n);
      if (!moves && !needed.contains(n)) continue;
      if (moves) std::erase(block(home(n)).nodes, n);
      std::vector<ValueId> results = results_before(n, invariants, placed, instead);
      if (results.empty()) {
        if (moves)
          relocate(n, to, instead);
        else
          results = copy_of(n, to, instead);
        placed.push_back(block(to).nodes.back());
      }
      for (size_t k = 0; k < results.size(); ++k) {
        instead[node(n).results[k]] = results[k];
        if (moves) replacement[static_cast<size_t>(node(n).results[k])] = results[k];
      }
    }
    for (ValueId v = static_cast<ValueId>(replacement.size()); v < static_cast<ValueId>(graph_.values.size()); ++v)
      replacement.push_back(v);
    replace_uses(graph_, replacement);
  }

  // What a block before the loop, or one of the nodes that have moved, computes as n does; nothing when there is none.
  std::vector<ValueId> results_before(NodeId n, const Invariants& invariants, const std::vector<NodeId>& placed,
                                      const std::map<ValueId, ValueId>& instead) const {
    std::vector<ValueId> out;
    for (ValueId v : node(n).results)
      if (auto found = invariants.computed.find(v); found != invariants.computed.end()) out.push_back(found->second);
    if (!out.empty() || node(n).op == Op::copy) return out;
    Node wanted = node(n);
    rename(wanted.operands, instead);
    auto same =
        std::find_if(placed.begin(), placed.end(), [&](NodeId other) { return same_computation(graph_, node(other), wanted); });
    return same == placed.end() ? out : node(*same).results;
  }

  static void rename(std::vector<ValueId>& values, const std::map<ValueId, ValueId>& instead) {
    for (ValueId& v : values)
      if (auto found = instead.find(v); found != instead.end()) v = found->second;
  }

  void relocate(NodeId n, BlockId to, const std::map<ValueId, ValueId>& instead) {
    rename(graph_.nodes[static_cast<size_t>(n)].operands, instead);
    block(to).nodes.push_back(n);
    for (ValueId v : node(n).results) graph_.values[static_cast<size_t>(v)].block = to;
  }

  std::vector<ValueId> copy_of(NodeId n, BlockId to, const std::map<ValueId, ValueId>& instead) {
    Node made = node(n);
    rename(made.operands, instead);
    std::vector<Type> types;
    for (ValueId v : made.results) types.push_back(type(v));
    graph_.add_node(to, made.op, made.operands, made.attrs, std::move(types), made.where);
    return graph_.nodes.back().results;
  }

  // The preheader of the loop, made where there is none. Nullopt where extents of the header's parameters are symbols that the
  // header binds.
  std::optional<BlockId> block_before(const NaturalLoop& loop) {
    std::vector<GraphEdge> edges;
    for (BlockId b = 0; b < static_cast<BlockId>(graph_.blocks.size()); ++b)
      for (int k = 0; k < target_count(block(b).terminator); ++k)
        if (block(b).terminator.targets[k] == loop.header && !loop.blocks.contains(b)) edges.push_back({b, k});
    if (edges.empty()) return std::nullopt;
    if (edges.size() == 1 && block(edges[0].from).terminator.kind == TerminatorKind::jump) return edges[0].from;
    if (edges.size() > 1 && names_extents(loop.header)) return std::nullopt;
    return edges.size() == 1 ? split_edge(graph_, edges[0]) : join_edges(graph_, edges);
  }

  // Whether a block binds symbols that the shapes of its parameters have.
  bool names_extents(BlockId b) const {
    std::map<int, SymbolBinding> bindings = bound_symbols(graph_);
    for (ValueId v : graph_.blocks[static_cast<size_t>(b)].params)
      for (Dim d : type(v).shape)
        for (int symbol : graph_.dims.symbols(d))
          if (auto found = bindings.find(symbol); found != bindings.end() && found->second.block == b) return true;
    return false;
  }

  Graph& graph_;
  std::vector<std::vector<Dim>> in_memory_;  // shapes
  const NaturalLoop* loop_ = nullptr;
  Nodes moved_;
  std::vector<std::vector<BlockId>> before_;
  std::vector<std::vector<NodeId>> users_;
  std::vector<bool> handed_on_;
};

}  // namespace

bool hoist(Graph& graph) { return graph.blocks.size() > 1 && Hoisting(graph).run(); }

}  // namespace accel
