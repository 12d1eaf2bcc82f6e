#pragma once
// Functions of NVIDIA's libraries in the form in which kernels call NumPy's inner loops.

#include <memory>

#include "base/result.h"
#include "codegen/kernel_abi.h"
#include "codegen/kernel_source.h"
#include "runtime/cuda/device.h"

namespace accel {

// A function, and the context that it needs.
struct DeviceFunctionCall {
  AccelImport import;
  std::shared_ptr<void> context;
};

// A function that computes a gufunc on operands in the memory of a device. Fails with not_on_device when there is none for the
// dtypes.
Result<DeviceFunctionCall> library_function(CudaDevice& device, const LoopImport& import);

}  // namespace accel
