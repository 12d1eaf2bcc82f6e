#pragma once
// Groups of values in memory that one loop nest computes.

#include <vector>

#include "schedule/memory/placement.h"

namespace accel {

// Roots of one shape and order that can be computed side by side, in an order that respects what they read.
std::vector<std::vector<ValueId>> group_roots(const Graph& graph, const Placement& placement);

}  // namespace accel
