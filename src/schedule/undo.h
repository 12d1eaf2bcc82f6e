#pragma once
// Where memory that Python sees has to be kept, so that a failed run can put it back.

#include "schedule/program.h"

namespace accel {

// Adds `protect` steps before stores to inputs, when something in the program may fail: as late as possible, but outside of
// loops.
void protect_inputs(Program& program, const Graph& graph);

}  // namespace accel
