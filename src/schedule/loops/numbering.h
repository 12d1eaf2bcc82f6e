#pragma once
// Renumbering of loop variables.

#include "base/result.h"
#include "schedule/memory/program_state.h"

namespace accel {

// Numbers the variables of each nest from 0 in the order of their loops, so that texts and kernels do not depend on how many
// variables the steps have created.
Result<bool> number_variables(ProgramState& state);

}  // namespace accel
