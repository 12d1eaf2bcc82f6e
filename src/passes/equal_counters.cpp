// Congruent induction variables: numbers of a loop that are equal in each iteration, such as the counters of zipped sequences,
// become one, because later passes expect loops with one counter.

#include <algorithm>
#include <optional>

#include "ir/analysis/flow.h"
#include "ir/edit.h"
#include "passes/passes.h"

namespace accel {

namespace {

class EqualCounters {
 public:
  explicit EqualCounters(Graph& graph) : graph_(graph), replacement_(no_replacement(graph)) {}

  bool run() {
    bool changed = false;
    for (BlockId b = 1; b < static_cast<BlockId>(graph_.blocks.size()); ++b) {
      bool merged = false;
      while (merge_two(b)) merged = true;
      if (merged) simplify_tests(b);
      changed |= merged;
    }
    if (changed) replace_uses(graph_, replacement_);
    return changed;
  }

 private:
  // A parameter that is bound to a symbol in its block.
  struct Counter {
    size_t position;
    NodeId bind;
    int symbol;
  };

  Block& block(BlockId b) { return graph_.blocks[static_cast<size_t>(b)]; }
  Node& node(NodeId n) { return graph_.nodes[static_cast<size_t>(n)]; }
  const Node* producer(ValueId v) const { return graph_.is_input(v) ? nullptr : &graph_.producer(v); }

  std::vector<Counter> counters_of(BlockId b) {
    std::vector<Counter> out;
    const std::vector<ValueId>& params = block(b).params;
    for (NodeId n : block(b).nodes) {
      if (node(n).op != Op::bind) continue;
      auto found = std::find(params.begin(), params.end(), node(n).operands[0]);
      std::optional<int> symbol = graph_.dims.as_symbol(node(n).attrs.dims[0]);
      if (found != params.end() && symbol) out.push_back({static_cast<size_t>(found - params.begin()), n, *symbol});
    }
    return out;
  }

  bool merge_two(BlockId b) {
    std::vector<Counter> list = counters_of(b);
    for (size_t i = 0; i < list.size(); ++i)
      for (size_t k = i + 1; k < list.size(); ++k)
        if (are_equal(b, list[i], list[k])) {
          merge(b, list[i], list[k]);
          return true;
        }
    return false;
  }

  bool are_equal(BlockId b, const Counter& first, const Counter& second) {
    const std::vector<ValueId>& params = block(b).params;
    bool alike = first.position != second.position &&
                 graph_.type(params[first.position]) == graph_.type(params[second.position]) &&
                 graph_.type(node(first.bind).results[0]) == graph_.type(node(second.bind).results[0]);
    return alike && every_edge(b, [&](const std::vector<ValueId>& arguments) {
             return gives_same(arguments[first.position], arguments[second.position], first.symbol, second.symbol);
           });
  }

  // Whether a and b are equal where the two symbols are.
  bool gives_same(ValueId a, ValueId b, int symbol, int other) {
    if (a == b) return true;
    const Node *left = producer(a), *right = producer(b);
    if (!left || !right || left->op != right->op || graph_.type(a) != graph_.type(b)) return false;
    if (left->op == Op::constant) return left->attrs == right->attrs;
    return left->op == Op::dim && left->attrs.dims[0] == renamed(right->attrs.dims[0], other, symbol);
  }

  template <class Test>
  bool every_edge(BlockId b, Test test) {
    return std::all_of(graph_.blocks.begin(), graph_.blocks.end(), [&](const Block& from) {
      for (int k = 0; k < target_count(from.terminator); ++k)
        if (from.terminator.targets[k] == b && !test(from.terminator.target_arguments[k])) return false;
      return true;
    });
  }

  Dim renamed(Dim d, int from, int to) { return graph_.dims.substitute(d, from, graph_.dims.symbol(to)); }

  void merge(BlockId b, const Counter& remaining, const Counter& gone) {
    const std::vector<ValueId>& params = block(b).params;
    replacement_[static_cast<size_t>(params[gone.position])] = params[remaining.position];
    replacement_[static_cast<size_t>(node(gone.bind).results[0])] = node(remaining.bind).results[0];
    remove_param(graph_, b, gone.position);
    std::erase(block(b).nodes, gone.bind);
    for (Node& each : graph_.nodes)
      for (auto* list : {&each.attrs.dims, &each.attrs.steps})
        for (Dim& d : *list) d = renamed(d, gone.symbol, remaining.symbol);
    for (Value& value : graph_.values)
      for (Dim& d : value.type.shape) d = renamed(d, gone.symbol, remaining.symbol);
  }

  // Merges tests of the block that have become equal.
  void simplify_tests(BlockId b) {
    std::vector<bool> returned = returned_values(graph_);
    std::vector<NodeId> remaining, before = std::move(block(b).nodes);
    for (NodeId n : before) {
      for (ValueId& v : node(n).operands)
        while (replacement_[static_cast<size_t>(v)] != v) v = replacement_[static_cast<size_t>(v)];
      if (node(n).op == Op::logical_and) join_tests(b, n, remaining);
      const Node& each = node(n);
      ValueId same = returned[static_cast<size_t>(each.results[0])] ? no_value : equal_of(each, remaining);
      if (same == no_value)
        remaining.push_back(n);
      else
        replacement_[static_cast<size_t>(each.results[0])] = same;
    }
    block(b).nodes = std::move(remaining);
  }

  // What ends a test `number < end`, as an expression.
  std::optional<Dim> end_of(ValueId test, ValueId number) const {
    const Node* less = producer(test);
    if (!less || less->op != Op::less || less->operands[0] != number) return std::nullopt;
    const Node* end = producer(less->operands[1]);
    if (!end || graph_.type(less->operands[1]).dtype != DType::int64) return std::nullopt;
    if (end->op == Op::dim) return end->attrs.dims[0];
    return end->op == Op::constant ? std::optional(graph_.dims.constant(end->attrs.literal.as_int())) : std::nullopt;
  }

  // Below two ends is below the lower one.
  void join_tests(BlockId b, NodeId n, std::vector<NodeId>& remaining) {
    const Node both = node(n);
    const Node* first = producer(both.operands[0]);
    if (!first || first->op != Op::less || graph_.type(both.operands[0]) != graph_.type(both.results[0])) return;
    ValueId number = first->operands[0], end = first->operands[1];
    std::optional<Dim> one = end_of(both.operands[0], number), other = end_of(both.operands[1], number);
    if (!one || !other || *one == *other) return;
    Attributes attrs;
    attrs.dims = {graph_.dims.min(*one, *other)};
    Type type = graph_.type(end);
    ValueId lower = graph_.add_node(b, Op::dim, {}, attrs, {type}, both.where);
    replacement_.push_back(lower);
    block(b).nodes.pop_back();
    remaining.push_back(graph_.values[static_cast<size_t>(lower)].producer);
    node(n).op = Op::less;
    node(n).operands = {number, lower};
  }

  ValueId equal_of(const Node& each, const std::vector<NodeId>& before) {
    const Type& type = graph_.type(each.results[0]);
    if (each.op == Op::logical_and && each.operands[0] == each.operands[1] && graph_.type(each.operands[0]) == type)
      return each.operands[0];
    if (each.op != Op::dim && each.op != Op::constant && each.op != Op::less && each.op != Op::logical_and) return no_value;
    if (type.rank() > 0) return no_value;
    for (NodeId n : before)
      if (node(n).op == each.op && node(n).operands == each.operands && node(n).attrs == each.attrs &&
          graph_.type(node(n).results[0]) == type)
        return node(n).results[0];
    return no_value;
  }

  Graph& graph_;
  std::vector<ValueId> replacement_;
};

}  // namespace

bool equal_counters(Graph& graph) { return graph.blocks.size() > 1 && EqualCounters(graph).run(); }

}  // namespace accel
