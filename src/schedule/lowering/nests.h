#pragma once
// Nests: the loops that compute a group of values together.

#include <vector>

#include "schedule/lowering/lowering.h"
#include "schedule/memory/placement.h"

namespace accel {

// One loop of a nest: its axis and extent. For coalesced axes: the last axis and the product of the extents.
struct NestLoop {
  int axis = 0;
  Dim extent;
};
// The loops over the targets' shape, outermost first. Axes are coalesced as far as the targets' memory and operands allow.
std::vector<NestLoop> nest_loops(const Graph& graph, const Placement& placement, DimTable& dims,
                                 const std::vector<StoreTarget>& targets);

// Writes the nest that stores the targets, all of which have the shape and axis order of the first.
Nest lower_nest(const Graph& graph, const Placement& placement, Lowering& lowering, const std::vector<StoreTarget>& targets);

// Writes the nest of an update of memory: store, put, update_at or add_row. A store's mask is already part of its value.
// nullopt when the view that is stored to has no strides.
std::optional<Nest> lower_update(const Graph& graph, const Placement& placement, Lowering& lowering, const Node& node);

// The target of a store. nullopt when the view that is stored to has no strides.
std::optional<StoreTarget> store_target(const Graph& graph, const Placement& placement, Lowering& lowering, const Node& node);

// Estimated number of element operations to compute the targets inline.
Dim nest_work(const Graph& graph, const Placement& placement, DimTable& dims, const std::vector<StoreTarget>& targets);

// Writes the nest that calls a gufunc's loop for every batch index.
Nest lower_gufunc(const Graph& graph, const Placement& placement, Lowering& lowering, const Node& node);

}  // namespace accel
