#pragma once
// Fusion groups: values in memory that one loop nest computes.

#include <vector>

#include "schedule/memory/placement.h"

namespace accel {

// Groups roots of equal shape and axis order that can be computed together, in an order that respects what they read.
std::vector<std::vector<ValueId>> group_roots(const Graph& graph, const Placement& placement);

}  // namespace accel
