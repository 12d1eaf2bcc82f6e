// Scalar replacement: an array that is made of a few numbers only to be stored is stored number by number, and loads of its
// elements become the numbers, so it needs no memory.

#include <algorithm>
#include <map>
#include <optional>

#include "ir/edit.h"
#include "passes/passes.h"

namespace accel {

namespace {

constexpr int64_t most_elements = 16;

class JoinedNumbers {
 public:
  explicit JoinedNumbers(Graph& graph) : graph_(graph) {}

  bool run() {
    for (BlockId b = 0; b < static_cast<BlockId>(graph_.blocks.size()); ++b) {
      const std::vector<NodeId> before = std::move(block(b).nodes);
      block(b).nodes.clear();
      for (NodeId n : before)
        if (!(is_load(n) && load(n)) && !(is_store(n) && store(b, n))) block(b).nodes.push_back(n);
    }
    std::vector<ValueId> replacement = no_replacement(graph_);
    for (const auto& [from, to] : replaced_) replacement[static_cast<size_t>(from)] = to;
    if (changed_) replace_uses(graph_, replacement);
    return changed_;
  }

 private:
  using Index = std::vector<int64_t>;  // of an element, along each axis

  Block& block(BlockId b) { return graph_.blocks[static_cast<size_t>(b)]; }
  const Node& node(NodeId n) const { return graph_.nodes[static_cast<size_t>(n)]; }
  const Type& type(ValueId v) const { return graph_.type(v); }

  // --- numbers ------------------------------------------------------------------------------------------------------------

  // The number that is the element of v at this index; no_value: unknown.
  ValueId number_at(ValueId v, Index at) const {
    while (!graph_.is_input(v)) {
      const Node& own = graph_.producer(v);
      if (own.op == Op::full) return type(own.operands[0]).kind == ValueKind::array ? no_value : own.operands[0];
      std::optional<size_t> operand = source(own, at);
      if (!operand) return no_value;
      v = own.operands[*operand];
    }
    return no_value;
  }

  // The operand that the element comes from; `at` becomes its index there.
  std::optional<size_t> source(const Node& own, Index& at) const {
    if (own.op == Op::copy) return 0;
    if (own.op == Op::concatenate) return part(own, at[static_cast<size_t>(own.attrs.axes[0])]);
    if (own.op == Op::expand_dims) {
      for (auto axis = own.attrs.axes.rbegin(); axis != own.attrs.axes.rend(); ++axis) at.erase(at.begin() + *axis);
      return 0;
    }
    if (own.op == Op::squeeze) {
      for (int axis : own.attrs.axes) at.insert(at.begin() + axis, 0);
      return 0;
    }
    return own.op == Op::slice && slide(own, at) ? std::optional<size_t>(0) : std::nullopt;
  }

  std::optional<size_t> part(const Node& join, int64_t& index) const {
    for (size_t k = 0; k < join.operands.size(); ++k) {
      std::optional<int64_t> extent =
          graph_.dims.as_constant(type(join.operands[k]).shape[static_cast<size_t>(join.attrs.axes[0])]);
      if (!extent) return std::nullopt;
      if (index < *extent) return k;
      index -= *extent;
    }
    return std::nullopt;
  }

  bool slide(const Node& slice, Index& at) const {
    for (size_t axis = 0; axis < at.size(); ++axis) {
      std::optional<int64_t> start = graph_.dims.as_constant(slice.attrs.dims[axis]),
                             step = graph_.dims.as_constant(slice.attrs.steps[axis]);
      if (!start || (!step && at[axis] != 0)) return false;
      at[axis] = *start + (at[axis] != 0 ? at[axis] * *step : 0);
    }
    return true;
  }

  // --- loads --------------------------------------------------------------------------------------------------------------

  bool is_load(NodeId n) const {
    const Node& own = node(n);
    return own.op == Op::astype && type(own.operands[0]).rank() == 0 && type(own.operands[0]).kind == ValueKind::array &&
           type(own.operands[0]).dtype == type(own.results[0]).dtype && type(own.results[0]).kind != ValueKind::array;
  }

  bool load(NodeId n) {
    const ValueId number = number_at(node(n).operands[0], {});
    if (number == no_value || type(number).dtype != type(node(n).results[0]).dtype) return false;
    changed_ = true;
    if (type(number) == type(node(n).results[0])) {
      replaced_[node(n).results[0]] = number;
      return true;
    }
    graph_.nodes[static_cast<size_t>(n)].operands[0] = number;
    return false;
  }

  // --- stores -------------------------------------------------------------------------------------------------------------

  bool is_store(NodeId n) const {
    if (node(n).op != Op::store || node(n).operands.size() != 3 || type(node(n).operands[2]).rank() == 0) return false;
    ValueId v = node(n).operands[2];
    while (!graph_.is_input(v) && graph_.producer(v).op == Op::copy) v = graph_.producer(v).operands[0];
    return !graph_.is_input(v) && graph_.producer(v).op != Op::full;  // which is stored by one loop
  }

  // All indices of an array of at most most_elements elements, in C order; empty for larger arrays and for shapes that are not
  // constant.
  std::vector<Index> indices_of(const Type& array) const {
    std::vector<Index> out{{}};
    for (Dim extent : array.shape) {
      const std::optional<int64_t> count = graph_.dims.as_constant(extent);
      if (!count || *count * static_cast<int64_t>(out.size()) > most_elements) return {};
      std::vector<Index> longer;
      for (const Index& index : out)
        for (int64_t k = 0; k < *count; ++k) {
          longer.push_back(index);
          longer.back().push_back(k);
        }
      out = std::move(longer);
    }
    return out;
  }

  // Replaces the node by a chain of stores of single elements, if all that it stores are numbers.
  bool store(BlockId home, NodeId n) {
    const Node whole = node(n);
    const std::vector<Index> indices = indices_of(type(whole.operands[2]));
    std::vector<ValueId> numbers;
    for (const Index& index : indices) {
      numbers.push_back(number_at(whole.operands[2], index));
      if (numbers.back() == no_value || type(numbers.back()).dtype != type(whole.operands[1]).dtype) return false;
    }
    if (indices.empty()) return false;
    ValueId base = whole.operands[0];
    for (size_t k = 0; k < indices.size(); ++k) {
      const ValueId view =
          element(home, copy_view(graph_, home, whole.operands[1], whole.operands[0], base), indices[k], whole.where);
      base = graph_.add_node(home, Op::store, {base, view, numbers[k]}, whole.attrs, {type(whole.results[0])}, whole.where);
    }
    replaced_[whole.results[0]] = base;
    return changed_ = true;
  }

  ValueId element(BlockId home, ValueId view, const Index& index, Location where) {
    const Type own = type(view);
    Attributes slice, squeeze;
    for (size_t axis = 0; axis < index.size(); ++axis) {
      slice.dims.push_back(graph_.dims.constant(index[axis]));
      slice.steps.push_back(graph_.dims.constant(1));
      squeeze.axes.push_back(static_cast<int>(axis));
    }
    Type one = own;
    std::fill(one.shape.begin(), one.shape.end(), graph_.dims.constant(1));
    const ValueId slab = graph_.add_node(home, Op::slice, {view}, std::move(slice), {one}, where);
    return graph_.add_node(home, Op::squeeze, {slab}, std::move(squeeze), {Type{ValueKind::array, own.dtype, {}, {}}}, where);
  }

  Graph& graph_;
  std::map<ValueId, ValueId> replaced_;
  bool changed_ = false;
};

}  // namespace

bool joined_numbers(Graph& graph) { return JoinedNumbers(graph).run(); }

}  // namespace accel
