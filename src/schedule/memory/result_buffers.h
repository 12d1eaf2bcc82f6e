#pragma once
// Arrays that a function fills and returns are filled in the memory of the result.

#include "base/result.h"
#include "schedule/memory/program_state.h"

namespace accel {

// Temps that have one memory of a known size from the start or from the first block to the end, and whose elements a return
// hands over, become that output. They stay among Program::early if they were. Requires that the program has all steps of its
// blocks and its parallel loops.
Result<bool> return_temps(ProgramState& state);

}  // namespace accel
