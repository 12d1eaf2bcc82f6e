#pragma once
// Where memory that Python sees has to be kept, if the run may fail behind that place, so that it can be put back.

#include <set>

#include "base/result.h"
#include "schedule/memory/program_state.h"

namespace accel {

// Buffers that a step stores to.
std::set<BufferId> stored_by(const Program& program, const BlockStep& step);

// Adds `protect` steps before stores to inputs: as late as possible, but outside of loops.
Result<bool> protect_inputs(ProgramState& state);

}  // namespace accel
