#pragma once
// Plane loops: each iteration fills one plane of an array whose planes lie within each other, so that every cache line belongs
// to many of them. Tile after tile of elements gets all its planes.

#include <vector>

#include "schedule/program/program.h"

namespace accel {

// Rewrites those of the loops, which are parallel_loops(program), that run one nest of single elements, where an element's
// neighbours are further apart than its planes. They are no longer among `loops`. Returns their headers.
std::vector<int> run_planes_by_tiles(Program& program, std::vector<ParallelLoop>& loops);

}  // namespace accel
