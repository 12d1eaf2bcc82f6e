#pragma once
// Neighbouring vector loops that read the same memory become one loop.

#include "base/result.h"
#include "schedule/memory/program_state.h"

namespace accel {

// Joins loops over the same extent, one right behind the other, that have nothing to do with what the other one stores: what
// both load and compute is then loaded and computed once.
Result<bool> join_loops(ProgramState& state);

}  // namespace accel
