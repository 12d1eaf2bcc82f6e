#pragma once
// Variants: copies of the program with small inner extents fixed, for sizes that the capturing call had.

#include "base/result.h"
#include "schedule/memory/program_state.h"

namespace accel {

// Adds to program.variants one that fixes every symbol which is the extent of an inner loop and was small (2 to 16) at capture,
// as long as the loops they unroll stay short. In a program with blocks and many nests it is nests that are copied one by one.
Result<bool> fix_small_extents(ProgramState& state);

}  // namespace accel
