#pragma once
// Numbers that stay on a device: the host does not read what nests alone use.

#include "base/result.h"

namespace accel {

struct ProgramState;

// Numbers in cells that only nests and exits use get memory of the device, which nests read; exits read their cells. So do
// parameters of blocks that get such numbers: a nest copies what an edge assigns. Nothing else waits for them. Requires that
// the program has all steps of its blocks.
Result<bool> keep_on_device(ProgramState& state);

}  // namespace accel
