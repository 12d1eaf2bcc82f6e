#pragma once
// Loops that run tile by tile (state_tiling.h), as blocks of a program.

#include "schedule/blocks/block_code.h"
#include "schedule/blocks/linker.h"
#include "schedule/memory/program_state.h"

namespace accel {

// Writes the blocks of a loop. The header runs all iterations, or a slice of them; after each slice the body polls for an
// interrupt, to leave through an exit that receives the state.
void write_tiled_loop(ProgramState& state, BlockCode& code, Linker& linker, const PointwiseLoop& loop);

}  // namespace accel
