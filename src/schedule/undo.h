#pragma once
// Where memory that Python sees has to be kept, if the run may fail behind that place, so that it can be put back.

#include "schedule/program.h"

namespace accel {

// Adds `protect` steps before stores to inputs: as late as possible, but outside of loops.
void protect_inputs(Program& program, const Graph& graph);

}  // namespace accel
