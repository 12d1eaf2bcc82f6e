// The sum of the squares of the deviations from a mean becomes one reduction on a device, where such sums may be in any order:
// the elements are read once, and not once more after their mean is known. Only where the mean is for nothing else.

#include <complex>
#include <optional>

#include "passes/passes.h"

namespace accel {

namespace {

class Deviations {
 public:
  explicit Deviations(Graph& graph) : graph_(graph), uses_(graph.use_counts()) {}

  bool run() {
    bool changed = false;
    for (Block& block : graph_.blocks)
      for (NodeId n : block.nodes) changed |= merge(graph_.nodes[static_cast<size_t>(n)]);
    return changed;
  }

 private:
  // The node that computes v, if it is of this op.
  const Node* producer(ValueId v, Op op) const {
    if (graph_.is_input(v) || graph_.values[static_cast<size_t>(v)].producer < 0) return nullptr;
    const Node& node = graph_.producer(v);
    return node.op == op ? &node : nullptr;
  }
  bool is_used_once(ValueId v) const { return uses_[static_cast<size_t>(v)] == 1; }

  // A plain sum of real floats.
  bool is_sum(const Node& node) const {
    return node.op == Op::reduce && node.attrs.ufunc == Op::add && node.operands.size() == 1 &&
           dtype_kind(graph_.type(node.results[0]).dtype) == 'f';
  }

  bool merge(Node& sum) {
    if (!is_sum(sum) || sum.attrs.buffered || graph_.type(sum.results[0]).dtype == DType::float16) return false;
    const std::optional<ValueId> deviations = operand_of_square(sum.operands[0]);
    const Node* difference = deviations ? producer(*deviations, Op::subtract) : nullptr;
    if (difference == nullptr || !is_mean(difference->operands[1], difference->operands[0], sum.attrs.axes)) return false;
    sum.operands[0] = difference->operands[0];
    sum.attrs.ufunc = Op::squared_deviations;
    return true;
  }

  // x, if v is x * x and nothing else uses both.
  std::optional<ValueId> operand_of_square(ValueId v) const {
    if (!is_used_once(v)) return std::nullopt;
    const Node* node = producer(v, Op::square);
    if (node == nullptr) node = producer(v, Op::multiply);
    if (node == nullptr || node->operands[0] != node->operands.back()) return std::nullopt;
    const ValueId x = node->operands[0];
    return uses_[static_cast<size_t>(x)] == static_cast<int>(node->operands.size()) ? std::optional(x) : std::nullopt;
  }

  // The node of this op that computes v, perhaps with casts and copies after it, if nothing else uses one of these values.
  const Node* sole_producer(ValueId v, Op op) const {
    for (; is_used_once(v); v = graph_.producer(v).operands[0]) {
      if (const Node* node = producer(v, op)) return node;
      if (!producer(v, Op::astype) && !producer(v, Op::copy)) break;
    }
    return nullptr;
  }
  ValueId without_cast(ValueId v) const {
    const Node* cast = producer(v, Op::astype);
    return cast ? cast->operands[0] : v;
  }

  // Whether v is the mean of x over these axes, in x's shape and computed in x's dtype, and for nothing else.
  bool is_mean(ValueId v, ValueId x, const std::vector<int>& axes) const {
    const Node* view = sole_producer(v, Op::broadcast_to);
    const Node* quotient = view ? sole_producer(view->operands[0], Op::divide) : nullptr;
    if (quotient == nullptr || !is_count(quotient->operands[1], x, axes)) return false;
    const Node* expanded = sole_producer(quotient->operands[0], Op::expand_dims);
    const Node* sum = expanded && expanded->attrs.axes == axes ? sole_producer(expanded->operands[0], Op::reduce) : nullptr;
    return sum != nullptr && is_sum(*sum) && sum->attrs.axes == axes && without_cast(sum->operands[0]) == without_cast(x) &&
           graph_.type(sum->results[0]).dtype == graph_.type(x).dtype && graph_.type(v).dtype == graph_.type(x).dtype;
  }

  // Whether v is the number of elements over which x is reduced.
  bool is_count(ValueId v, ValueId x, const std::vector<int>& axes) const {
    Dim count = graph_.dims.constant(1);
    for (int axis : axes) count = graph_.dims.mul(count, graph_.type(x).shape[static_cast<size_t>(axis)]);
    v = without_cast(v);
    if (const Node* dim = producer(v, Op::dim)) return dim->attrs.dims[0] == count;
    const Node* constant = producer(v, Op::constant);
    const std::optional<int64_t> known = graph_.dims.as_constant(count);
    return constant && known && constant->attrs.literal.as_complex() == std::complex<double>(static_cast<double>(*known));
  }

  Graph& graph_;
  std::vector<int> uses_;
};

}  // namespace

bool deviations(Graph& graph) { return graph.target.is_device() && Deviations(graph).run(); }

}  // namespace accel
