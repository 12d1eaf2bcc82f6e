#pragma once
// Placement: which values of a graph without control flow have memory.

#include <map>
#include <set>
#include <vector>

#include "ir/analysis/reduction_plan.h"
#include "ir/graph.h"
#include "schedule/analysis/place.h"

namespace accel {

struct Placement {
  DimTable dims;                          // the graph's dims, and those that the plans added
  std::map<NodeId, ReductionPlan> plans;  // for every reduce node
  std::vector<Place> places;              // per value
  std::vector<int> row_levels;            // per value: number of outer loops that its row memory is local to
  std::set<ValueId> tiled;     // inline values that are computed into a tile once, for all loops over a tile of their nest
  std::vector<ValueId> roots;  // values with memory of their own, in order of computation

  bool is_tiled(ValueId v) const { return tiled.contains(v) && places[v] == Place::inlined; }
};

// Whether the inline computation of v contains a library call or a tiled value, which need loops over tiles.
bool needs_tiles(const Graph& graph, const Placement& placement, ValueId v);

// The input or value with memory that v is a view of, or v itself if it is one; no_value otherwise.
ValueId located_base(const Graph& graph, const std::vector<Place>& places, ValueId v);
// v without the axes that expand_dims adds to it where it is computed.
ValueId under_new_axes(const Graph& graph, const std::vector<Place>& places, ValueId v);

// Whether the inline computation of v, up to reductions, calls a library loop.
bool calls_loops(const Graph& graph, const std::vector<Place>& places, ValueId v);

}  // namespace accel
