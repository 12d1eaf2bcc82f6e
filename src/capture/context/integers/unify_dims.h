#pragma once
// Makes the graph say what the guards know: symbols that a guard relates as equal become one, and symbols that it fixes become
// constants. Other relations are noted as known.

#include "guard/guard_set.h"
#include "ir/graph.h"

namespace accel {

// Rewrites shapes, strides and attributes of `graph`. Ensures the same values for every call that passes the guards.
void unify_dims(Graph& graph, const GuardSet& guards);

}  // namespace accel
