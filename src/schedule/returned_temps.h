#pragma once
// Arrays that a function fills and returns are filled in the memory of the result.

#include "schedule/program.h"

namespace accel {

// Temps that have one memory of a known size from start to end, and whose elements a return hands over, become that output.
// They stay among Program::early. Requires that `program` has all steps and its parallel loops.
void return_temps(Program& program);

}  // namespace accel
