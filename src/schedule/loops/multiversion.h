#pragma once
// Variants: copies of the program with small inner extents fixed, for sizes that the capturing call had.

#include "schedule/program/program.h"

namespace accel {

// Adds to program.variants one that fixes every symbol which is the extent of an inner loop and was small (2 to 16) at capture,
// as long as the loops they unroll stay short. In a program with blocks and many nests it is nests that are copied one by one.
void add_small_extent_variants(Program& program, const Graph& graph);

}  // namespace accel
