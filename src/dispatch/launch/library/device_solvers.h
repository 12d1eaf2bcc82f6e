#pragma once
// Linear equations, inverses, determinants and Cholesky factors on a device.

#include "dispatch/launch/library/device_libraries.h"

namespace accel {

bool is_solver(Op op);

// For float32, float64, complex64, complex128: large matrices by cuSOLVER where it is installed, others by kernels of accel's.
// The function waits for the device where NumPy raises for a matrix that is singular or not positive definite, and returns an
// error then, without a failure of the launch.
DeviceFunctionCall solver_function(CudaDevice& device, const LoopImport& import);

}  // namespace accel
