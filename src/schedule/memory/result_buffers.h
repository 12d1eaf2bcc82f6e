#pragma once
// Arrays that a function fills and returns are filled in the memory of the result.

#include "schedule/program/program.h"

namespace accel {

// Temps that have one memory of a known size from the start or from the first block to the end, and whose elements a return
// hands over, become that output. They stay among Program::early if they were. Requires that `program` has all steps and its
// parallel loops.
void return_temps(Program& program);

}  // namespace accel
