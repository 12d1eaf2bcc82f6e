#include "schedule/analysis/counted_loops.h"

#include <algorithm>
#include <cstdlib>

namespace accel {

namespace {

// An int value as a symbolic expression; nullopt when it is not one.
std::optional<Dim> as_dim(Graph& graph, ValueId v) {
  if (graph.is_input(v)) return std::nullopt;
  const Node& node = graph.producer(v);
  if (node.op == Op::dim || node.op == Op::bind) return node.attrs.dims[0];
  if (node.op == Op::constant && graph.type(v).dtype == DType::int64) return graph.dims.constant(node.attrs.literal.as_int());
  return std::nullopt;
}

// The constant c when v is computed as counter + c or c + counter.
std::optional<int64_t> change(const Graph& graph, ValueId v, ValueId counter) {
  if (graph.is_input(v) || graph.producer(v).op != Op::add) return std::nullopt;
  const std::vector<ValueId>& terms = graph.producer(v).operands;
  if (terms[0] != counter && terms[1] != counter) return std::nullopt;
  ValueId added = terms[terms[0] == counter ? 1 : 0];
  if (graph.is_input(added)) return std::nullopt;
  const Node& by = graph.producer(added);
  if (by.op != Op::constant || by.attrs.literal.dtype != DType::int64) return std::nullopt;
  return by.attrs.literal.as_int();
}

// The first value past the end: the bound for which `test(expression, limit)` is equivalent to the symbol not having reached
// it. Requires that the test moves towards failing as the symbol steps; nullopt otherwise.
std::optional<Dim> end_of(DimTable& dims, Op test, Dim expression, Dim limit, int symbol, int64_t step) {
  std::optional<Dim> by = dims.slope(expression, symbol);
  std::optional<int64_t> factor = by ? dims.as_constant(*by) : std::nullopt;
  if (!factor || *factor == 0 || step == 0 || ((*factor > 0) == (step > 0)) != (test == Op::less)) return std::nullopt;
  Dim distance = dims.sub(limit, dims.substitute(expression, symbol, 0));  // bound of factor * symbol
  if (*factor < 0) distance = dims.mul(distance, -1);
  Dim size = dims.constant(std::abs(*factor));
  return dims.floordiv(step > 0 ? dims.add(distance, dims.sub(size, dims.constant(1))) : distance, size);
}

}  // namespace

std::optional<int64_t> step_of(const Graph& graph, const NaturalLoop& loop, ValueId param) {
  const std::vector<ValueId>& params = graph.blocks[static_cast<size_t>(loop.header)].params;
  const size_t place = static_cast<size_t>(std::find(params.begin(), params.end(), param) - params.begin());
  std::optional<int64_t> out;
  for (BlockId latch : loop.latches) {
    const Terminator& back = graph.blocks[static_cast<size_t>(latch)].terminator;
    for (int k = 0; k < target_count(back); ++k) {
      if (back.targets[k] != loop.header) continue;
      std::optional<int64_t> step = change(graph, back.target_arguments[k][place], param);
      if (!step || (out && *step != *out)) return std::nullopt;
      out = step;
    }
  }
  return out;
}

std::optional<CountedLoop> counted_loop(Graph& graph, const NaturalLoop& loop) {
  const Block& header = graph.blocks[static_cast<size_t>(loop.header)];
  const Terminator& t = header.terminator;
  if (t.kind != TerminatorKind::branch || graph.is_input(t.operands[0])) return std::nullopt;
  if (!loop.blocks.contains(t.targets[0]) || loop.blocks.contains(t.targets[1])) return std::nullopt;
  const Node& test = graph.producer(t.operands[0]);
  if ((test.op != Op::less && test.op != Op::greater) || graph.values[static_cast<size_t>(t.operands[0])].block != loop.header)
    return std::nullopt;
  for (NodeId n : header.nodes) {
    const Node& bind = graph.nodes[static_cast<size_t>(n)];
    auto param =
        bind.op != Op::bind ? header.params.end() : std::find(header.params.begin(), header.params.end(), bind.operands[0]);
    if (param == header.params.end() || graph.type(*param).dtype != DType::int64) continue;
    CountedLoop out{
        *param, static_cast<size_t>(param - header.params.begin()), *graph.dims.as_symbol(bind.attrs.dims[0]), 0, {}};
    std::optional<int64_t> step = step_of(graph, loop, out.counter);
    std::optional<Dim> value = test.operands[0] == out.counter ? bind.attrs.dims[0] : as_dim(graph, test.operands[0]);
    std::optional<Dim> limit = as_dim(graph, test.operands[1]);
    if (!step || !value || !limit) continue;
    std::optional<Dim> end = end_of(graph.dims, test.op, *value, *limit, out.symbol, *step);
    if (!end) continue;
    out.step = *step, out.end = *end;
    return out;
  }
  return std::nullopt;
}

}  // namespace accel
