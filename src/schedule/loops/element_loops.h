#pragma once
// Loops of a program for a device whose rounds compute a few numbers each.

#include "schedule/program/program.h"

namespace accel {

// Whether there is a loop of blocks with nests, each of which has an amount of work that no extent of an array decides. Every
// round of it starts kernels for single elements, or waits for them, which a CPU computes in the time of a call.
bool has_element_loop(const Program& program);

}  // namespace accel
