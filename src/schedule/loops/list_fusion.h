#pragma once
// Fusion of a list of selected elements with the loop over it.

#include "base/result.h"
#include "schedule/memory/program_state.h"

namespace accel {

// Moves the body of a loop over a list into the list, which nothing else reads: its positions need not be stored.
Result<bool> fuse_into_lists(ProgramState& state);

}  // namespace accel
