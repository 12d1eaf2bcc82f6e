#pragma once
// Placement: which values of a graph without control flow have memory, and what follows from it.

#include <map>
#include <set>
#include <vector>

#include "ir/analysis/reduction_plan.h"
#include "ir/graph.h"
#include "schedule/analysis/place.h"

namespace accel {

struct Placement {
  DimTable dims;                          // the graph's, and what the plans added
  std::map<NodeId, ReductionPlan> plans;  // of every reduce node
  std::vector<Place> places;              // per value
  std::vector<int> row_levels;            // per value: number of outer loops that a row is local to
  std::set<ValueId> tiled;                // inline values that are computed once for all loops over a tile of their nest
  std::vector<ValueId> roots;             // in the order of their computation

  bool is_tiled(ValueId v) const { return tiled.contains(v) && places[v] == Place::inlined; }
};

// Whether the inline computation of v needs loops over tiles of its own: it calls a library loop, or something in it is tiled.
bool needs_tiles(const Graph& graph, const Placement& placement, ValueId v);

// The value that v is a view of, or v itself, if it has memory under `places` or is an input; no_value otherwise.
ValueId located_base(const Graph& graph, const std::vector<Place>& places, ValueId v);
// v, or what it is without the axes that have been added to it where it is computed.
ValueId under_new_axes(const Graph& graph, const std::vector<Place>& places, ValueId v);

// Whether the inline computation of v, up to reductions, calls a library loop.
bool calls_loops(const Graph& graph, const std::vector<Place>& places, ValueId v);

}  // namespace accel
