#include "passes/analysis/invariants.h"

#include <algorithm>
#include <unordered_map>

#include "ir/analysis/above.h"
#include "ir/edit.h"

namespace accel {

namespace {

bool is_movable(const Node& node) {
  switch (op_class(node.op)) {
    case OpClass::update:
    case OpClass::boxed:
      return false;
    case OpClass::leaf:
      return node.op != Op::bind;
    default:
      return node.op != Op::lanes;  // whose elements are those of one loop over all that is done with them
  }
}

// Whether the node is defined only for operands or extents that an earlier check may have tested.
bool relies_on_checks(const Graph& graph, const Node& node) {
  switch (node.op) {
    case Op::slice:
    case Op::reshape:
    case Op::squeeze:
    case Op::broadcast_to:
    case Op::full:
    case Op::arange:
    case Op::take:
    case Op::argmax:
    case Op::argmin:
      return true;
    case Op::reduce:
      return op_info(node.attrs.ufunc).identity[0] == '\0' && initial_of(graph, node) == no_value;
    default:
      return false;
  }
}

class Finder {
 public:
  Finder(const Graph& graph, const Dominance& dominance, const NaturalLoop& loop)
      : graph_(graph), dominance_(dominance), loop_(loop), bindings_(bound_symbols(graph)) {}

  Invariants run() {
    for (const Block& block : graph_.blocks)
      for (NodeId n : block.nodes) note_given_away(node(n));
    for (BlockId b = 0; b < static_cast<BlockId>(graph_.blocks.size()); ++b)
      if (b != loop_.header && dominance_.dominates(b, loop_.header)) note_computed(b);
    for (BlockId b : always_run()) {
      const Block& block = graph_.blocks[static_cast<size_t>(b)];
      for (NodeId n : block.nodes) visit(n);
      const Terminator& t = block.terminator;
      is_after_branch_ |= t.kind == TerminatorKind::branch;
      is_after_check_ |= t.kind == TerminatorKind::branch && may_check(t.operands[0]);
    }
    return std::move(out_);
  }

 private:
  const Node& node(NodeId n) const { return graph_.nodes[static_cast<size_t>(n)]; }
  bool is_inside(BlockId b) const { return loop_.blocks.contains(b); }

  void note_computed(BlockId b) {
    for (NodeId n : graph_.blocks[static_cast<size_t>(b)].nodes)
      if (is_movable(node(n)) && node(n).op != Op::copy && !is_given_away(node(n)))
        before_.emplace(computation_hash(node(n)), n);
  }

  // Whether the memory of a result changes hands: something is stored to it, or the caller gets it.
  bool is_given_away(const Node& own) const {
    return op_class(own.op) != OpClass::view &&
           std::any_of(own.results.begin(), own.results.end(), [&](ValueId v) { return given_away_.contains(v); });
  }

  void note_given_away(const Node& own) {
    size_t count = op_class(own.op) == OpClass::boxed ? own.operands.size() : op_class(own.op) == OpClass::update ? 1 : 0;
    for (size_t k = 0; k < count; ++k) {
      ValueId v = own.operands[k];
      while (!graph_.is_input(v) && op_class(graph_.producer(v).op) == OpClass::view) v = graph_.producer(v).operands[0];
      given_away_.insert(v);
    }
  }

  // The blocks that each full iteration passes, the first one first.
  std::vector<BlockId> always_run() const {
    std::vector<BlockId> out;
    for (BlockId b : loop_.blocks)
      if (std::all_of(loop_.latches.begin(), loop_.latches.end(), [&](BlockId l) { return dominance_.dominates(b, l); }))
        out.push_back(b);
    std::sort(out.begin(), out.end(), [&](BlockId a, BlockId b) { return a != b && dominance_.dominates(a, b); });
    return out;
  }

  bool is_fixed(ValueId v) const {
    const Value& value = graph_.values[static_cast<size_t>(v)];
    return !is_inside(value.block) || (value.producer >= 0 && out_.set.contains(value.producer));
  }

  bool is_fixed(Dim d) const {
    std::vector<int> symbols = graph_.dims.symbols(d);
    return std::none_of(symbols.begin(), symbols.end(), [&](int symbol) {
      auto found = bindings_.find(symbol);
      return found != bindings_.end() && is_inside(found->second.block);
    });
  }

  bool are_fixed(const std::vector<Dim>& dims) const {
    return std::all_of(dims.begin(), dims.end(), [&](Dim d) { return is_fixed(d); });
  }

  // Whether a branch on v may imply facts about values outside the loop.
  bool may_check(ValueId v) const {
    return is_above(graph_, v, [&](ValueId above) {
      if (above != v && graph_.type(above).dtype != DType::bool_) return Above::nothing;
      if (is_fixed(above)) return Above::found;
      return graph_.is_input(above) ? Above::nothing : Above::operands;
    });
  }

  bool is_bound(Dim d) const {
    std::vector<int> symbols = graph_.dims.symbols(d);
    return std::any_of(symbols.begin(), symbols.end(), [&](int symbol) { return bindings_.contains(symbol); });
  }

  // Whether the node is surely defined before the loop, too. What is known of numbers that the graph computes may follow from
  // any branch (that i < n from i < j and j < n); what is known of the entry's, from those that say it, and from guards.
  bool is_safe(const Node& own) const {
    if (!relies_on_checks(graph_, own) || !is_after_branch_) return true;
    if (is_after_check_) return false;
    auto entry = [&](const std::vector<Dim>& dims) {
      return std::none_of(dims.begin(), dims.end(), [&](Dim d) { return is_bound(d); });
    };
    auto of_entry = [&](ValueId v) { return entry(graph_.type(v).shape); };
    return entry(own.attrs.dims) && entry(own.attrs.steps) && std::all_of(own.operands.begin(), own.operands.end(), of_entry) &&
           std::all_of(own.results.begin(), own.results.end(), of_entry);
  }

  void visit(NodeId n) {
    const Node& own = node(n);
    bool fixed = is_movable(own) && (node_events(graph_, own) & (graph_.records_events ? -1 : event_error)) == 0 &&
                 are_fixed(own.attrs.dims) && are_fixed(own.attrs.steps);
    for (ValueId v : own.operands) fixed = fixed && is_fixed(v);
    for (ValueId v : own.results) fixed = fixed && are_fixed(graph_.type(v).shape);
    if (!fixed) return;
    bool is_computed = find_computed(own);
    if (!is_computed && !is_safe(own)) return;
    out_.nodes.push_back(n);
    out_.set.insert(n);
  }

  bool find_computed(const Node& own) {
    Node wanted = own;
    for (ValueId& v : wanted.operands)
      if (auto found = out_.computed.find(v); found != out_.computed.end()) v = found->second;
    auto [begin, end] = before_.equal_range(computation_hash(wanted));
    auto same =
        std::find_if(begin, end, [&](const auto& entry) { return same_computation(graph_, node(entry.second), wanted); });
    if (same == end) return false;
    for (size_t k = 0; k < own.results.size(); ++k) out_.computed[own.results[k]] = node(same->second).results[k];
    return true;
  }

  const Graph& graph_;
  const Dominance& dominance_;
  const NaturalLoop& loop_;
  std::map<int, SymbolBinding> bindings_;
  std::unordered_multimap<size_t, NodeId> before_;  // what blocks before the loop compute
  std::set<ValueId> given_away_;
  bool is_after_branch_ = false, is_after_check_ = false;
  Invariants out_;
};

}  // namespace

Invariants find_invariants(const Graph& graph, const Dominance& dominance, const NaturalLoop& loop) {
  return Finder(graph, dominance, loop).run();
}

}  // namespace accel
