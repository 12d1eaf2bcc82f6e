#pragma once
// Neighbouring vector loops that read the same memory become one loop.

#include "schedule/program/program.h"

namespace accel {

// Joins loops over the same extent, one right behind the other, that have nothing to do with what the other one stores: what
// both load and compute is then loaded and computed once.
void join_loops(Program& program);

}  // namespace accel
