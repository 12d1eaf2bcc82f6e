#pragma once
// Plane loops: each iteration fills one plane of an array whose planes lie within each other, so that every cache line belongs
// to many of them. Tile after tile of elements gets all its planes.

#include "base/result.h"
#include "schedule/memory/program_state.h"

namespace accel {

// Rewrites those of the program's parallel loops that run one nest of single elements, where an element's neighbours are
// further apart than its planes. They are no longer among the parallel loops.
Result<bool> tile_planes(ProgramState& state);

}  // namespace accel
