#pragma once
// What a node costs per element.

#include "ir/graph.h"

namespace accel {

// In additions.
constexpr int division_cost = 8, library_cost = 64;
int element_cost(const Graph& graph, const Node& node);

}  // namespace accel
