#include "dispatch/work.h"

#include <map>

#include "ir/loops.h"

namespace accel {

// Nodes of one index space are counted together: most graphs have one or two index spaces. Of branches, all sides count.
WorkEstimate::WorkEstimate(const Graph& graph) {
  is_known_ = bound_symbols(graph).empty() && natural_loops(graph, Dominance(graph)).empty();
  if (!is_known_) return;
  DimTable dims = graph.dims;
  std::map<int32_t, int64_t> nodes;
  for (const Node& node : graph.nodes) {
    if (op_class(node.op) == OpClass::view) continue;
    for (ValueId result : node.results) nodes[dims.product(graph.type(result).shape).id]++;
    if (op_class(node.op) == OpClass::reduction) nodes[dims.product(graph.type(node.operands[0]).shape).id]++;
  }
  for (auto [id, count] : nodes) terms_.push_back({DimProgram(dims, Dim{id}), count});
}

int64_t WorkEstimate::evaluate(const int64_t* symbols) const {
  if (!is_known_) return unknown_work;
  int64_t work = 0;
  for (const Term& term : terms_) work += term.elements.evaluate(symbols) * term.nodes;
  return work;
}

}  // namespace accel
