#pragma once
// Products of matrices on a device.

#include "dispatch/launch/library/device_libraries.h"

namespace accel {

bool is_product(Op op);

// For every dtype: large products of cuBLAS's dtypes by it where it is installed, others by a kernel of accel's.
DeviceFunctionCall product_function(CudaDevice& device, const LoopImport& import);

}  // namespace accel
