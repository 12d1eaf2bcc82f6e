#pragma once
// Parallel loops of blocks: iterations that are independent, so that threads may share them.

#include "base/result.h"
#include "schedule/memory/program_state.h"

namespace accel {

// Finds the outermost counted loops that pass no values between iterations (except for side exits), store to shared memory only
// at addresses that the counter determines, and do nothing that needs the calling thread. Requires that the program has all
// steps of its blocks, and that the graph's memory is owned (copy_insertion.h).
Result<bool> share_loops(ProgramState& state);

}  // namespace accel
