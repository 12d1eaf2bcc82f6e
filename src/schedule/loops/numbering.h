#pragma once
// The numbers of loop variables.

#include "base/result.h"
#include "schedule/memory/program_state.h"

namespace accel {

// Numbers the variables of each nest from 0 on, in the order of their loops, so that neither texts nor kernels depend on which
// variables the steps have made.
Result<bool> number_variables(ProgramState& state);

}  // namespace accel
