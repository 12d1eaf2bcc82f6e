#pragma once
// Checks the invariants of program.h: ids exist, temps are computed before they are used, variables belong to open loops.

#include "base/result.h"
#include "schedule/program/program.h"

namespace accel {

// Accepts a program without blocks, or with complete blocks.
Status verify(const Program& program);

}  // namespace accel
