#pragma once
// Parallel loops: loops of blocks whose iterations are independent, so that threads may share them.

#include <vector>

#include "schedule/memory/buffer_assignment.h"

namespace accel {

// The outermost loops of `graph` that count, hand nothing on from one iteration to the next but what a side exit needs, store
// to shared memory at a place that the counter chooses, and do nothing that only the calling thread may do. Requires that
// `program` has all steps, and that the memory of `graph` is owned (copy_insertion.h). Adds dims to the program.
std::vector<ParallelLoop> parallel_loops(Graph& graph, const Places& places, Program& program);

}  // namespace accel
