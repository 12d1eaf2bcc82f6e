#pragma once
// Loops that run tile by tile (state_tiling.h), as blocks of a program.

#include "schedule/blocks/block_code.h"
#include "schedule/blocks/linker.h"
#include "schedule/memory/program_state.h"

namespace accel {

// Writes the blocks of a loop: the header runs all iterations, or a slice of them; the body asks after each slice whether the
// run is to leave for an exit that hands the state over.
void write_tiled_loop(ProgramState& state, BlockCode& code, Linker& linker, const PointwiseLoop& loop);

}  // namespace accel
