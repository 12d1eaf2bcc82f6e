#pragma once
// The memory of the machine.

#include <cstdint>

namespace accel {

// Physical memory, in bytes.
int64_t physical_memory();

}  // namespace accel
