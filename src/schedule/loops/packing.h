#pragma once
// Packing: elements that inner loops load repeatedly with gaps are copied to contiguous memory before the nest.

#include "base/result.h"
#include "schedule/memory/program_state.h"

namespace accel {

// Adds a nest of copies before each nest whose vector loops load the same strided elements in each iteration of the outermost
// loop. The values of symbols at capture decide whether it pays.
Result<bool> pack_columns(ProgramState& state);

}  // namespace accel
