#pragma once
// Scalar demotion, for devices: numbers that the host does not need get memory of the device instead of a temp of the host.

#include "base/result.h"

namespace accel {

struct ProgramState;

// A number that a nest stores to a cell, and that only nests and exits use, gets memory of the device, from which nests load
// it; an exit loads it from the cell. So does a loop-carried number (a parameter of a block) that is assigned such a number: a
// nest copies the new value before the edge. The host waits for these numbers at exits alone. Requires that the program has all
// steps of its blocks.
Result<bool> demote_scalars(ProgramState& state);

}  // namespace accel
