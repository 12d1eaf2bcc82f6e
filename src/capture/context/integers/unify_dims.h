#pragma once
// Applies the guards' equalities to the graph: equal symbols become one, symbols fixed by a guard become constants.
// Inequalities are recorded in Graph::known.

#include "guard/guard_set.h"
#include "ir/graph.h"

namespace accel {

// Rewrites shapes, strides and attributes of `graph`. Ensures the same values for every call that passes the guards.
void unify_dims(Graph& graph, const GuardSet& guards);

}  // namespace accel
