#pragma once
// The blocks of a program.

#include "base/result.h"
#include "schedule/memory/program_state.h"

namespace accel {

// Writes the blocks of a program: linked nests of their segments, calls to the caller, shared scalars, and terminators.
// Segments share scalars as temps of the program and arrays as buffers. Views, constants and fills are not shared but computed
// at each use.
Result<bool> write_blocks(ProgramState& state);

}  // namespace accel
