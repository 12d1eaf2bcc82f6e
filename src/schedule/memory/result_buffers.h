#pragma once
// Result buffers: arrays that a function fills and returns are filled in the memory of the result.

#include "base/result.h"
#include "schedule/memory/program_state.h"

namespace accel {

// Turns temps into outputs when a return receives them and they have one buffer of known size from the start, or from the first
// block, to the end. They remain in Program::early. Requires that the program has all steps of its blocks and its parallel
// loops.
Result<bool> return_temps(ProgramState& state);

}  // namespace accel
