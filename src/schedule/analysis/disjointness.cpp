#include "schedule/analysis/disjointness.h"

#include <algorithm>

namespace accel {

namespace {

constexpr int most_products = 2;  // in one another

}  // namespace

// Whether d >= 0 wherever a block has run.
bool Disjointness::is_nonnegative(Dim d, BlockId block, int products) {
  if (integers_->prove(integers_->linear(d), block)) return true;
  if (products == 0) return false;
  const std::vector<int> symbols = dims().symbols(d);
  return std::any_of(symbols.begin(), symbols.end(),
                     [&](int symbol) { return is_nonnegative_product(d, symbol, block, products - 1); });
}

// Whether d is slope * symbol + rest with all three >= 0. Proofs about sums do not find that of products.
bool Disjointness::is_nonnegative_product(Dim d, int symbol, BlockId block, int products) {
  const std::optional<Dim> slope = dims().slope(d, symbol);
  if (!slope || dims().as_constant(*slope)) return false;
  return is_nonnegative(dims().symbol(symbol), block, 0) && is_nonnegative(*slope, block, products) &&
         is_nonnegative(dims().substitute(d, symbol, 0), block, products);
}

// The interval of each axis of the base that a chain of views covers. Axes without a known interval are missing.
std::map<int, Disjointness::Interval> Disjointness::box(ValueId v) {
  std::vector<const Node*> chain;
  while (!graph_.is_input(v) && op_class(graph_.producer(v).op) == OpClass::view) {
    chain.push_back(&graph_.producer(v));
    v = chain.back()->operands[0];
  }
  std::map<int, Interval> out;
  std::vector<int> axes;  // per axis of the view: its axis of the base, -1 if it has none
  std::vector<Dim> firsts, steps;
  int rank = graph_.type(v).rank();
  firsts.assign(static_cast<size_t>(rank), dims().constant(0));
  steps.assign(static_cast<size_t>(rank), dims().constant(1));
  for (int k = 0; k < rank; ++k) axes.push_back(k);
  for (size_t link = chain.size(); link-- > 0;) {
    const Node& node = *chain[link];
    const Type& type = graph_.type(node.results[0]);
    if (node.op == Op::slice) {
      for (size_t k = 0; k < axes.size(); ++k) {
        if (axes[k] < 0) continue;
        size_t axis = static_cast<size_t>(axes[k]);
        firsts[axis] = dims().add(firsts[axis], dims().mul(node.attrs.dims[k], steps[axis]));
        steps[axis] = dims().mul(steps[axis], node.attrs.steps[k]);
        Dim last = dims().add(firsts[axis], dims().mul(dims().sub(type.shape[k], dims().constant(1)), steps[axis]));
        bool forwards = dims().as_constant(steps[axis]).value_or(0) > 0;
        out[axes[k]] = forwards ? Interval{firsts[axis], last} : Interval{last, firsts[axis]};
        if (!dims().as_constant(steps[axis])) out.erase(axes[k]);
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

bool Disjointness::are_apart(ValueId a, ValueId b) {
  if (!integers_) integers_.emplace(graph_);
  std::map<int, Interval> boxes[] = {box(a), box(b)};
  // Both blocks have run where both views exist.
  const BlockId blocks[] = {graph_.values[static_cast<size_t>(a)].block, graph_.values[static_cast<size_t>(b)].block};
  auto is_before = [&](const Interval& x, const Interval& y) {
    const Dim gap = dims().sub(dims().sub(y.first, x.last), dims().constant(1));
    return is_nonnegative(gap, blocks[0], most_products) ||
           (blocks[1] != blocks[0] && is_nonnegative(gap, blocks[1], most_products));
  };
  return std::any_of(boxes[0].begin(), boxes[0].end(), [&](const auto& each) {
    auto other = boxes[1].find(each.first);
    return other != boxes[1].end() && (is_before(each.second, other->second) || is_before(other->second, each.second));
  });
}

}  // namespace accel
