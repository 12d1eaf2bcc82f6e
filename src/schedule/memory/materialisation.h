#pragma once
// Placement: which values get memory.

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "ir/analysis/reduction_plan.h"
#include "ir/graph.h"
#include "schedule/analysis/index_maps.h"
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

// Whether the node runs through NumPy's inner loop, a tile at a time.
bool is_loop_call(const Graph& graph, const Node& node);

// Whether the inline computation of v needs loops over tiles of its own: it calls a library loop, or something in it is tiled.
bool needs_tiles(const Graph& graph, const Placement& placement, ValueId v);

// Value behind the view ops of v that has memory under `places` (or is an input); no_value when there is none.
ValueId located_base(const Graph& graph, const std::vector<Place>& places, ValueId v);
// v, or what it is without the axes that have been added to it where it is computed.
ValueId under_new_axes(const Graph& graph, const std::vector<Place>& places, ValueId v);

// `forced`: values that are computed before what they need is overwritten.
Result<Placement> place_values(const Graph& graph, const std::set<ValueId>& forced, std::vector<std::string>* notes);

}  // namespace accel
