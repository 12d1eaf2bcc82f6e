#include "schedule/memory/placement.h"

#include <functional>

#include "ir/analysis/above.h"
#include "schedule/analysis/loop_calls.h"

namespace accel {

namespace {

// Whether the inline computation of v, up to reductions, has a value for which `is_wanted` holds.
bool computes_inline(const Graph& graph, const std::vector<Place>& places, ValueId v,
                     const std::function<bool(ValueId)>& is_wanted) {
  return is_above(graph, v, [&](ValueId above) {
    if (graph.is_input(above) || places[above] != Place::inlined) return Above::nothing;
    if (op_class(graph.producer(above).op) == OpClass::reduction) return Above::nothing;
    return is_wanted(above) ? Above::found : Above::operands;
  });
}

}  // namespace

bool calls_loops(const Graph& graph, const std::vector<Place>& places, ValueId v) {
  return computes_inline(graph, places, v, [&](ValueId above) { return is_loop_call(graph, graph.producer(above)); });
}

bool needs_tiles(const Graph& graph, const Placement& placement, ValueId v) {
  return computes_inline(graph, placement.places, v, [&](ValueId above) {
    return placement.is_tiled(above) || is_loop_call(graph, graph.producer(above));
  });
}

ValueId located_base(const Graph& graph, const std::vector<Place>& places, ValueId v) {
  while (true) {
    if (graph.is_input(v) || places[v] != Place::inlined) return v;
    const Node& node = graph.producer(v);
    if (op_class(node.op) != OpClass::view) return no_value;
    v = node.operands[0];
  }
}

ValueId under_new_axes(const Graph& graph, const std::vector<Place>& places, ValueId v) {
  while (!graph.is_input(v) && places[static_cast<size_t>(v)] != Place::root && graph.producer(v).op == Op::expand_dims &&
         !graph.is_input(graph.producer(v).operands[0]))
    v = graph.producer(v).operands[0];
  return v;
}

}  // namespace accel
