#pragma once
// Axis tiling: a loop whose iterations each fill one plane of an array whose planes interleave in memory, so that a cache line
// belongs to many planes, is rewritten to fill all planes of one tile of elements after the other.

#include "base/result.h"
#include "schedule/memory/program_state.h"

namespace accel {

// Rewrites parallel loops of the program that run one nest of single elements in which consecutive planes are nearer in memory
// than consecutive elements. These loops are removed from the program's parallel loops, as their nest is parallel over tiles.
Result<bool> tile_planes(ProgramState& state);

}  // namespace accel
