#pragma once
// Loops of a program for a device whose rounds compute a few numbers each.

#include "schedule/program/program.h"

namespace accel {

// Whether there is a loop of blocks with nests, all of which compute few elements, whatever the extents of arrays are. Every
// round of it starts kernels for them, or waits for them, while a CPU needs less time than that.
bool has_element_loop(const Program& program);

}  // namespace accel
