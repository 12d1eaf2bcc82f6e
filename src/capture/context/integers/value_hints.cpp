#include "capture/context/integers/value_hints.h"

#include <bit>
#include <cmath>

namespace accel {

namespace {

constexpr int most_levels = 12;

// The argument that the first edge into a block passes for its parameter.
ValueId first_argument(const Graph& graph, ValueId param) {
  BlockId home = graph.values[static_cast<size_t>(param)].block;
  const std::vector<ValueId>& params = graph.blocks[static_cast<size_t>(home)].params;
  for (size_t place = 0; place < params.size(); ++place) {
    if (params[place] != param) continue;
    for (const Block& block : graph.blocks)
      for (int k = 0; k < target_count(block.terminator); ++k)
        if (block.terminator.targets[k] == home) return block.terminator.target_arguments[k][place];
  }
  return no_value;
}

std::optional<double> value_of_literal(const Literal& literal) {
  char kind = dtype_kind(literal.dtype);
  if (kind == 'i' || kind == 'b') return static_cast<double>(literal.as_int());
  if (kind == 'f') return literal.as_complex().real();
  return std::nullopt;
}

std::optional<double> computed(Op op, double a, double b) {
  switch (op) {
    case Op::astype:
    case Op::positive:
    case Op::copy:
    case Op::bind:
      return a;
    case Op::trunc:
      return std::trunc(a);
    case Op::floor:
      return std::floor(a);
    case Op::ceil:
      return std::ceil(a);
    case Op::rint:
      return std::nearbyint(a);
    case Op::negative:
      return -a;
    case Op::absolute:
      return std::fabs(a);
    case Op::sqrt:
      return std::sqrt(a);
    case Op::add:
      return a + b;
    case Op::subtract:
      return a - b;
    case Op::multiply:
      return a * b;
    case Op::divide:
      return a / b;
    case Op::floor_divide:
      return std::floor(a / b);
    case Op::int_power:
    case Op::power:
      return std::pow(a, b);
    case Op::minimum:
      return std::fmin(a, b);
    case Op::maximum:
      return std::fmax(a, b);
    default:
      return std::nullopt;
  }
}

class Likely {
 public:
  explicit Likely(const Graph& graph) : graph_(graph) {}

  std::optional<double> of(ValueId v, int depth) const {
    if (v == no_value || depth == 0 || graph_.type(v).rank() > 0) return std::nullopt;
    if (graph_.is_input(v)) return of_input(v, depth);
    const Node& node = graph_.producer(v);
    if (node.op == Op::constant) return value_of_literal(node.attrs.literal);
    if (node.op == Op::dim) return static_cast<double>(graph_.dims.evaluate(node.attrs.dims[0], graph_.hints));
    if (node.operands.empty() || node.operands.size() > 2) return std::nullopt;
    std::optional<double> a = of(node.operands[0], depth - 1), b = a;
    if (a && node.operands.size() == 2) b = of(node.operands[1], depth - 1);
    return a && b ? computed(node.op, *a, *b) : std::nullopt;
  }

 private:
  std::optional<double> of_input(ValueId v, int depth) const {
    int index = graph_.input_index(v);
    if (index < 0) return of(first_argument(graph_, v), depth - 1);
    const Input& input = graph_.inputs[static_cast<size_t>(index)];
    if (input.slot < 0 || static_cast<size_t>(input.slot) >= graph_.hints.size()) return std::nullopt;
    int64_t bits = graph_.hints[static_cast<size_t>(input.slot)];
    DType dtype = graph_.type(v).dtype;
    if (dtype == DType::float64) return std::bit_cast<double>(bits);
    if (dtype == DType::int64 || dtype == DType::bool_) return static_cast<double>(bits);
    return std::nullopt;
  }

  const Graph& graph_;
};

}  // namespace

std::optional<int64_t> likely_integer(const Graph& graph, ValueId value) {
  std::optional<double> found = Likely(graph).of(value, most_levels);
  if (!found || !(std::fabs(*found) < 0x1p62)) return std::nullopt;
  return static_cast<int64_t>(*found);
}

}  // namespace accel
