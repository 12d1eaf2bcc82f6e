#include "schedule/memory/materialisation.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "ir/analysis/reduction_plan.h"
#include "schedule/analysis/coalesce.h"
#include "schedule/analysis/index_maps.h"
#include "schedule/analysis/loop_calls.h"
#include "schedule/memory/fusion_groups.h"
#include "schedule/memory/placement_draft.h"
#include "schedule/memory/required_memory.h"

namespace accel {

namespace {

constexpr int expensive_cost = 16;
constexpr int64_t most_unrolled = 16;

// One use of a value in the computation of a root: the index it is needed at, and the enclosing loops.
struct Visit {
  Index index;
  std::vector<Dim> stack;
  int group;
  ValueId nest;   // the first root of the nest that computes it
  ValueId piece;  // the tiled value or library call whose loop over the tile computes it; no_value: the nest's own loop
};

// Walks the inline computation of every root, as lowering will, and starts again whenever a value is moved into memory.
class Walk {
 public:
  Walk(const Graph& graph, std::vector<std::string>& notes)
      : draft_(graph, notes), graph_(graph), placement_(draft_.placement), dims_(draft_.placement.dims) {}

  Result<Placement> run(const std::set<ValueId>& forced) {
    ACCEL_TRY([[maybe_unused]] Unit planned, plan_reductions());
    place_required(draft_, forced);
    for (int count = 0; pass(); ++count)
      if (count > 4 * static_cast<int>(graph_.values.size()) + 16)
        return fail(Reason::internal_error, "placement does not settle");
    return std::move(draft_.placement);
  }

 private:
  Status plan_reductions() {
    for (NodeId n : graph_.entry().nodes) {
      if (graph_.nodes[n].op != Op::reduce) continue;
      ReductionPlan plan = reduction_plan(dims_, graph_, graph_.nodes[n]);
      if (!plan.known)
        return fail(Reason::unsupported_call, "a sum whose order of additions depends on whether a reshape copies");
      placement_.plans.emplace(n, std::move(plan));
    }
    return Unit{};
  }

  // One walk over all roots; false when no more value needs memory.
  bool pass() {
    visits_.clear();
    groups_.clear();
    find_roots();
    for (ValueId v : placement_.roots)
      if (!walk_root(v)) return true;
    return place_repeated();
  }

  void find_roots() {
    placement_.roots.clear();
    for (NodeId n : graph_.entry().nodes)
      for (ValueId v : graph_.nodes[n].results)
        if (placement_.places[v] == Place::root) placement_.roots.push_back(v);
    nest_of_.clear();
    for (const std::vector<ValueId>& group : group_roots(graph_, placement_))
      for (ValueId v : group) nest_of_[v] = group[0];
  }

  bool walk_root(ValueId v) {
    const Node& node = graph_.producer(v);
    nest_ = nest_of_.at(v);
    piece_ = no_value;
    in_no_loop_ = false;
    if (op_class(node.op) == OpClass::gufunc || op_class(node.op) == OpClass::scan) return true;
    if (node.op == Op::put || node.op == Op::update_at || node.op == Op::drop_row) return true;
    if (node.op == Op::add_row) return placement_.places[node.operands[1]] == Place::root || walk_over(node.operands[1]);
    if (node.op == Op::store) return placement_.places[node.operands[2]] == Place::root || walk_over(node.operands[2]);
    if (op_class(node.op) == OpClass::join) {
      for (ValueId operand : node.operands)
        if (!walk_over(under_new_axes(graph_, placement_.places, operand))) return false;
      return true;
    }
    return walk_over(v);
  }

  // Visits the computation of v inside loops over its shape. Roots of equal shape and order share loop variables.
  bool walk_over(ValueId v) {
    const Type& type = graph_.type(v);
    in_no_loop_ = in_no_loop_ || has_no_elements(type);
    std::vector<int32_t> key;
    for (Dim d : type.shape) key.push_back(d.id);
    for (uint8_t axis : type.axis_order()) key.push_back(axis);
    auto [it, is_new] = groups_.try_emplace(key);
    if (is_new) {
      it->second.id = static_cast<int>(groups_.size());
      for (int k = 0; k < type.rank(); ++k) it->second.vars.push_back(dims_.new_variable());
    }
    group_ = it->second.id;
    std::vector<Dim> stack;
    for (uint8_t axis : type.axis_order()) stack.push_back(it->second.vars[axis]);
    return walk_producer(v, it->second.vars, stack);
  }

  bool has_no_elements(const Type& type) const {
    return std::any_of(type.shape.begin(), type.shape.end(), [&](Dim extent) { return dims_.is_constant(extent, 0); });
  }

  // False when a value was placed, so that the walk must start again.
  bool visit(ValueId v, const Index& index, const std::vector<Dim>& stack) {
    if (graph_.is_input(v) || placement_.places[v] == Place::root) return true;
    if (in_no_loop_ && !has_no_elements(graph_.type(v)) && node_events(graph_, graph_.producer(v)) != 0) {
      draft_.make_root(v, "its events happen although what it is needed for has no elements");
      return false;
    }
    for (const Visit& seen : visits_[v])
      if (seen.index == index) return !place_recomputed(v, seen);
    if (is_repeated_outside(v, index, stack)) {
      draft_.make_root(v, "costly and the same in each iteration of an outer loop");
      return false;
    }
    visits_[v].push_back({index, stack, group_, nest_, piece_});
    const ValueId piece = piece_;
    if (placement_.is_tiled(v) || is_loop_call(graph_, graph_.producer(v))) piece_ = v;
    const bool settled = walk_producer(v, index, stack);
    piece_ = piece;
    return settled;
  }

  // Whether a costly value would be recomputed in a loop that it does not depend on, outside of one that it does depend on.
  bool is_repeated_outside(ValueId v, const Index& index, const std::vector<Dim>& stack) const {
    if (placement_.places[v] != Place::inlined || graph_.type(v).rank() == 0) return false;
    if (op_class(graph_.producer(v).op) != OpClass::pointwise || draft_.cost(v, 64) < expensive_cost) return false;
    const std::set<int32_t> used = variables_of(index);
    auto is_used = [&](Dim d) { return used.contains(*dims_.as_symbol(d)); };
    const auto unused = std::find_if_not(stack.begin(), stack.end(), is_used);
    return std::any_of(unused, stack.end(), is_used);
  }

  // Places a costly value that several nests need, or several loops over the tiles of one nest; its operands are then cheaper.
  // Returns whether it did.
  bool place_recomputed(ValueId v, const Visit& seen) {
    if (op_class(graph_.producer(v).op) != OpClass::pointwise) return false;
    const bool same_nest = seen.nest == nest_;
    if (same_nest && (seen.piece == piece_ || placement_.is_tiled(v) || graph_.type(v).rank() == 0)) return false;
    if (draft_.cost(v, 64, same_nest) < expensive_cost) return false;
    if (same_nest)
      placement_.tiled.insert(v);
    else
      draft_.make_root(v, "costly and needed by several loops");
    return true;
  }

  bool walk_producer(ValueId v, const Index& index, const std::vector<Dim>& stack) {
    if (graph_.is_input(v)) return true;
    const Node& node = graph_.producer(v);
    switch (op_class(node.op)) {
      case OpClass::view:
        return visit(node.operands[0], map_view_index(dims_, graph_, node, index), stack);
      case OpClass::reduction:
        return walk_reduction(v, node, index, stack);
      case OpClass::gather:
        for (size_t k = 1; k < node.operands.size(); ++k) {
          auto rank = graph_.type(node.operands[k]).rank();
          if (!visit(node.operands[k], Index(index.begin(), index.begin() + rank), stack)) return false;
        }
        return true;
      case OpClass::leaf:
        for (ValueId operand : node.operands)
          if (!visit(operand, {}, stack)) return false;
        return true;
      default:
        for (ValueId operand : node.operands)
          if (!visit(operand, graph_.type(operand).rank() == 0 ? Index{} : index, stack)) return false;
        return true;
    }
  }

  std::set<int32_t> variables_of(const Index& index) const {
    std::set<int32_t> found;
    for (Dim d : index)
      for (int symbol : dims_.symbols(d))
        if (DimTable::is_variable(symbol)) found.insert(symbol);
    return found;
  }

  // The number of loops that `index` depends on, when these are the outermost ones of `stack`; -1 otherwise.
  int prefix_length(const Index& index, const std::vector<Dim>& stack) const {
    std::set<int32_t> used = variables_of(index);
    for (size_t k = 0; k < used.size(); ++k)
      if (k >= stack.size() || !used.count(*dims_.as_symbol(stack[k]))) return -1;
    return static_cast<int>(used.size());
  }

  bool walk_reduction(ValueId v, const Node& node, const Index& index, const std::vector<Dim>& stack) {
    int level = prefix_length(index, stack);
    if (level < 0 || (level == 0 && !stack.empty())) {
      draft_.make_root(v, "a reduction needed by other loops than its own");
      return false;
    }
    // Inside a reduction of columns the loops are rows, then columns of a tile, so another reduction cannot be hoisted between
    // them.
    if (level < static_cast<int>(stack.size()) && is_within_columns(stack)) {
      draft_.make_root(v, "a reduction that is the same for all columns of another one");
      return false;
    }
    ValueId operand = node.operands[0], initial = initial_of(graph_, node), mask = mask_of(graph_, node);
    if (initial != no_value && !visit(initial, {}, stack)) return false;
    bool columns = node.op == Op::reduce && plan_of(v).run_axes.empty() && level > 0;
    Index inner_index;
    std::vector<Dim> reduced;
    size_t next = 0;
    for (int k = 0; k < graph_.type(operand).rank(); ++k) {
      bool is_reduced = std::find(node.attrs.axes.begin(), node.attrs.axes.end(), k) != node.attrs.axes.end();
      if (is_reduced) reduced.push_back(dims_.new_variable());
      inner_index.push_back(is_reduced ? reduced.back() : index[next++]);
    }
    if (columns)
      for (Dim d : reduced) rows_of_columns_.insert(*dims_.as_symbol(d));
    if (columns && folded_.contains(*dims_.as_symbol(stack[static_cast<size_t>(level) - 1])) && !is_small(node)) {
      draft_.make_root(v, "columns that another reduction goes over");
      return false;
    }
    if (graph_.records_events &&
        (!place_apart(operand, inner_index, level) || (mask != no_value && !place_apart(mask, inner_index, level))))
      return false;
    for (Dim d : reduced) folded_.insert(*dims_.as_symbol(d));
    std::vector<Dim> inner_stack(stack.begin(), stack.begin() + level);
    inner_stack.insert(columns ? inner_stack.end() - 1 : inner_stack.end(), reduced.begin(), reduced.end());
    if (!columns && !check_run(v, operand, inner_index, level)) return false;
    if (!columns && mask != no_value && !check_masked(v, operand, mask, inner_index, level)) return false;
    const bool outside = std::exchange(in_no_loop_, in_no_loop_ || has_no_elements(graph_.type(operand)));
    const bool settled =
        (mask == no_value || visit(mask, inner_index, inner_stack)) && visit(operand, inner_index, inner_stack);
    in_no_loop_ = outside;
    return settled;
  }

  // Places an operand with events, or stray flags, before the reduction, so that it is known which of both had an event. False
  // when it was placed.
  bool place_apart(ValueId operand, const Index& index, int level) {
    ValueId below = draft_.computed_below(operand);
    if (!draft_.may_have_events(below) && !draft_.may_touch_flags(below)) return true;
    draft_.place(below, level, index, "events apart from those of the reduction");
    return false;
  }

  // Whether a reduction has so few elements that the compiler unrolls its loop.
  bool is_small(const Node& reduction) const {
    int64_t count = 1;
    for (int axis : reduction.attrs.axes) {
      auto extent = dims_.as_constant(graph_.type(reduction.operands[0]).shape[static_cast<size_t>(axis)]);
      if (!extent || *extent > most_unrolled) return false;
      count *= *extent;
    }
    return count <= most_unrolled;
  }

  bool is_within_columns(const std::vector<Dim>& stack) const {
    return std::any_of(stack.begin(), stack.end(), [&](Dim d) { return rows_of_columns_.contains(*dims_.as_symbol(d)); });
  }

  // Places a masked pairwise sum's operand in memory when it may have events: NumPy computes all elements, also unselected
  // ones, which the sum does not read.
  bool check_masked(ValueId reduced, ValueId operand, ValueId mask, const Index& index, int level) {
    bool runs = plan_of(reduced).pairwise && !plan_of(reduced).run_axes.empty();
    ValueId below = draft_.computed_below(operand);
    if (runs && draft_.may_have_events(below)) {
      draft_.place(below, level, index, "summed under a mask");
      return false;
    }
    return check_run(reduced, mask, index, level);
  }

  // Checks that a run can be computed element by element: without library calls, and over axes that coalesce. False when the
  // operand was placed instead.
  bool check_run(ValueId reduced, ValueId operand, const Index& index, int level) {
    ValueId below = draft_.computed_below(operand);
    if (located_base(graph_, placement_.places, operand) == no_value && calls_loops(graph_, placement_.places, below)) {
      draft_.place(below, level, index, "summed after a library loop");
      return false;
    }
    if (graph_.producer(reduced).op != Op::reduce) return true;
    const ReductionPlan& plan = plan_of(reduced);
    bool in_order = plan.run_axes.size() < 2 || placement_.places[operand] == Place::row ||
                    coalesces(dims_, graph_, placement_.places, operand, plan.run_axes);
    if (in_order || graph_.is_input(operand)) return true;
    draft_.place(operand, level, index, "summed over axes that do not coalesce");
    return false;
  }

  // Places a costly value that is needed at several indices, consumers first; false when there is none.
  bool place_repeated() {
    for (ValueId v = static_cast<ValueId>(graph_.values.size()); v-- > 0;) {
      auto it = visits_.find(v);
      if (it == visits_.end() || it->second.size() < 2 || placement_.places[v] != Place::inlined) continue;
      OpClass kind = op_class(graph_.producer(v).op);
      if (kind != OpClass::pointwise || draft_.cost(v, 64) < expensive_cost) continue;
      place_shared(v, it->second);
      return true;
    }
    return false;
  }

  void place_shared(ValueId v, const std::vector<Visit>& visits) {
    Index fixed;
    bool one_group = true;
    for (size_t k = 0; k < visits[0].index.size(); ++k) {
      bool same = std::all_of(visits.begin(), visits.end(), [&](const Visit& o) { return o.index[k] == visits[0].index[k]; });
      if (same) fixed.push_back(visits[0].index[k]);
    }
    int level = -1;
    for (const Visit& visit : visits) {
      one_group = one_group && visit.group == visits[0].group;
      int own = prefix_length(fixed, visit.stack);
      level = &visit == &visits[0] || own == level ? own : -1;
      if (level < 0) break;
    }
    draft_.place(v, one_group && level > 0 ? level : 0, visits[0].index, "costly and needed more than once");
  }

  struct Group {
    int id = 0;
    std::vector<Dim> vars;
  };

  const ReductionPlan& plan_of(ValueId v) const { return placement_.plans.at(graph_.values[v].producer); }

  PlacementDraft draft_;
  const Graph& graph_;
  Placement& placement_;
  DimTable& dims_;
  std::map<std::vector<int32_t>, Group> groups_;
  std::map<ValueId, std::vector<Visit>> visits_;
  std::set<int> rows_of_columns_;       // variables of column reductions, which go row by row
  std::set<int> folded_;                // variables of all reductions
  std::map<ValueId, ValueId> nest_of_;  // by root: the first root of its nest
  bool in_no_loop_ = false;             // whether the walk is inside a loop without iterations
  int group_ = 0;
  ValueId nest_ = no_value, piece_ = no_value;  // as in Visit, for the current point of the walk
};

}  // namespace

Result<bool> place_values(SegmentState& state) {
  state.notes.clear();
  ACCEL_TRY(state.placement, Walk(state.graph, state.notes).run(state.forced));
  state.program = {};
  state.program.dims = state.placement.dims;
  state.program.symbol_count = static_cast<int>(state.graph.symbols.size());
  state.program.output_count = static_cast<int>(state.graph.outputs().size());
  state.program.target = state.graph.target;
  state.program.records_events = state.graph.records_events;
  return true;
}

}  // namespace accel
