#pragma once
// Checks what program.h states: numbers that exist, temps that are computed before they are used, variables of open loops.

#include "base/result.h"
#include "schedule/program/program.h"

namespace accel {

// Passes a program that has no blocks yet, or whose blocks are complete.
Status verify(const Program& program);

}  // namespace accel
