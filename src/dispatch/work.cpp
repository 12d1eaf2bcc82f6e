#include "dispatch/work.h"

#include <map>

namespace accel {

// Nodes of one index space are counted together: most graphs have one or two index spaces.
WorkEstimate::WorkEstimate(const Graph& graph) {
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
  int64_t work = 0;
  for (const Term& term : terms_) work += term.elements.evaluate(symbols) * term.nodes;
  return work;
}

}  // namespace accel
