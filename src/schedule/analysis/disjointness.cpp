#include "schedule/analysis/disjointness.h"

#include <algorithm>

namespace accel {

Bounds::Bounds(const Graph& graph) : graph_(graph), dims_(graph.dims), before_(predecessors(graph)) {
  for (ValueId v : graph.entry().params)
    for (Dim d : graph.type(v).shape)
      if (auto symbol = dims_.as_symbol(d)) nonnegative_.insert(*symbol);
  for (const auto& [symbol, binding] : bound_symbols(graph))
    find_range(symbol, graph.nodes[static_cast<size_t>(binding.node)].operands[0]);
}

std::optional<Dim> Bounds::dim_of(ValueId v) {
  if (graph_.is_input(v)) return std::nullopt;
  const Node& node = graph_.producer(v);
  if (node.op == Op::constant && graph_.type(v).dtype == DType::int64) return dims_.constant(node.attrs.literal.as_int());
  if (node.op == Op::dim || node.op == Op::bind) return node.attrs.dims[0];
  bool sum = (node.op == Op::add || node.op == Op::subtract) && graph_.type(v).dtype == DType::int64;
  if (!sum || graph_.type(v).rank() > 0) return std::nullopt;
  std::optional<Dim> a = dim_of(node.operands[0]), b = dim_of(node.operands[1]);
  if (!a || !b) return std::nullopt;
  return node.op == Op::add ? dims_.add(*a, *b) : dims_.sub(*a, *b);
}

// Finds the range of a symbol bound to a loop counter: a parameter with a known start that changes by constants of one sign.
void Bounds::find_range(int symbol, ValueId v) {
  if (!graph_.is_input(v)) return;
  BlockId home = graph_.values[static_cast<size_t>(v)].block;
  if (home == 0) return;
  const std::vector<ValueId>& params = graph_.blocks[static_cast<size_t>(home)].params;
  size_t place = static_cast<size_t>(std::find(params.begin(), params.end(), v) - params.begin());
  std::optional<Dim> start;
  bool rises = false, falls = false;
  for (BlockId from : before_[static_cast<size_t>(home)]) {
    const Terminator& t = graph_.blocks[static_cast<size_t>(from)].terminator;
    for (int k = 0; k < target_count(t); ++k) {
      if (t.targets[k] != home) continue;
      ValueId given = t.target_arguments[k][place];
      const Node* node = graph_.is_input(given) ? nullptr : &graph_.producer(given);
      bool steps = node && (node->op == Op::add || node->op == Op::subtract) && node->operands[0] == v;
      std::optional<Dim> step = steps ? dim_of(node->operands[1]) : std::nullopt;
      auto number = step ? dims_.as_constant(*step) : std::nullopt;
      if (number && *number != 0) {
        (*number > 0) == (node->op == Op::add) ? rises = true : falls = true;
      } else if (!start && (start = dim_of(given))) {
        continue;
      } else {
        return;
      }
    }
  }
  if (!start || (rises && falls)) return;
  Range& range = ranges_[symbol];
  (falls ? range.highest : range.lowest) = *start;
  find_end(graph_.blocks[static_cast<size_t>(home)].terminator, v, !falls, range);
}

// Takes the other end of the range from the header's test: the loop continues while the counter is less than a known number
// (greater, when it counts down).
void Bounds::find_end(const Terminator& t, ValueId counter, bool ascending, Range& range) {
  if (t.kind != TerminatorKind::branch || graph_.is_input(t.operands[0])) return;
  const Node& test = graph_.producer(t.operands[0]);
  if (test.op != (ascending ? Op::less : Op::greater) || test.operands[0] != counter) return;
  // The test holds wherever the symbol is bound, as the other edge leaves the loop.
  std::optional<Dim> end = dim_of(test.operands[1]);
  if (!end) return;
  if (ascending)
    range.highest = dims_.sub(*end, dims_.constant(1));
  else
    range.lowest = dims_.add(*end, dims_.constant(1));
}

bool Bounds::manifest(Dim d) const {
  auto all = [&] {
    auto parts = dims_.operands(d);
    return std::all_of(parts.begin(), parts.end(), [&](Dim p) { return manifest(p); });
  };
  switch (dims_.kind(d)) {
    case DimKind::constant:
      return *dims_.as_constant(d) >= 0;
    case DimKind::symbol:
      return nonnegative_.contains(*dims_.as_symbol(d));
    case DimKind::max: {
      auto parts = dims_.operands(d);
      return std::any_of(parts.begin(), parts.end(), [&](Dim p) { return manifest(p); });
    }
    default:
      return all();
  }
}

// Substitutes a bound symbol by its lowest value plus, or highest value minus, a fresh number >= 0, until no term is negative.
bool Bounds::prove(Dim d, int budget) {
  if (manifest(d)) return true;
  if (budget == 0) return false;
  for (int symbol : dims_.symbols(d)) {
    auto found = ranges_.find(symbol);
    if (found == ranges_.end()) continue;
    Dim more = dims_.new_variable();
    nonnegative_.insert(*dims_.as_symbol(more));
    auto holds_at = [&](Dim value) { return prove(dims_.substitute(d, symbol, value), budget - 1); };
    if (found->second.lowest && holds_at(dims_.add(*found->second.lowest, more))) return true;
    if (found->second.highest && holds_at(dims_.sub(*found->second.highest, more))) return true;
  }
  return false;
}

bool Bounds::is_nonnegative(Dim d) { return prove(d, 4); }

// The interval of each axis of the base that a chain of views covers. Axes without a known interval are missing.
std::map<int, Bounds::Interval> Bounds::box(ValueId v) {
  std::vector<const Node*> chain;
  while (!graph_.is_input(v) && op_class(graph_.producer(v).op) == OpClass::view) {
    chain.push_back(&graph_.producer(v));
    v = chain.back()->operands[0];
  }
  std::map<int, Interval> out;
  std::vector<int> axes;  // per axis of the view: its axis of the base, -1 if it has none
  std::vector<Dim> firsts, steps;
  int rank = graph_.type(v).rank();
  firsts.assign(static_cast<size_t>(rank), dims_.constant(0));
  steps.assign(static_cast<size_t>(rank), dims_.constant(1));
  for (int k = 0; k < rank; ++k) axes.push_back(k);
  for (size_t link = chain.size(); link-- > 0;) {
    const Node& node = *chain[link];
    const Type& type = graph_.type(node.results[0]);
    if (node.op == Op::slice) {
      for (size_t k = 0; k < axes.size(); ++k) {
        if (axes[k] < 0) continue;
        size_t axis = static_cast<size_t>(axes[k]);
        firsts[axis] = dims_.add(firsts[axis], dims_.mul(node.attrs.dims[k], steps[axis]));
        steps[axis] = dims_.mul(steps[axis], node.attrs.steps[k]);
        Dim last = dims_.add(firsts[axis], dims_.mul(dims_.sub(type.shape[k], dims_.constant(1)), steps[axis]));
        bool forwards = dims_.as_constant(steps[axis]).value_or(0) > 0;
        out[axes[k]] = forwards ? Interval{firsts[axis], last} : Interval{last, firsts[axis]};
        if (!dims_.as_constant(steps[axis])) out.erase(axes[k]);
      }
    } else if (node.op == Op::squeeze) {
      for (size_t k = node.attrs.axes.size(); k-- > 0;) axes.erase(axes.begin() + node.attrs.axes[k]);
    } else if (node.op == Op::expand_dims) {
      for (int axis : node.attrs.axes) axes.insert(axes.begin() + axis, -1);
    } else if (node.op == Op::transpose) {
      std::vector<int> moved;
      for (int axis : node.attrs.axes) moved.push_back(axes[static_cast<size_t>(axis)]);
      axes = std::move(moved);
    } else if (node.op == Op::broadcast_to) {
      axes.insert(axes.begin(), type.shape.size() - axes.size(), -1);
    } else if (node.op == Op::parts) {
      axes.push_back(-1);
    } else if (node.op != Op::real && node.op != Op::imag) {
      break;  // the views that follow only take parts of the intervals found so far
    }
  }
  return out;
}

bool Bounds::are_apart(ValueId a, ValueId b) {
  std::map<int, Interval> boxes[] = {box(a), box(b)};
  for (const auto& [axis, mine] : boxes[0]) {
    auto other = boxes[1].find(axis);
    if (other == boxes[1].end()) continue;
    auto before = [&](const Interval& x, const Interval& y) {
      return is_nonnegative(dims_.sub(dims_.sub(y.first, x.last), dims_.constant(1)));
    };
    if (before(mine, other->second) || before(other->second, mine)) return true;
  }
  return false;
}

}  // namespace accel
