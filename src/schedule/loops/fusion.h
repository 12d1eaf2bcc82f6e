#pragma once
// Loop fusion: neighbouring vector loops that read the same memory become one loop.

#include "base/result.h"
#include "schedule/memory/program_state.h"

namespace accel {

// Joins consecutive loops of equal extent that share loads and do not access what the other stores, so that common loads and
// computations are done once.
Result<bool> join_loops(ProgramState& state);

}  // namespace accel
