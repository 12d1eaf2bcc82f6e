#pragma once
// Loop multiversioning: variants of the program with small inner extents fixed to their values at capture.

#include "base/result.h"
#include "schedule/memory/program_state.h"

namespace accel {

// Adds a variant that fixes each symbol which is the extent of an inner loop and was small (2 to 16) at capture, as long as the
// unrolled loops stay short. In a program with blocks and many nests, single nests are copied instead.
Result<bool> fix_small_extents(ProgramState& state);

}  // namespace accel
