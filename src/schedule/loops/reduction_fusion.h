#pragma once
// Fusion of a loop that computes an array with the reduction that reads the array next.

#include "base/result.h"
#include "schedule/memory/program_state.h"

namespace accel {

// Moves the statements of a loop into the reduction, which stores the elements as it computes them and reads them from temps:
// they are not loaded again, and there is a nest less to start.
Result<bool> fuse_into_reductions(ProgramState& state);

}  // namespace accel
