#include "dispatch/entries/work.h"

#include <algorithm>
#include <map>
#include <set>

#include "ir/analysis/loops.h"

namespace accel {

namespace {

// Whether a bound symbol is an extent of a call's result.
bool is_given(const Graph& graph, const SymbolBinding& binding) {
  const ValueId bound = graph.nodes[static_cast<size_t>(binding.node)].operands[0];
  return !graph.is_input(bound) && graph.producer(bound).op == Op::extent;
}

}  // namespace

// Counts nodes by index space, as most graphs have one or two. All sides of branches count.
WorkEstimate::WorkEstimate(const Graph& graph) {
  is_known_ = natural_loops(graph, Dominance(graph)).empty();
  std::set<int> given;
  for (const auto& [symbol, binding] : bound_symbols(graph)) {
    is_known_ = is_known_ && is_given(graph, binding);
    given.insert(symbol);
  }
  if (!is_known_) return;
  DimTable dims = graph.dims;
  std::map<int32_t, int64_t> nodes;
  std::set<int32_t> known_then;  // ids of element counts that are at most those of a call's result
  for (const Node& node : graph.nodes) {
    if (op_class(node.op) == OpClass::view) continue;
    for (ValueId result : node.results) nodes[dims.product(graph.type(result).shape).id]++;
    if (node.op == Op::received) known_then.insert(dims.product(graph.type(node.results[0]).shape).id);
    if (op_class(node.op) == OpClass::reduction) nodes[dims.product(graph.type(node.operands[0]).shape).id]++;
  }
  for (auto [id, count] : nodes) {
    const std::vector<int> symbols = dims.symbols(Dim{id});
    const bool waits = std::any_of(symbols.begin(), symbols.end(), [&](int symbol) { return given.contains(symbol); });
    if (waits) {
      per_given_element_ += count;
      is_known_ = is_known_ && (known_then.contains(id) || dims.as_symbol(Dim{id}));
    } else {
      terms_.push_back({DimProgram(dims, Dim{id}), count});
    }
  }
}

int64_t WorkEstimate::evaluate(const int64_t* symbols) const {
  if (!is_known_) return unknown_work;
  int64_t work = 0;
  for (const Term& term : terms_) work += term.elements.evaluate(symbols) * term.nodes;
  return work;
}

}  // namespace accel
