#pragma once
// Loops of a program for a device whose iterations compute few elements.

#include "schedule/program/program.h"

namespace accel {

// Whether the blocks have a loop with nests, all of which compute few elements, whatever the extents of arrays are. Starting a
// kernel for each nest of an iteration, and waiting for its result, takes longer than a CPU takes to compute the elements.
bool has_element_loop(const Program& program);

}  // namespace accel
