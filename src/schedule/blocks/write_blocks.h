#pragma once
// The blocks of a program.

#include "base/result.h"
#include "schedule/memory/program_state.h"

namespace accel {

// Writes the blocks: the nests of their segments under the names of the whole program, what the caller does, the scalars that
// blocks share, and the ends. Segments share either scalars, which are temps of the program, or memory, which is in buffers.
// Views, constants and fills are not shared but computed where they are used.
Result<bool> write_blocks(ProgramState& state);

}  // namespace accel
