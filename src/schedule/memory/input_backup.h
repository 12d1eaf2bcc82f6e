#pragma once
// Input backup: where memory that Python sees is saved before it is written to, so that a run that fails can restore it.

#include <set>

#include "base/result.h"
#include "schedule/memory/program_state.h"

namespace accel {

// Buffers that a step stores to.
std::set<BufferId> stored_by(const Program& program, const BlockStep& step);

// Adds `protect` steps before stores to inputs: as late as possible, but outside of loops.
Result<bool> protect_inputs(ProgramState& state);

}  // namespace accel
