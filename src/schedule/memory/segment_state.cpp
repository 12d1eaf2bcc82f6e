#include "schedule/memory/segment_state.h"

#include "ir/text/text.h"

namespace accel {

SegmentState::SegmentState(const Graph& whole) : graph(whole) {
  for (NodeId n : graph.entry().nodes)
    if (graph.nodes[static_cast<size_t>(n)].op == Op::store) stores.push_back(n);
  by_rows = graph.target.has_tiles() && stores.size() > 1;
}

void compute_before_stores(SegmentState& state) {
  state.by_rows = false;
  state.compute_first = state.again = true;
  state.forced.clear();
  for (NodeId n : state.stores) state.forced.insert(state.graph.nodes[static_cast<size_t>(n)].operands[2]);
}

std::string print(const SegmentState& state) {
  if (!state.program.nests.empty()) return print_program(state.program);
  std::string out = print_graph(state.graph);
  const Placement& placement = state.placement;
  for (size_t v = 0; v < placement.places.size(); ++v) {
    const std::string name = "# %" + std::to_string(v);
    if (placement.places[v] == Place::root) out += name + " has memory\n";
    if (placement.places[v] == Place::row) out += name + " is in rows, level " + std::to_string(placement.row_levels[v]) + "\n";
    if (placement.is_tiled(static_cast<ValueId>(v))) out += name + " is in tiles\n";
  }
  for (ValueId v : state.forced) out += "# %" + std::to_string(v) + " is computed before the first store\n";
  if (state.rows)
    out += "# stores go row by row, " + std::to_string(state.rows->before) + " rows before and " +
           std::to_string(state.rows->after) + " after are needed\n";
  return out;
}

}  // namespace accel
