#pragma once
// Nests: the loops that compute a group of values.

#include <vector>

#include "schedule/lowering/lowering.h"
#include "schedule/memory/placement.h"

namespace accel {

// One loop of a nest: the axis it runs over and its extent (of several axes when they coalesce).
struct NestLoop {
  int axis = 0;
  Dim extent;
};
// The loops over the shape of the targets, outermost first: as few as their memory and what they are computed from allow.
std::vector<NestLoop> nest_loops(const Graph& graph, const Placement& placement, DimTable& dims,
                                 const std::vector<StoreTarget>& targets);

// Writes the nest that stores the targets, all of the shape and order of the first.
Nest lower_nest(const Graph& graph, const Placement& placement, Lowering& lowering, const std::vector<StoreTarget>& targets);

// Writes the nest of a store or put: values go into the memory of the base. A store's mask is already part of its value.
// nullopt when the elements of the view have no strides.
std::optional<Nest> lower_update(const Graph& graph, const Placement& placement, Lowering& lowering, const Node& node);

// Where a store goes, and the value it stores. nullopt when the elements of the view have no strides.
std::optional<StoreTarget> store_target(const Graph& graph, const Placement& placement, Lowering& lowering, const Node& node);

// Element operations that the inline computation of the targets takes.
Dim nest_work(const Graph& graph, const Placement& placement, DimTable& dims, const std::vector<StoreTarget>& targets);

// Writes the nest that calls a gufunc's loop for every batch index.
Nest lower_gufunc(const Graph& graph, const Placement& placement, Lowering& lowering, const Node& node);

}  // namespace accel
