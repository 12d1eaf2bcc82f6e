#pragma once
// Lowering of a pointwise loop (state_tiling.h) for targets without tiles: all iterations for one element after the other.

#include <vector>

#include "schedule/graph/state_tiling.h"
#include "schedule/lowering/nests.h"
#include "schedule/program/program.h"

namespace accel {

// A nest over the elements, in parallel. The state of an element is in temps during the iterations, which end early where it no
// longer changes. `loop` and `targets` are those of the graph of the loop's body: by state the value after an iteration and its
// memory. `iteration` is the variable that counts iterations from 0 to `count`.
Nest lower_iterations_of_elements(const Graph& body, const Placement& placement, Program& program, const PointwiseLoop& loop,
                                  const std::vector<StoreTarget>& targets, const std::vector<NestLoop>& loops, Dim iteration,
                                  Dim count);

}  // namespace accel
