#pragma once
// Parallel loops: loops of blocks whose iterations are independent, so that threads may share them.

#include "base/result.h"
#include "schedule/memory/program_state.h"

namespace accel {

// Finds the outermost loops of the graph that count, hand nothing on from one iteration to the next but what a side exit needs,
// store to shared memory at a place that the counter chooses, and do nothing that only the calling thread may do. Requires that
// the program has all steps of its blocks, and that the memory of the graph is owned (copy_insertion.h).
Result<bool> share_loops(ProgramState& state);

}  // namespace accel
