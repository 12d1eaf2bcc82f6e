#include "schedule/memory/materialisation.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "ir/analysis/above.h"
#include "ir/analysis/reduction_plan.h"
#include "ir/analysis/stray_flags.h"
#include "schedule/analysis/coalesce.h"
#include "schedule/analysis/index_maps.h"
#include "schedule/analysis/loop_calls.h"
#include "schedule/memory/fusion_groups.h"

namespace accel {

namespace {

constexpr int expensive_cost = 16;
constexpr int64_t most_unrolled = 16;

// One visit of a value by the walk of a root: the index it is needed at, inside the loops of `stack`.
struct Visit {
  Index index;
  std::vector<Dim> stack;
  int group;
  ValueId nest;   // the first root of the nest that computes it
  ValueId piece;  // what a loop of its own over each tile is for: a value that is tiled or that a library loop computes
};

// Walks the inline computation of every root, as lowering will, until no value has to be moved into memory.
class Walk {
 public:
  Walk(const Graph& graph, const std::set<ValueId>& forced, std::vector<std::string>& notes)
      : graph_(graph), dims_(result_.dims), forced_(forced), notes_(notes) {
    dims_ = graph.dims;
    result_.places.assign(graph.values.size(), Place::inlined);
    result_.row_levels.assign(graph.values.size(), 0);
  }

  Result<Placement> run() {
    ACCEL_TRY([[maybe_unused]] Unit planned, plan_reductions());
    place_forced();
    for (int round = 0; pass(); ++round)
      if (round > 4 * static_cast<int>(graph_.values.size()) + 16)
        return fail(Reason::internal_error, "placement does not settle");
    return std::move(result_);
  }

 private:
  Status plan_reductions() {
    for (NodeId n : graph_.entry().nodes) {
      if (graph_.nodes[n].op != Op::reduce) continue;
      ReductionPlan plan = reduction_plan(dims_, graph_, graph_.nodes[n]);
      if (!plan.known)
        return fail(Reason::unsupported_call, "a sum whose order of additions depends on whether a reshape copies");
      result_.plans.emplace(n, std::move(plan));
    }
    return Unit{};
  }

  void make_root(ValueId v, const char* why) {
    if (graph_.is_input(v) || result_.places[v] == Place::root) return;
    result_.places[v] = Place::root;
    notes_.push_back("value %" + std::to_string(v) + " is stored: " + why);
  }

  // The value to store so that v is in memory: v itself, or what v is a view of.
  ValueId computed_below(ValueId v) const {
    while (!graph_.is_input(v) && op_class(graph_.producer(v).op) == OpClass::view) v = graph_.producer(v).operands[0];
    return v;
  }

  void place_forced() {
    for (ValueId v : graph_.outputs()) make_root(v, "result");
    for (ValueId v : forced_) make_root(v, "a store overwrites what it needs");
    std::vector<int> uses = graph_.use_counts();
    for (NodeId n : graph_.entry().nodes) {
      const Node& node = graph_.nodes[n];
      OpClass kind = op_class(node.op);
      if (node.op == Op::slice || (node.op == Op::reshape && !trivial_reshape(node)))
        make_root(computed_below(node.operands[0]), "read through a slice or reshape");
      if (kind == OpClass::gather) place_gathered(node.operands[0]);
      if (kind == OpClass::join) make_root(node.results[0], "joined");
      if (kind == OpClass::update) place_update(node);
      if (kind == OpClass::scan) {
        make_root(node.results[0], "computed one after the other");
        make_root(computed_below(node.operands[0]), "walked one after the other");
      }
      if (kind == OpClass::gufunc) {
        make_root(node.results[0], "result of a library call");
        for (ValueId operand : node.operands) {
          make_root(computed_below(operand), "operand of a library call");
          read_with_strides(operand);
          if (is_number_below(operand) || !strided_view(dims_, graph_, result_.places, operand))
            make_root(operand, "operand of a library call without strides");
        }
      }
      bool used = std::any_of(node.results.begin(), node.results.end(), [&](ValueId v) { return uses[v] > 0; });
      if (!used && node_events(graph_, node) != 0) make_root(node.results[0], "kept for its floating-point events");
    }
  }

  // Marks v and the views that it is a view of as read from memory with strides: row memory holds a part of a value only.
  void read_with_strides(ValueId v) {
    for (; !graph_.is_input(v) && op_class(graph_.producer(v).op) == OpClass::view; v = graph_.producer(v).operands[0])
      strided_.insert(v);
  }

  // Whether the value is a view of a number that the kernel is given: it is in no memory.
  bool is_number_below(ValueId v) const {
    const ValueId base = located_base(graph_, result_.places, v);
    return base != no_value && base != v && graph_.is_input(base) &&
           graph_.inputs[static_cast<size_t>(graph_.input_index(base))].slot >= 0;
  }

  void place_update(const Node& node) {
    make_root(node.results[0], "a store");
    make_root(computed_below(node.operands[0]), "stored to");
    if (node.op == Op::put || node.op == Op::update_at)
      for (size_t k = 1; k < node.operands.size(); ++k) make_root(node.operands[k], "stored at run-time indices");
  }

  // Elements at run-time indices are read from memory with strides.
  void place_gathered(ValueId base) {
    make_root(computed_below(base), "read at run-time indices");
    read_with_strides(base);
    if (!strided_view(dims_, graph_, result_.places, base)) make_root(base, "read at run-time indices");
  }

  bool trivial_reshape(const Node& node) const {
    return same_axes(graph_.dims, graph_.type(node.operands[0]), graph_.type(node.results[0])).has_value();
  }

  // False: nothing more has to be placed.
  bool pass() {
    visits_.clear();
    groups_.clear();
    find_roots();
    for (ValueId v : result_.roots)
      if (!walk_root(v)) return true;
    return place_repeated();
  }

  void find_roots() {
    result_.roots.clear();
    for (NodeId n : graph_.entry().nodes)
      for (ValueId v : graph_.nodes[n].results)
        if (result_.places[v] == Place::root) result_.roots.push_back(v);
    nest_of_.clear();
    for (const std::vector<ValueId>& group : group_roots(graph_, result_))
      for (ValueId v : group) nest_of_[v] = group[0];
  }

  bool walk_root(ValueId v) {
    const Node& node = graph_.producer(v);
    nest_ = nest_of_.at(v);
    piece_ = no_value;
    in_no_loop_ = false;
    if (op_class(node.op) == OpClass::gufunc || op_class(node.op) == OpClass::scan) return true;
    if (node.op == Op::put || node.op == Op::update_at || node.op == Op::drop_row) return true;
    if (node.op == Op::add_row) return result_.places[node.operands[1]] == Place::root || walk_over(node.operands[1]);
    if (node.op == Op::store) return result_.places[node.operands[2]] == Place::root || walk_over(node.operands[2]);
    if (op_class(node.op) == OpClass::join) {
      for (ValueId operand : node.operands)
        if (!walk_over(under_new_axes(graph_, result_.places, operand))) return false;
      return true;
    }
    return walk_over(v);
  }

  // Loops over the shape of v and visits its computation. Roots of one shape and order share their loop variables.
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

  // False: a value was placed, start again.
  bool visit(ValueId v, const Index& index, const std::vector<Dim>& stack) {
    if (graph_.is_input(v) || result_.places[v] == Place::root) return true;
    if (in_no_loop_ && !has_no_elements(graph_.type(v)) && node_events(graph_, graph_.producer(v)) != 0) {
      make_root(v, "its events happen although what it is needed for has no elements");
      return false;
    }
    for (const Visit& seen : visits_[v])
      if (seen.index == index) return !place_recomputed(v, seen);
    if (is_repeated_outside(v, index, stack)) {
      make_root(v, "costly and the same in each iteration of an outer loop");
      return false;
    }
    visits_[v].push_back({index, stack, group_, nest_, piece_});
    const ValueId piece = piece_;
    if (result_.is_tiled(v) || is_loop_call(graph_, graph_.producer(v))) piece_ = v;
    const bool settled = walk_producer(v, index, stack);
    piece_ = piece;
    return settled;
  }

  // Whether a costly value would be computed again in each iteration of a loop that it does not depend on: one outside of a
  // loop that it depends on.
  bool is_repeated_outside(ValueId v, const Index& index, const std::vector<Dim>& stack) const {
    if (result_.places[v] != Place::inlined || graph_.type(v).rank() == 0) return false;
    if (op_class(graph_.producer(v).op) != OpClass::pointwise || cost(v, 64) < expensive_cost) return false;
    const std::set<int32_t> used = variables_of(index);
    auto is_used = [&](Dim d) { return used.contains(*dims_.as_symbol(d)); };
    const auto unused = std::find_if_not(stack.begin(), stack.end(), is_used);
    return std::any_of(unused, stack.end(), is_used);
  }

  // Places what costs much and is needed by several nests, or by several loops over the tiles of one. What it is made of costs
  // less.
  bool place_recomputed(ValueId v, const Visit& seen) {
    if (op_class(graph_.producer(v).op) != OpClass::pointwise) return false;
    const bool same_nest = seen.nest == nest_;
    if (same_nest && (seen.piece == piece_ || result_.is_tiled(v) || graph_.type(v).rank() == 0)) return false;
    if (cost(v, 64, same_nest) < expensive_cost) return false;
    if (same_nest)
      result_.tiled.insert(v);
    else
      make_root(v, "costly and needed by several loops");
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

  // Number of loops that `index` depends on when these are the outermost ones of `stack`; -1 otherwise.
  int prefix_length(const Index& index, const std::vector<Dim>& stack) const {
    std::set<int32_t> used = variables_of(index);
    for (size_t k = 0; k < used.size(); ++k)
      if (k >= stack.size() || !used.count(*dims_.as_symbol(stack[k]))) return -1;
    return static_cast<int>(used.size());
  }

  bool walk_reduction(ValueId v, const Node& node, const Index& index, const std::vector<Dim>& stack) {
    int level = prefix_length(index, stack);
    if (level < 0 || (level == 0 && !stack.empty())) {
      make_root(v, "a reduction needed by other loops than its own");
      return false;
    }
    // The loops of a reduction of columns are those of its rows within tiles of columns.
    if (level < static_cast<int>(stack.size()) && is_within_columns(stack)) {
      make_root(v, "a reduction that is the same for all columns of another one");
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
      make_root(v, "columns that another reduction goes over");
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

  // What has events is computed before a reduction goes over it, so that it shows which of them had one. False: it has been
  // placed.
  bool place_apart(ValueId operand, const Index& index, int level) {
    ValueId below = computed_below(operand);
    if (!may_have_events(below) && !may_touch_flags(below)) return true;
    place(below, level, index, "events apart from those of the reduction");
    return false;
  }

  // Whether so few elements become one that the compiler unrolls their loop.
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

  // Elements that do not count are not read, so what happens when they are computed has to happen before.
  bool check_masked(ValueId reduced, ValueId operand, ValueId mask, const Index& index, int level) {
    bool runs = plan_of(reduced).pairwise && !plan_of(reduced).run_axes.empty();
    ValueId below = computed_below(operand);
    if (runs && may_have_events(below)) {
      place(below, level, index, "summed under a mask");
      return false;
    }
    return check_run(reduced, mask, index, level);
  }

  // Whether computing v where it is used may raise floating-point events.
  bool may_have_events(ValueId v) const {
    return computes(v, [&](const Node& node) { return node_events(graph_, node) != 0; });
  }
  // Whether it may raise flags that are no events.
  bool may_touch_flags(ValueId v) const {
    return computes(v, [&](const Node& node) { return has_stray_flags(graph_, node); });
  }
  bool computes(ValueId v, const std::function<bool(const Node&)>& which) const {
    return is_above(graph_, v, [&](ValueId above) {
      if (graph_.is_input(above) || result_.places[above] != Place::inlined) return Above::nothing;
      return which(graph_.producer(above)) ? Above::found : Above::operands;
    });
  }

  // A run must be computable element by element: no tile calls inside, and its axes must coalesce.
  bool check_run(ValueId reduced, ValueId operand, const Index& index, int level) {
    ValueId below = computed_below(operand);
    if (located_base(graph_, result_.places, operand) == no_value && calls_loops(graph_, result_.places, below)) {
      place(below, level, index, "summed after a library loop");
      return false;
    }
    if (graph_.producer(reduced).op != Op::reduce) return true;
    const ReductionPlan& plan = plan_of(reduced);
    bool in_order = plan.run_axes.size() < 2 || result_.places[operand] == Place::row ||
                    coalesces(dims_, graph_, result_.places, operand, plan.run_axes);
    if (in_order || graph_.is_input(operand)) return true;
    place(operand, level, index, "summed over axes that do not coalesce");
    return false;
  }

  const ReductionPlan& plan_of(ValueId v) const { return result_.plans.at(graph_.values[v].producer); }

  // Of computing an element again; `beside_tiles`: where the tiles of its nest are.
  int cost(ValueId v, int budget, bool beside_tiles = false) const {
    if (budget <= 0 || graph_.is_input(v) || result_.places[v] != Place::inlined) return 0;
    const Node& node = graph_.producer(v);
    if (op_class(node.op) != OpClass::pointwise && op_class(node.op) != OpClass::view) return 0;
    if (beside_tiles && (result_.is_tiled(v) || is_loop_call(graph_, node))) return 0;
    int total = is_loop_call(graph_, node)                     ? 20
                : node.op == Op::divide || node.op == Op::sqrt ? 4
                                                               : op_class(node.op) == OpClass::pointwise;
    for (ValueId operand : node.operands) total += cost(operand, budget - total, beside_tiles);
    return total;
  }

  // Row memory when v is needed at an index whose leading loops are the first `level` ones of its nest; a root otherwise.
  void place(ValueId v, int level, const Index& index, const char* why) {
    bool views_between = static_cast<int>(index.size()) != graph_.type(v).rank();
    if (level == 0 || views_between || strided_.contains(v)) return make_root(v, why);
    result_.places[v] = Place::row;
    result_.row_levels[v] = level;
    notes_.push_back("value %" + std::to_string(v) + " is kept in rows: " + why);
  }

  // Values that cost much and are needed at several indices get memory, consumers first.
  bool place_repeated() {
    for (ValueId v = static_cast<ValueId>(graph_.values.size()); v-- > 0;) {
      auto it = visits_.find(v);
      if (it == visits_.end() || it->second.size() < 2 || result_.places[v] != Place::inlined) continue;
      OpClass kind = op_class(graph_.producer(v).op);
      if (kind != OpClass::pointwise || cost(v, 64) < expensive_cost) continue;
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
    place(v, one_group && level > 0 ? level : 0, visits[0].index, "costly and needed more than once");
  }

  struct Group {
    int id = 0;
    std::vector<Dim> vars;
  };

  const Graph& graph_;
  Placement result_;
  DimTable& dims_;
  const std::set<ValueId>& forced_;
  std::set<ValueId> strided_;  // views that calls read as a whole
  std::vector<std::string>& notes_;
  std::map<std::vector<int32_t>, Group> groups_;
  std::map<ValueId, std::vector<Visit>> visits_;
  std::set<int> rows_of_columns_;       // variables of reductions that go along a kept axis
  std::set<int> folded_;                // variables of all reductions
  std::map<ValueId, ValueId> nest_of_;  // of roots: the first one of their nest
  bool in_no_loop_ = false;             // in loops that never run
  int group_ = 0;
  ValueId nest_ = no_value, piece_ = no_value;  // of the walk
};

}  // namespace

Result<bool> place_values(SegmentState& state) {
  state.notes.clear();
  ACCEL_TRY(state.placement, Walk(state.graph, state.forced, state.notes).run());
  state.program = {};
  state.program.dims = state.placement.dims;
  state.program.symbol_count = static_cast<int>(state.graph.symbols.size());
  state.program.output_count = static_cast<int>(state.graph.outputs().size());
  state.program.records_events = state.graph.records_events;
  return true;
}

}  // namespace accel
