#pragma once
// Mapping of nests to the threads of a device.

#include "base/result.h"
#include "schedule/memory/program_state.h"

namespace accel {

// Gives each nest its mapping. Fails with not_on_device when a statement has no form for the device.
Result<bool> map_kernels(ProgramState& state);

}  // namespace accel
