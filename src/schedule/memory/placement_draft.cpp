#include "schedule/memory/placement_draft.h"

#include "ir/analysis/above.h"
#include "ir/analysis/stray_flags.h"
#include "schedule/analysis/loop_calls.h"

namespace accel {

PlacementDraft::PlacementDraft(const Graph& whole, std::vector<std::string>& decisions) : graph(whole), notes(decisions) {
  placement.dims = graph.dims;
  placement.places.assign(graph.values.size(), Place::inlined);
  placement.row_levels.assign(graph.values.size(), 0);
}

void PlacementDraft::make_root(ValueId v, const char* why) {
  if (graph.is_input(v) || placement.places[v] == Place::root) return;
  placement.places[v] = Place::root;
  notes.push_back("value %" + std::to_string(v) + " is stored: " + why);
}

void PlacementDraft::place(ValueId v, int level, const Index& index, const char* why) {
  bool views_between = static_cast<int>(index.size()) != graph.type(v).rank();
  if (level == 0 || views_between || strided.contains(v)) return make_root(v, why);
  placement.places[v] = Place::row;
  placement.row_levels[v] = level;
  notes.push_back("value %" + std::to_string(v) + " is kept in rows: " + why);
}

ValueId PlacementDraft::computed_below(ValueId v) const {
  while (!graph.is_input(v) && op_class(graph.producer(v).op) == OpClass::view) v = graph.producer(v).operands[0];
  return v;
}

void PlacementDraft::read_with_strides(ValueId v) {
  for (; !graph.is_input(v) && op_class(graph.producer(v).op) == OpClass::view; v = graph.producer(v).operands[0])
    strided.insert(v);
}

bool PlacementDraft::may_have_events(ValueId v) const {
  return computes(v, [&](const Node& node) { return node_events(graph, node) != 0; });
}
bool PlacementDraft::may_touch_flags(ValueId v) const {
  return computes(v, [&](const Node& node) { return has_stray_flags(graph, node); });
}
bool PlacementDraft::computes(ValueId v, const std::function<bool(const Node&)>& which) const {
  return is_above(graph, v, [&](ValueId above) {
    if (graph.is_input(above) || placement.places[above] != Place::inlined) return Above::nothing;
    return which(graph.producer(above)) ? Above::found : Above::operands;
  });
}

int PlacementDraft::cost(ValueId v, int budget, bool beside_tiles) const {
  if (budget <= 0 || graph.is_input(v) || placement.places[v] != Place::inlined) return 0;
  const Node& node = graph.producer(v);
  if (op_class(node.op) != OpClass::pointwise && op_class(node.op) != OpClass::view) return 0;
  if (beside_tiles && (placement.is_tiled(v) || is_loop_call(graph, node))) return 0;
  int total = is_loop_call(graph, node)                     ? 20
              : has_property(node.op, OpProperty::division) ? 4
                                                            : op_class(node.op) == OpClass::pointwise;
  for (ValueId operand : node.operands) total += cost(operand, budget - total, beside_tiles);
  return total;
}

}  // namespace accel
