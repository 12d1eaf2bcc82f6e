#include "schedule/graph/loop_order.h"

#include <algorithm>
#include <map>
#include <set>

#include "schedule/analysis/counted_loops.h"
#include "schedule/analysis/index_maps.h"
#include "schedule/graph/copy_insertion.h"

namespace accel {

namespace {

constexpr int64_t least_trips = 8;  // of a loop that may become the innermost one
constexpr int far_cost = 4;

// A loop of a nest, with a single entry edge and a single back edge.
struct Level {
  const NaturalLoop* loop = nullptr;
  CountedLoop counted;
  BlockId entry = -1, latch = -1;  // sources of the entry and back edges
  int64_t start = 0;
};

class LoopOrder {
 public:
  LoopOrder(Graph& graph, std::vector<std::string>& notes)
      : graph_(graph),
        notes_(notes),
        before_(predecessors(graph)),
        bindings_(bound_symbols(graph)),
        loops_(natural_loops(graph, Dominance(graph))) {}

  void run() {
    for (const NaturalLoop& loop : loops_) {
      bool is_innermost = std::none_of(loops_.begin(), loops_.end(), [&](const NaturalLoop& other) {
        return other.header != loop.header && loop.blocks.contains(other.header);
      });
      if (!is_innermost) continue;
      find_nest(loop);
      if (nest_.size() > 1 && has_plain_body() && keeps_bits()) permute(best_order());
    }
  }

 private:
  Block& block(BlockId b) { return graph_.blocks[static_cast<size_t>(b)]; }
  Node& node(NodeId n) { return graph_.nodes[static_cast<size_t>(n)]; }
  const NaturalLoop& body() const { return *nest_.back().loop; }

  // --- the nest -----------------------------------------------------------------------------------------------------------

  // The innermost loop and the loops around it that only run the next one, outermost first.
  void find_nest(const NaturalLoop& innermost) {
    nest_.clear();
    for (const NaturalLoop* loop = &innermost; loop != nullptr; loop = loop_around(*loop)) {
      std::optional<Level> level = level_of(*loop);
      if (!level || (!nest_.empty() && !only_runs(*level, nest_.front()))) break;
      nest_.insert(nest_.begin(), *level);
    }
    while (nest_.size() > 1 && !has_known_bounds()) nest_.erase(nest_.begin());
  }

  const NaturalLoop* loop_around(const NaturalLoop& loop) const {
    const NaturalLoop* found = nullptr;  // as outer loops come first, the last match is the innermost
    for (const NaturalLoop& each : loops_)
      if (each.header != loop.header && each.blocks.contains(loop.header)) found = &each;
    return found;
  }

  std::optional<Level> level_of(const NaturalLoop& loop) {
    std::optional<CountedLoop> counted = counted_loop(graph_, loop);
    if (!counted || loop.latches.size() != 1) return std::nullopt;
    Level out{&loop, *counted, -1, loop.latches[0], 0};
    for (BlockId from : before_[static_cast<size_t>(loop.header)]) {
      if (loop.blocks.contains(from)) continue;
      if (out.entry >= 0 || block(from).terminator.kind != TerminatorKind::jump) return std::nullopt;
      out.entry = from;
    }
    if (out.entry < 0 || block(out.latch).terminator.kind != TerminatorKind::jump) return std::nullopt;
    ValueId start = block(out.entry).terminator.target_arguments[0][counted->place];
    if (graph_.is_input(start) || graph_.producer(start).op != Op::constant) return std::nullopt;
    out.start = graph_.producer(start).attrs.literal.as_int();
    const std::vector<ValueId>& params = block(loop.header).params;
    bool carries_arrays = std::all_of(params.begin(), params.end(),
                                      [&](ValueId v) { return v == counted->counter || graph_.type(v).rank() > 0; });
    return carries_arrays && is_used_by_loop_alone(out) ? std::optional(out) : std::nullopt;
  }

  // Whether the loop's counter is not used outside the loop.
  bool is_used_by_loop_alone(const Level& level) {
    for (BlockId b = 0; b < static_cast<BlockId>(graph_.blocks.size()); ++b) {
      if (level.loop->blocks.contains(b)) continue;
      for (NodeId n : block(b).nodes)
        if (names(node(n), level.counted)) return false;
      const Terminator& t = block(b).terminator;
      for (const std::vector<ValueId>* list : {&t.operands, &t.target_arguments[0], &t.target_arguments[1]})
        if (has(*list, level.counted)) return false;
    }
    return true;
  }

  // Whether one of the values is the counter or the symbol bound to it.
  bool has(const std::vector<ValueId>& values, const CountedLoop& counted) const {
    return std::any_of(values.begin(), values.end(), [&](ValueId v) {
      bool bound =
          !graph_.is_input(v) && graph_.producer(v).op == Op::bind && graph_.producer(v).operands[0] == counted.counter;
      return v == counted.counter || bound;
    });
  }

  bool names(const Node& each, const CountedLoop& counted) const {
    auto in = [&](const std::vector<Dim>& dims) {
      return std::any_of(dims.begin(), dims.end(), [&](Dim d) { return graph_.dims.names(d, counted.symbol); });
    };
    bool in_types = std::any_of(each.results.begin(), each.results.end(), [&](ValueId v) { return in(graph_.type(v).shape); });
    return has(each.operands, counted) || in(each.attrs.dims) || in(each.attrs.steps) || in_types;
  }

  // Whether the outer loop only runs the inner one and counts, and passes arrays through unchanged.
  bool only_runs(const Level& outer, const Level& inner) {
    for (BlockId b : outer.loop->blocks) {
      if (inner.loop->blocks.contains(b)) continue;
      if (b != outer.loop->header && block(b).terminator.kind != TerminatorKind::jump) return false;
      if (!block(b).params.empty() && b != outer.loop->header) return false;
      for (NodeId n : block(b).nodes)
        if (!is_bookkeeping(node(n), outer)) return false;
    }
    if (block(inner.loop->header).terminator.target_arguments[1].size() > 0) return false;
    return passes_arrays_through(outer, inner);
  }

  bool is_bookkeeping(const Node& each, const Level& level) const {
    if (each.op == Op::constant || each.op == Op::dim || each.op == Op::bind) return true;
    bool counts = each.op == Op::add && each.operands[0] == level.counted.counter;
    bool tests = (each.op == Op::less || each.op == Op::greater) && block_of(each.results[0]) == level.loop->header;
    return counts || tests;
  }

  BlockId block_of(ValueId v) const { return graph_.values[static_cast<size_t>(v)].block; }

  bool passes_arrays_through(const Level& outer, const Level& inner) {
    const std::vector<ValueId>&around = block(outer.loop->header).params, &inside = block(inner.loop->header).params;
    const std::vector<ValueId>&in = block(inner.entry).terminator.target_arguments[0],
          &back = block(outer.latch).terminator.target_arguments[0];
    if (around.size() != inside.size()) return false;
    for (size_t k = 0; k < inside.size(); ++k) {
      if (k == inner.counted.place) continue;
      auto from = std::find(around.begin(), around.end(), in[k]);
      if (from == around.end() || back[static_cast<size_t>(from - around.begin())] != inside[k]) return false;
    }
    return true;
  }

  bool has_known_bounds() {
    return std::all_of(nest_.begin(), nest_.end(), [&](const Level& level) {
      std::vector<int> symbols = graph_.dims.symbols(level.counted.end);
      return std::none_of(symbols.begin(), symbols.end(), [&](int symbol) { return changes(symbol); });
    });
  }

  // Whether a symbol is bound inside the nest.
  bool changes(int symbol) const {
    auto bound = bindings_.find(symbol);
    return bound != bindings_.end() && nest_.front().loop->blocks.contains(bound->second.block);
  }

  // --- what an iteration does ---------------------------------------------------------------------------------------------

  // Whether the body only has scalars, views and stores of single elements, does not leave the loop, and uses nothing that
  // outer loops compute except counters.
  bool has_plain_body() {
    for (BlockId b : body().blocks) {
      if (b == body().header) continue;
      const Terminator& t = block(b).terminator;
      for (int k = 0; k < target_count(t); ++k)
        if (!body().blocks.contains(t.targets[k])) return false;
      for (ValueId v : block(b).params)
        if (graph_.type(v).rank() > 0) return false;
      for (NodeId n : block(b).nodes)
        if (!is_plain(node(n)) || !uses_own(node(n).operands) || !names_counters(node(n))) return false;
      if (b == nest_.back().latch && !keeps_memory(t)) return false;
      if (!uses_own(t.operands) || !uses_own(t.target_arguments[0]) || !uses_own(t.target_arguments[1])) return false;
    }
    return true;
  }

  // Whether each array is in the same memory before and after an iteration.
  bool keeps_memory(const Terminator& back) {
    const std::vector<ValueId>& params = block(body().header).params;
    for (size_t k = 0; k < params.size(); ++k)
      if (k != nest_.back().counted.place && memory_of(back.target_arguments[0][k]) != params[k]) return false;
    return true;
  }

  // Whether the values come from the body or from outside of the nest, or are counters, constants or arrays of the header.
  bool uses_own(const std::vector<ValueId>& values) const {
    return std::all_of(values.begin(), values.end(), [&](ValueId v) {
      BlockId home = block_of(v);
      if (!nest_.front().loop->blocks.contains(home) || (body().blocks.contains(home) && home != body().header)) return true;
      if (graph_.is_input(v)) return is_counter(v) || (home == body().header && graph_.type(v).rank() > 0);
      const Node& each = graph_.producer(v);
      if (each.op == Op::bind) return is_counter(each.operands[0]);
      std::vector<int> symbols = each.op == Op::dim ? graph_.dims.symbols(each.attrs.dims[0]) : std::vector<int>();
      return each.op == Op::constant ||
             (each.op == Op::dim && std::none_of(symbols.begin(), symbols.end(), [&](int s) { return changes(s); }));
    });
  }

  // Whether an operation's attributes depend on no symbol of the nest other than counters.
  bool names_counters(const Node& each) const {
    auto known = [&](Dim d) {
      std::vector<int> symbols = graph_.dims.symbols(d);
      return std::all_of(symbols.begin(), symbols.end(), [&](int symbol) {
        return !changes(symbol) ||
               std::any_of(nest_.begin(), nest_.end(), [&](const Level& level) { return level.counted.symbol == symbol; });
      });
    };
    return std::all_of(each.attrs.dims.begin(), each.attrs.dims.end(), known) &&
           std::all_of(each.attrs.steps.begin(), each.attrs.steps.end(), known);
  }

  bool is_counter(ValueId v) const {
    return std::any_of(nest_.begin(), nest_.end(), [&](const Level& level) { return level.counted.counter == v; });
  }

  bool is_plain(const Node& each) const {
    if (is_view(each.op)) return true;
    if (each.op == Op::store) return graph_.type(each.operands[1]).rank() == 0;
    bool is_number = op_class(each.op) == OpClass::leaf || op_class(each.op) == OpClass::pointwise;
    return is_number && each.op != Op::bind && graph_.type(each.results[0]).rank() == 0;
  }

  // The elements that the body reads or writes.
  std::vector<Element> accesses() {
    std::vector<Element> out;
    for (BlockId b : body().blocks)
      for (NodeId n : block(b).nodes) {
        const Node& each = node(n);
        if (is_view(each.op) || each.op == Op::bind) continue;
        for (size_t k = is_update(each.op) ? 1 : 0; k < each.operands.size(); ++k)
          if (Element access = element_behind_views(graph_.dims, graph_, each.operands[k], {});
              graph_.type(access.array).rank() > 0)
            out.push_back(std::move(access));
      }
    return out;
  }

  // The header's parameter that has the memory of v, a version which the body makes; no_value for memory that is only read.
  ValueId memory_of(ValueId v) {
    while (!graph_.is_input(v) && is_update(graph_.producer(v).op)) v = graph_.producer(v).operands[0];
    return body().blocks.contains(block_of(v)) ? v : no_value;
  }

  // The level whose counter alone determines an index; -1 when there is none.
  int chooser(Dim index) {
    int found = -1;
    for (size_t k = 0; k < nest_.size(); ++k) {
      if (!graph_.dims.names(index, nest_[k].counted.symbol)) continue;
      std::optional<Dim> by = graph_.dims.slope(index, nest_[k].counted.symbol);
      if (found >= 0 || !by || graph_.dims.as_constant(*by).value_or(0) == 0) return -1;
      found = static_cast<int>(k);
    }
    std::vector<int> symbols = graph_.dims.symbols(index);
    bool fixed = std::all_of(symbols.begin(), symbols.end(), [&](int symbol) {
      return (found >= 0 && symbol == nest_[static_cast<size_t>(found)].counted.symbol) || !changes(symbol);
    });
    return fixed ? found : -1;
  }

  // Whether any order of the loops gives the same bits: for each array that is written, iterations that access one element
  // differ in the counter of at most one loop, whose order is preserved.
  bool keeps_bits() {
    std::map<ValueId, std::map<size_t, Dim>> axes;  // by array: axes along which all accesses have the same index
    chosen_.clear();
    for (const Element& access : accesses()) {
      ValueId memory = memory_of(access.array);
      if (memory == no_value) continue;
      std::map<size_t, Dim> mine;
      for (size_t axis = 0; axis < access.index.size(); ++axis) mine.emplace(axis, access.index[axis]);
      auto [found, is_new] = axes.try_emplace(memory, mine);
      if (!is_new) std::erase_if(found->second, [&](const auto& axis) { return mine.at(axis.first) != axis.second; });
    }
    for (const auto& [memory, same] : axes) {
      std::set<int> choosers;
      for (const auto& [axis, index] : same) choosers.insert(chooser(index));
      choosers.erase(-1);
      if (choosers.size() + 1 < nest_.size()) return false;
      chosen_.push_back(std::move(choosers));
    }
    return true;
  }

  // Whether iterations that differ in a level's counter share no memory that is written.
  bool is_independent(size_t level) const {
    return std::all_of(chosen_.begin(), chosen_.end(),
                       [&](const auto& each) { return each.contains(static_cast<int>(level)); });
  }

  // --- the order ----------------------------------------------------------------------------------------------------------

  // The cost of making a level the innermost one: the number of accesses whose consecutive elements are not adjacent.
  int cost(size_t level) {
    int out = 0;
    for (const Element& access : accesses()) {
      const Type& type = graph_.type(access.array);
      int input = graph_.input_index(access.array);
      bool strided = input >= 0 && graph_.inputs[static_cast<size_t>(input)].layout == Layout::strided;
      std::vector<Dim> strides = strided ? graph_.inputs[static_cast<size_t>(input)].strides : dense_strides(graph_.dims, type);
      Dim offset = offset_of(graph_.dims, access.index, strides);
      if (!graph_.dims.names(offset, nest_[level].counted.symbol)) continue;
      std::optional<Dim> step = graph_.dims.slope(offset, nest_[level].counted.symbol);
      std::optional<int64_t> bytes = step ? graph_.dims.as_constant(*step) : std::nullopt;
      out += bytes && std::abs(*bytes) == item_size(type.dtype) ? 0 : far_cost;
    }
    return out;
  }

  int64_t trip_count(size_t level) {
    const CountedLoop& counted = nest_[level].counted;
    auto end = graph_.dims.known(counted.end, graph_.hints);
    return end ? (*end - nest_[level].start) / counted.step : least_trips;
  }

  std::vector<size_t> best_order() {
    size_t last = nest_.size() - 1, innermost = last;
    for (size_t k = last; k-- > 0;)
      if (trip_count(k) >= least_trips && cost(k) < cost(innermost)) innermost = k;
    std::vector<size_t> out;
    if (innermost != last)
      for (size_t k = 0; k <= last; ++k)
        if (k != innermost) out.push_back(k);
    std::stable_partition(out.begin(), out.end(), [&](size_t k) { return is_independent(k); });
    if (innermost != last) out.push_back(innermost);
    return out;
  }

  // Reorders the nest: level k becomes the former level order[k].
  void permute(const std::vector<size_t>& order) {
    if (order.empty()) return;
    const std::vector<Level> old = nest_;
    rename_in_body(old, order);
    for (const Level& level : old) block(level.latch).terminator.poll = 0;
    for (size_t k = 0; k < order.size(); ++k) count_as(old[k], old[order[k]]);
    notes_.push_back("the loop at block " + std::to_string(old[order.back()].loop->header) +
                     " runs inside of the one at block " + std::to_string(old.back().loop->header));
  }

  // Gives the loop at `place` the start, end and step of the loop `as`.
  void count_as(const Level& place, const Level& as) {
    if (place.loop->header == as.loop->header) return;
    Block& header = block(place.loop->header);
    ValueId counter = place.counted.counter;
    Type number = graph_.type(counter);
    Attributes end, start, step;
    end.dims = {as.counted.end};
    start.literal = Literal::of_int(DType::int64, as.start);
    step.literal = Literal::of_int(DType::int64, as.counted.step);
    NodeId test = graph_.values[static_cast<size_t>(header.terminator.operands[0])].producer;
    ValueId limit = graph_.add_node(place.loop->header, Op::dim, {}, end, {number}, node(test).where);
    auto& nodes = block(place.loop->header).nodes;
    std::rotate(std::find(nodes.begin(), nodes.end(), test), nodes.end() - 1, nodes.end());
    node(test).op = as.counted.step > 0 ? Op::less : Op::greater;
    node(test).operands = {counter, limit};
    ValueId first = graph_.add_node(place.entry, Op::constant, {}, start, {number}, node(test).where);
    ValueId by = graph_.add_node(place.latch, Op::constant, {}, step, {number}, node(test).where);
    ValueId next = graph_.add_node(place.latch, Op::add, {counter, by}, {}, {number}, node(test).where);
    block(place.entry).terminator.target_arguments[0][place.counted.place] = first;
    block(place.latch).terminator.target_arguments[0][place.counted.place] = next;
  }

  // Renames counters in the body: level order[k] is now counted at level k.
  void rename_in_body(const std::vector<Level>& old, const std::vector<size_t>& order) {
    std::map<ValueId, ValueId> values;
    std::map<int, Dim> symbols;
    for (size_t k = 0; k < order.size(); ++k) {
      const CountedLoop &from = old[order[k]].counted, &to = old[k].counted;
      values[from.counter] = to.counter;
      values[bind_of(old[order[k]])] = to.counter;
      symbols[from.symbol] = graph_.dims.symbol(to.symbol);
    }
    auto rename_value = [&](ValueId& v) {
      if (auto found = values.find(v); found != values.end()) v = found->second;
    };
    auto rename = [&](Dim& d) {
      d = graph_.dims.substitute(d, [&](int symbol) {
        auto found = symbols.find(symbol);
        return found == symbols.end() ? std::optional<Dim>() : found->second;
      });
    };
    for (BlockId b : old.back().loop->blocks) {
      if (b == old.back().loop->header) continue;  // the header only tests and binds its own counter
      for (NodeId n : block(b).nodes) {
        for (ValueId& v : node(n).operands) rename_value(v);
        for (auto* dims : {&node(n).attrs.dims, &node(n).attrs.steps})
          for (Dim& d : *dims) rename(d);
        for (ValueId v : node(n).results)
          for (Dim& d : graph_.values[static_cast<size_t>(v)].type.shape) rename(d);
      }
      Terminator& t = block(b).terminator;
      for (auto* list : {&t.operands, &t.target_arguments[0], &t.target_arguments[1]})
        for (ValueId& v : *list) rename_value(v);
    }
  }

  ValueId bind_of(const Level& level) {
    for (NodeId n : block(level.loop->header).nodes)
      if (node(n).op == Op::bind && node(n).operands[0] == level.counted.counter) return node(n).results[0];
    return no_value;
  }

  Graph& graph_;
  std::vector<std::string>& notes_;
  std::vector<std::vector<BlockId>> before_;
  std::map<int, SymbolBinding> bindings_;
  std::vector<NaturalLoop> loops_;
  std::vector<Level> nest_;
  std::vector<std::set<int>> chosen_;  // by array that is written: levels whose counters determine the element
};

}  // namespace

Result<bool> order_loops(GraphState& state) {
  const size_t count = state.notes.size();
  LoopOrder(state.graph, state.notes).run();
  return state.notes.size() > count;
}

}  // namespace accel
