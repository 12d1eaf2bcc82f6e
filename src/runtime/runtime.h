#pragma once
// The services that a running kernel calls: what an AccelLaunch points to.

#include "codegen/kernel_abi.h"

namespace accel {

// Lives for ever.
const AccelRuntime& host_runtime();

}  // namespace accel
